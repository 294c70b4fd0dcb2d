import type { Operation, OperationCall } from '../database/operation.ts'
import { rowCodec } from '../database/row-codec.ts'
import type { SqlDatabase } from '../database/sql-database.ts'
import type { Table } from '../database/table.ts'
import { countWaitingEvents } from '../history/stored/journal.ts'
import { Projector } from '../history/stored/projector.ts'
import type { CountedSecrets } from './key-uses.ts'
import { operations } from './operations.ts'
import type { StoreMethods } from './store.ts'
import { tables } from './tables.ts'

/** How long a reader waits until recorded events are in rows; after a burst the rest follows later. */
const READ_MS = 1_000
const CLOSE_MS = 1_000

/** The names of all operations, for callers that cannot import them. */
export const operationNames = Object.keys(operations)

/** The store without its connection. */
export interface SqlStore {
  /** Performs an operation. `sentAt` is the time of its caller in another thread. */
  perform(name: string, args: readonly unknown[], sentAt?: number): Promise<unknown>
  /** The dialect calls it before it closes the connection. */
  flush(): Promise<void>
}

export async function createSqlStore(
  dialect: Omit<SqlDatabase, 'rows'>,
  { settle, flush }: CountedSecrets,
): Promise<SqlStore> {
  const codecs = new Map(
    tables.map((table: Table) => [table, rowCodec(table, dialect.codec, dialect.secrets)]),
  )
  const rows: SqlDatabase['rows'] = (table) => {
    const codec = codecs.get(table)
    if (codec === undefined) throw new TypeError(`${table.name} is not in the list of tables`)
    return codec
  }
  const db: SqlDatabase = { ...dialect, rows }
  const journal = new Projector(db, await countWaitingEvents(db), settle)
  const known: Readonly<Record<string, Operation<never, unknown>>> = operations
  return {
    async perform(name, args, sentAt) {
      const called = known[name]
      if (called === undefined) throw new TypeError(`the store has no operation ${name}`)
      const { needs } = called
      if (needs.journal !== undefined) await journal.catchUp(needs.journal === 'soon' ? READ_MS : undefined)
      const call: OperationCall = { db, journal, sentAt: needs.timed ? sentAt : undefined }
      // `StoreMethods` types the arguments for callers.
      const result = await called.run(call, ...(args as never))
      await settle()
      return result
    },
    async flush() {
      await journal.catchUp(CLOSE_MS)
      await journal.stop()
      await flush()
    },
  }
}

/** The operations as methods that perform them. */
export function methodsOf(names: readonly string[], perform: SqlStore['perform']): StoreMethods {
  const entries = names.map((name) => [name, (...args: readonly unknown[]) => perform(name, args)])
  // The names are those of the operations, and their types follow from them.
  return Object.fromEntries(entries) as StoreMethods
}
