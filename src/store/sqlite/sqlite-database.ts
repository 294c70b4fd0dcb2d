import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Secrets } from '../../safe/secret.ts'
import type { ByHand, Db } from '../sql/database.ts'
import type { Tables } from '../sql/tables.ts'
import { appendGroupByHand } from './by-hand/append-group.ts'
import { deliveriesByHand } from './by-hand/deliveries.ts'
import { guardsByHand } from './by-hand/guards.ts'
import { tailByHand } from './by-hand/tail.ts'
import { tokensByHand } from './by-hand/tokens.ts'
import { writeGroupByHand } from './by-hand/write-group.ts'
import { sqliteCodec } from './codec.ts'
import { asStoreError } from './failure.ts'
import type { OpenDatabase } from './open-database.ts'
import type { Serial } from './serial.ts'

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
