import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Log } from '../../engine/core/sink.ts'
import type { Secrets } from '../../safe/secret.ts'
import { storedSecrets } from '../sql/key-uses.ts'
import type { ByHand, Db } from '../sql/sql-database.ts'
import { sqlStore } from '../sql/sql-store.ts'
import type { Tables } from '../sql/tables.ts'
import { createSerial, type Serial } from './mutex.ts'
import { type OpenDatabase, openDatabase } from './open-database.ts'
import { appendGroupByHand, writeGroupByHand } from './prepared/audit-writes.ts'
import { deliveriesByHand } from './prepared/delivery-claims.ts'
import { guardsByHand, tailByHand, tokensByHand } from './prepared/sqlite-statements.ts'
import { sqliteCodec } from './sqlite-dialect.ts'
import { asStoreError } from './sqlite-error.ts'
import { unmarkOpen } from './wal-marker.ts'
import type { Remote, WorkerStart } from './worker-protocol.ts'

/** One transaction at a time, whoever asks; failures leave as coded errors. */
function systemOf(kysely: Kysely<Tables>, serial: Serial): Db['system'] {
  return (work) =>
    serial.run(async () => {
      try {
        return await kysely.transaction().execute(work)
      } catch (error) {
        throw asStoreError(error)
      }
    })
}

export async function sqliteDb(
  { database, kysely, serial }: OpenDatabase & { readonly serial: Serial },
  openSecrets: (system: Db['system']) => Promise<Secrets>,
): Promise<Db> {
  const system = systemOf(kysely, serial)
  const secrets = await openSecrets(system)
  return {
    dialect: 'sqlite',
    codec: sqliteCodec,
    secrets,
    byHand: byHand(database, secrets, serial),
    // Statements name their tenant; SQLite has no second lock.
    tenant: (_tenant, work) => system(work),
    system,
  }
}

function byHand(database: DatabaseSync, secrets: Secrets, serial: Serial): ByHand {
  const now = async <T>(work: () => T): Promise<T> => {
    try {
      return await serial.runNow(work)
    } catch (error) {
      throw asStoreError(error)
    }
  }
  const appendGroup = appendGroupByHand(database)
  const writeGroup = writeGroupByHand(database)
  const deliveries = deliveriesByHand(database, secrets)
  const takeGuards = guardsByHand(database)
  const findToken = tokensByHand(database)
  const tail = tailByHand(database)
  return {
    appendGroup: (group) => now(() => appendGroup(group)),
    writeGroup: (group) => now(() => writeGroup(group)),
    claimDeliveries: (claim) => now(() => deliveries.claim(claim)),
    endDeliveries: (ends, at) => now(() => deliveries.end(ends, at)),
    takeGuards: (tenant, requests, at) => now(() => takeGuards(tenant, requests, at)),
    findToken: (hash) => now(() => findToken(hash)),
    tail: (tenant, cursor, limit) => now(() => tail(tenant, cursor, limit)),
  }
}

/** The store as the worker has it. */
export async function openRemote({ file, keyring }: WorkerStart, log: Log): Promise<Remote> {
  const { database, kysely } = await openDatabase(file)
  const serial = createSerial()
  const db = await sqliteDb({ database, kysely, serial }, (system) => storedSecrets(system, keyring, log))
  const { flush, ...methods } = await sqlStore(db)
  const ask = database.prepare('select 1')
  return {
    ...methods,
    async ping() {
      ask.get()
    },
    async close() {
      // What cannot be written now is only a count; the log keeps everything else.
      await flush().catch(() => {})
      // Behind whatever is under way.
      await serial.runNow(() => {
        unmarkOpen(file)
        database.close()
      })
    },
  }
}
