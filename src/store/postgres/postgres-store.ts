import { type ConnectionPool, openPool, urlForRole } from '../../database/postgres/connection-pool.ts'
import { postgresCodec, queryBuilderOn } from '../../database/postgres/postgres-dialect.ts'
import { retryOnConflict } from '../../database/postgres/postgres-error.ts'
import type { SqlDatabase } from '../../database/sql-database.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { Keyring, Secrets } from '../../safe/secrets/secret.ts'
import { loadSecrets } from '../key-uses.ts'
import { createSqlStore, methodsOf, operationNames } from '../sql-store.ts'
import type { Store } from '../store.ts'
import { Hints } from './hints.ts'
import { postgresStatements } from './postgres-statements.ts'
import { prepareDatabase } from './prepare-database.ts'
import { checkConnectionRole } from './roles.ts'
import { openSystemPool } from './system-role.ts'

const POOL_SIZE = 10

export interface PostgresOptions {
  /** Logs in as the owner of the database. Only migrations act as the owner. */
  readonly url: string
  readonly keyring: Keyring
  readonly edition: Edition
  readonly log?: Log
  /** The size of each of the two pools: one for single tenants, one across tenants. */
  readonly poolSize?: number
}

/** After a restore into a new cluster, stamps are higher than its transaction ids, and would count as changed for ever. */
async function renewStamps(system: ConnectionPool): Promise<void> {
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
  const app = openPool(urlForRole(url, roles.app), poolSize, log)
  const system = openSystemPool(url, roles, poolSize, log)
  const closePools = async () => {
    await Promise.all([app.close(), system.close()])
  }
  try {
    for (const pool of [app, system]) {
      await pool.transaction('begin read only', (client) => checkConnectionRole(client, edition, log))
    }
    await renewStamps(system)
    const counted = await loadSecrets(crossTenant(system), keyring, log)
    const database = createPostgresDatabase({ app, system }, counted.secrets)
    const { perform, flush } = await createSqlStore(database, counted)
    let closed = false
    const hints = new Hints(urlForRole(url, roles.app), log)
    return {
      ...methodsOf(operationNames, perform),
      dialect: 'postgres',
      // Both pools, because each has its own connections.
      ping: async () => {
        await Promise.all([app.query({ text: 'select 1' }), system.query({ text: 'select 1' })])
      },
      onHint: hints.on,
      onRunHint: hints.onRun,
      onApprovalHint: hints.onApproval,
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

function createPostgresDatabase(
  pools: { app: ConnectionPool; system: ConnectionPool },
  secrets: Secrets,
): Omit<SqlDatabase, 'rows'> {
  return {
    dialect: 'postgres',
    codec: postgresCodec,
    secrets,
    statements: postgresStatements(pools, secrets),
    tenant: (tenantId, work) =>
      retryOnConflict(() => pools.app.tenantTransaction(tenantId, (client) => work(queryBuilderOn(client)))),
    system: crossTenant(pools.system),
    reading: crossTenant(pools.system),
  }
}

/** Repeatable read: all statements of a transaction see the same snapshot, as on SQLite. */
function crossTenant(pool: ConnectionPool): SqlDatabase['system'] {
  return (work) =>
    retryOnConflict(() =>
      pool.transaction('begin isolation level repeatable read', (client) => work(queryBuilderOn(client))),
    )
}
