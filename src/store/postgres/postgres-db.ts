import type { Secrets } from '../../safe/secret.ts'
import type { ByHand, Db } from '../sql/database.ts'
import { queryOn } from './client-dialect.ts'
import { codec } from './codec.ts'
import { insist } from './insist.ts'
import type { Pool } from './pool.ts'

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
