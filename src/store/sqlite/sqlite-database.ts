import type { Kysely } from 'kysely'
import type { SqlDatabase } from '../../database/sql-database.ts'
import { createMutex, type Mutex } from '../../database/sqlite/mutex.ts'
import { sqliteCodec } from '../../database/sqlite/sqlite-dialect.ts'
import { sqliteStoreError } from '../../database/sqlite/sqlite-error.ts'
import { waitWhileBusy } from '../../database/sqlite/wait-while-busy.ts'
import { removeWalMarker } from '../../database/sqlite/wal-marker.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { loadSecrets } from '../key-uses.ts'
import type { Tables } from '../kysely-tables.ts'
import { createSqlStore, type SqlStore } from '../sql-store.ts'
import { openDatabase } from './open-database.ts'
import { prepareStatements } from './sqlite-statements.ts'
import type { WorkerStart } from './worker-protocol.ts'

/** What the worker performs: the operations, `ping` and `close`. */
export type WorkerStore = Pick<SqlStore, 'perform'>

/** Opens the store inside the worker thread. */
export async function openWorkerStore({ file, keyring }: WorkerStart, log: Log): Promise<WorkerStore> {
  const { database, kysely } = await openDatabase(file)
  const mutex = createMutex()
  const system = lockedTransactions(kysely, mutex)
  const counted = await loadSecrets(system, keyring, log)
  const { secrets } = counted
  const { perform, flush } = await createSqlStore(
    {
      dialect: 'sqlite',
      codec: sqliteCodec,
      secrets,
      statements: prepareStatements(database, secrets, mutex),
      // Statements filter by tenant; SQLite has no row-level security.
      tenant: (_tenant, work) => system(work),
      system,
      reading: (work) =>
        mutex
          .run(() => kysely.transaction().setAccessMode('read only').execute(work))
          .catch((error: unknown) => {
            throw sqliteStoreError(error)
          }),
    },
    counted,
  )
  const ping = database.prepare('select 1')
  const close = async () => {
    // A failure here loses only counts of key uses; the journal keeps the rest.
    await flush().catch(() => {})
    // Waits for the current transaction.
    await mutex.runSync(() => {
      removeWalMarker(file)
      database.close()
    })
  }
  return {
    async perform(name, args, sentAt) {
      if (name === 'close') return close()
      if (name === 'ping') return void ping.get()
      return perform(name, args, sentAt)
    },
  }
}

function lockedTransactions(kysely: Kysely<Tables>, mutex: Mutex): SqlDatabase['system'] {
  return async (work) => {
    try {
      // Only `begin immediate` fails because of a lock, before the work.
      return await waitWhileBusy(() => mutex.run(() => kysely.transaction().execute(work)))
    } catch (error) {
      throw sqliteStoreError(error)
    }
  }
}
