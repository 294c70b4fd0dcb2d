import { MASTER_TENANT, roles, type TenantStore, type TokenRow } from '../stores/tenant-store.ts'
import { removeTenantAudit } from './audit/remove-audit.ts'
import { isUuid, readUnion } from './column-values.ts'
import { bumpDefinitionVersions } from './hook-queries.ts'
import type { QueryBuilder, SqlDatabase } from './sql-database.ts'

/** Tables without a foreign key to `tenants`, from which deleting a tenant would not cascade. */
const uncascadedTables = [
  'sessions',
  'session_folders',
  'session_lanes',
  'events',
  'event_summaries',
  'decision_minutes',
  'decision_hours',
  'event_hours',
  'hook_hours',
  'idempotency',
  'guard_state',
  'deliveries',
  'tenant_hook_budget',
] as const

export function tenantQueries(db: SqlDatabase): TenantStore {
  return {
    createTenant: (tenant) =>
      db.system(async (trx) => {
        const { id, name, created_at } = tenant
        await trx.insertInto('tenants').values({ id, name, created_at }).execute()
      }),

    listTenants: ({ after, limit }) =>
      db.system((trx) =>
        trx
          .selectFrom('tenants')
          .selectAll()
          .where('id', '<>', MASTER_TENANT)
          .$if(after !== undefined && isUuid(after), (query) => query.where('id', '>', after ?? ''))
          .orderBy('id')
          .limit(limit)
          .execute(),
      ),

    findTenant: (idOrName) =>
      db.system((trx) =>
        trx
          .selectFrom('tenants')
          .selectAll()
          .where(isUuid(idOrName) ? 'id' : 'name', '=', idOrName)
          .executeTakeFirst(),
      ),

    async deleteTenant(id) {
      if (!isUuid(id) || id === MASTER_TENANT) return false
      if (!(await db.system((trx) => removeTenant(trx, db, id)))) return false
      await removeTenantAudit(db, id)
      return true
    },

    createToken: (token) =>
      db.tenant(token.tenant_id, async (trx) => {
        const { id, tenant_id, name, role, agent_id, hash, created_at, expires_at } = token
        await trx
          .insertInto('tokens')
          .values({ id, tenant_id, name, role, agent_id, hash, created_at, expires_at })
          .execute()
      }),

    findToken: (hash) => db.statements.findToken(hash),

    listTokens: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('tokens')
          .select(['id', 'tenant_id', 'name', 'role', 'agent_id', 'created_at', 'expires_at'])
          .where('tenant_id', '=', tenant)
          .orderBy('created_at')
          .orderBy('id')
          .execute()
        return rows.map((row): TokenRow => ({ ...row, role: readUnion(roles, row.role) }))
      }),

    deleteToken: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const deleted = await trx
          .deleteFrom('tokens')
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst()
        return deleted !== undefined
      }),
  }
}

async function removeTenant(trx: QueryBuilder, { codec }: SqlDatabase, id: string): Promise<boolean> {
  const deleted = await trx.deleteFrom('tenants').where('id', '=', id).returning('id').executeTakeFirst()
  if (deleted === undefined) return false
  for (const table of uncascadedTables) await trx.deleteFrom(table).where('tenant_id', '=', id).execute()
  await bumpDefinitionVersions(trx, codec, [id])
  return true
}
