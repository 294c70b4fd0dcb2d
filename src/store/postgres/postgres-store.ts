import type { Edition } from '../../engine/core/edition.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Keyring, Secrets } from '../../safe/secret.ts'
import { storedSecrets } from '../sql/key-uses.ts'
import type { ByHand, Db } from '../sql/sql-database.ts'
import { sqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import { asRole, openPool, type Pool } from './connection-pool.ts'
import { listenForHints } from './hints.ts'
import { codec, queryOn } from './postgres-dialect.ts'
import { insist } from './postgres-error.ts'
import { byHand } from './postgres-statements.ts'
import { prepareDatabase } from './prepare-database.ts'
import { refuseRole } from './roles.ts'
import { definitionChanges } from './snapshot-cursors.ts'
import { openSystemPool } from './system-role.ts'

const POOL_SIZE = 10

export interface PostgresOptions {
  /** Of a role that owns the database; nothing but migrations uses it as that role. */
  readonly url: string
  readonly keyring: Keyring
  readonly edition: Edition
  readonly log?: Log
  /** Connections at most, for the work of tenants and for the work across tenants each. */
  readonly poolSize?: number
}

/** After a restore into a new cluster the stamps lie ahead of its transactions, and all would count as changed for ever. */
async function renewStamps(system: Pool): Promise<void> {
  const ahead =
    'from definition_versions where stamp >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint'
  const { rows } = await system.query({ text: `select exists (select ${ahead}) as any` })
  if (!rows[0].any) return
  const tenants = `(select tenant_id ${ahead})`
  await system.query({
    text: `update definition_versions set stamp = pg_current_xact_id()::text::bigint where tenant_id in ${tenants}`,
  })
}

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, keyring, edition, log = () => {}, poolSize = POOL_SIZE } = options
  const roles = await prepareDatabase({ url, edition, log })
  const app = openPool(asRole(url, roles.app), poolSize, log)
  const system = openSystemPool(url, roles, poolSize, log)
  const closePools = async () => {
    await Promise.all([app.close(), system.close()])
  }
  try {
    for (const pool of [app, system]) {
      await pool.transaction('begin read only', (client) => refuseRole(client, edition, log))
    }
    await renewStamps(system)
    const secrets = await storedSecrets(crossTenant(system), keyring, log)
    const { flush, ...store } = await sqlStore(
      postgresDb({ app, system }, secrets, byHand({ app, system }, secrets)),
    )
    let closed = false
    const hints = listenForHints(asRole(url, roles.app), log)
    return {
      ...store,
      dialect: 'postgres',
      definitionChanges: definitionChanges(system),
      // Both roles, since each has connections of its own.
      ping: async () => {
        await Promise.all([app.query({ text: 'select 1' }), system.query({ text: 'select 1' })])
      },
      onHint: hints.on,
      async close() {
        if (closed) return
        closed = true
        await hints.close()
        await flush().catch((error: unknown) => log('store.flush_failed', { why: String(error) }))
        await closePools()
      },
    }
  } catch (error) {
    await closePools()
    throw error
  }
}

/** The two pools as what the common methods are written against. */
export function postgresDb(pools: { app: Pool; system: Pool }, secrets: Secrets, byHand: ByHand): Db {
  return {
    dialect: 'postgres',
    codec,
    secrets,
    byHand,
    tenant: (tenantId, work) =>
      insist(() => pools.app.tenantTransaction(tenantId, (client) => work(queryOn(client)))),
    system: crossTenant(pools.system),
  }
}

/** What the statements of one transaction read belongs to one moment, as on SQLite. */
export function crossTenant(pool: Pool): Db['system'] {
  return (work) =>
    insist(() => pool.transaction('begin isolation level repeatable read', (client) => work(queryOn(client))))
}
