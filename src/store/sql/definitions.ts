import { sql } from 'kysely'
import type { HookStore } from '../stores/hook-store.ts'
import { MASTER_TENANT } from '../stores/tenant-store.ts'
import type { Db, Query } from './database.ts'
import { bumpVersions } from './definition-version.ts'
import { selectHooks } from './hooks.ts'
import { isUuid } from './uuid.ts'

type Definitions = Pick<
  HookStore,
  'tripHook' | 'loadDefinitions' | 'definitionChanges' | 'disableHandlerTypes'
>

/** What every node has to know of the definitions. */
export function definitions(db: Db): Definitions {
  const { codec } = db
  return {
    tripHook: (tenant, id, now) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const tripped = (await switchOff(trx, db, tenant, id, now)) || (await trip(trx, db, tenant, id, now))
        if (tripped) await bumpVersions(trx, codec, [tenant])
        return tripped
      }),

    loadDefinitions: (tenant) =>
      db.system(async (trx) => {
        // The version first: a change in between is then seen again, never missed.
        const version = await trx
          .selectFrom('definition_versions')
          .select('version')
          .where('tenant_id', '=', tenant)
          .executeTakeFirst()
        const hooks = await selectHooks(trx, codec, [tenant])
        const trips = await trx
          .selectFrom('hook_trips')
          .select('hook_id')
          .where('tenant_id', '=', tenant)
          .execute()
        return { version: version?.version ?? 0, hooks, tripped: trips.map((row) => row.hook_id) }
      }),

    definitionChanges: (cursor) =>
      db.system(async (trx) => {
        // Asked before the rows are read: what is stamped below it can be seen by the next statement.
        const { rows } = await sql<{ horizon: number }>`select ${codec.horizon} as horizon`.execute(trx)
        const next = String(rows[0]?.horizon ?? 0)
        if (cursor === undefined) return { cursor: next, changed: [] }
        const changed = await trx
          .selectFrom('definition_versions')
          .select(['tenant_id as tenant', 'version'])
          .where('stamp', '>=', Number(cursor))
          .execute()
        return { cursor: next, changed }
      }),

    disableHandlerTypes: (types, reason, now) =>
      db.system(async (trx) => {
        if (types.length === 0) return 0
        const rows = await trx
          .updateTable('agent_hooks')
          .set((eb) => ({
            enabled: codec.flag(false),
            disabled_reason: reason,
            version: eb('version', '+', 1),
            updated_at: now,
          }))
          .where('handler_type', 'in', types)
          .where('source', '<>', 'builtin')
          .where('enabled', '=', codec.flag(true))
          .returning('tenant_id')
          .execute()
        await bumpVersions(
          trx,
          codec,
          rows.map((row) => row.tenant_id),
        )
        return rows.length
      }),
  }
}

async function switchOff(trx: Query, { codec }: Db, tenant: string, id: string, now: number) {
  const row = await trx
    .updateTable('agent_hooks')
    .set((eb) => ({
      enabled: codec.flag(false),
      disabled_reason: 'breaker',
      version: eb('version', '+', 1),
      updated_at: now,
    }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('enabled', '=', codec.flag(true))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

async function trip(trx: Query, { codec }: Db, tenant: string, id: string, now: number) {
  if (tenant === MASTER_TENANT) return false
  const global = await trx
    .selectFrom('agent_hooks')
    .select('id')
    .where('tenant_id', '=', MASTER_TENANT)
    .where('id', '=', id)
    .where('enabled', '=', codec.flag(true))
    .executeTakeFirst()
  if (global === undefined) return false
  const row = await trx
    .insertInto('hook_trips')
    .values({ tenant_id: tenant, hook_id: id, tripped_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('hook_id')
    .executeTakeFirst()
  return row !== undefined
}
