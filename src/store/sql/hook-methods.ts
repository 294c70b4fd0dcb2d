import { sql } from 'kysely'
import type { HookFilter, HookRow, HookStore } from '../stores/hook-store.ts'
import { MASTER_TENANT } from '../stores/tenant-store.ts'
import { isUuid } from './column-values.ts'
import { completed, readHook, writeDefinition, writeHook } from './hook-row.ts'
import type { Codec, Db, Query } from './sql-database.ts'

type HookRows = Pick<
  HookStore,
  'listHooks' | 'findHook' | 'createHook' | 'updateHook' | 'deleteHook' | 'toggleHook'
>

export function hookRows(db: Db): HookRows {
  const { codec } = db
  return {
    listHooks: (tenant, filter = {}) =>
      db.tenant(tenant, async (trx) =>
        (await selectHooks(trx, codec, [tenant, MASTER_TENANT])).filter((hook) => fits(hook, filter)),
      ),

    findHook: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return undefined
        const row = await trx
          .selectFrom('agent_hooks')
          .selectAll()
          .where('id', '=', id)
          .where('tenant_id', 'in', [tenant, MASTER_TENANT])
          .executeTakeFirst()
        return row && readHook(codec, row)
      }),

    createHook: (hook, now) =>
      db.tenant(hook.tenant_id, async (trx) => {
        const row = await trx
          .insertInto('agent_hooks')
          .values(writeHook(codec, hook, now))
          .returningAll()
          .executeTakeFirstOrThrow()
        await bumpVersions(trx, codec, [hook.tenant_id])
        return readHook(codec, row)
      }),

    updateHook: (tenant, id, { version, hook }, now) =>
      db.tenant(tenant, async (trx) => {
        const before = await findOwn(trx, codec, tenant, id)
        if (before === undefined) return 'missing'
        const row = await trx
          .updateTable('agent_hooks')
          .set({
            ...writeDefinition(codec, completed(hook, before)),
            version: version + 1,
            updated_at: now,
          })
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .where('version', '=', version)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'stale'
        await bumpVersions(trx, codec, [tenant])
        return readHook(codec, row)
      }),

    toggleHook(tenant, id, { enabled, reason }, now) {
      const toggle = async (trx: Query) => {
        if (!isUuid(id)) return 'missing'
        const row = await trx
          .updateTable('agent_hooks')
          .set((eb) => ({
            enabled: codec.flag(enabled),
            disabled_reason: enabled ? null : (reason ?? null),
            version: eb('version', '+', 1),
            updated_at: now,
          }))
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'missing'
        const cleared = enabled ? await clearTrips(trx, id) : []
        await bumpVersions(trx, codec, [tenant, ...cleared])
        return readHook(codec, row)
      }
      // A global hook may have been tripped by any tenant.
      return tenant === MASTER_TENANT ? db.system(toggle) : db.tenant(tenant, toggle)
    },

    deleteHook: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const gone = await trx
          .deleteFrom('agent_hooks')
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst()
        if (gone === undefined) return false
        await bumpVersions(trx, codec, [tenant])
        return true
      }),
  }
}

/** In the order of creation; ids grow with time. */
export async function selectHooks(
  trx: Query,
  codec: Codec,
  tenants: readonly string[],
): Promise<readonly HookRow[]> {
  const rows = await trx
    .selectFrom('agent_hooks')
    .selectAll()
    .where('tenant_id', 'in', tenants)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => readHook(codec, row))
}

async function findOwn(trx: Query, codec: Codec, tenant: string, id: string): Promise<HookRow | undefined> {
  if (!isUuid(id)) return undefined
  const row = await trx
    .selectFrom('agent_hooks')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && readHook(codec, row)
}

/** Answers the tenants that had tripped it: what they see has changed too. */
async function clearTrips(trx: Query, hookId: string): Promise<readonly string[]> {
  const rows = await trx
    .deleteFrom('hook_trips')
    .where('hook_id', '=', hookId)
    .returning('tenant_id')
    .execute()
  return rows.map((row) => row.tenant_id)
}

/** A hook without agents is for every agent. */
function fits(hook: HookRow, { event, scope, agent_id, enabled }: HookFilter): boolean {
  if (event !== undefined && hook.event !== event) return false
  if (scope !== undefined && hook.scope !== scope) return false
  if (enabled !== undefined && hook.enabled !== enabled) return false
  return agent_id === undefined || hook.agent_ids.length === 0 || hook.agent_ids.includes(agent_id)
}

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

/** Tells every node that the definitions of these tenants have changed; in the transaction that changes them. */
export async function bumpVersions(trx: Query, codec: Codec, tenants: readonly string[]): Promise<void> {
  // Sorted, so that two transactions wait for one another instead of locking each other out.
  for (const tenant_id of [...new Set(tenants)].sort())
    await trx
      .insertInto('definition_versions')
      .values({ tenant_id, version: 1, stamp: codec.stamp })
      .onConflict((conflict) =>
        conflict
          .column('tenant_id')
          .doUpdateSet((eb) => ({ version: eb('definition_versions.version', '+', 1), stamp: codec.stamp })),
      )
      .execute()
}
