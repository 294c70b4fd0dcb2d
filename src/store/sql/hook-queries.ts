import { sql } from 'kysely'
import type { Failure } from '../../engine/core/decision.ts'
import type { HookFilter, HookRow, HookStore } from '../stores/hook-store.ts'
import { MASTER_TENANT } from '../stores/tenant-store.ts'
import { isUuid } from './column-values.ts'
import { completeDefinition, readFailure, readHook, writeDefinition, writeHook } from './hook-row.ts'
import type { Codec, QueryBuilder, SqlDatabase } from './sql-database.ts'

export function hookQueries(db: SqlDatabase): HookStore {
  return { ...hookRowQueries(db), ...definitionQueries(db) }
}

type HookRowQueries = Pick<
  HookStore,
  'listHooks' | 'findHook' | 'createHook' | 'updateHook' | 'deleteHook' | 'toggleHook'
>

function hookRowQueries(db: SqlDatabase): HookRowQueries {
  const { codec } = db
  return {
    listHooks: (tenant, filter = {}) =>
      db.tenant(tenant, async (trx) =>
        (await selectHooks(trx, codec, [tenant, MASTER_TENANT])).filter((hook) =>
          matchesFilter(hook, filter),
        ),
      ),

    findHook: (tenant, id) => db.tenant(tenant, (trx) => findHook(trx, codec, id, [tenant, MASTER_TENANT])),

    createHook: (hook, now) =>
      db.tenant(hook.tenant_id, async (trx) => {
        const row = await trx
          .insertInto('agent_hooks')
          .values(writeHook(codec, hook, now))
          .returningAll()
          .executeTakeFirstOrThrow()
        await bumpDefinitionVersions(trx, codec, [hook.tenant_id])
        return readHook(codec, row)
      }),

    updateHook: (tenant, id, { version, hook }, now) =>
      db.tenant(tenant, async (trx) => {
        const before = await findHook(trx, codec, id, [tenant])
        if (before === undefined) return 'missing'
        const row = await trx
          .updateTable('agent_hooks')
          .set({
            ...writeDefinition(codec, completeDefinition(hook, before)),
            version: version + 1,
            updated_at: now,
          })
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .where('version', '=', version)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'stale'
        await bumpDefinitionVersions(trx, codec, [tenant])
        return readHook(codec, row)
      }),

    toggleHook(tenant, id, { enabled, reason }, now) {
      const toggle = async (trx: QueryBuilder) => {
        if (!isUuid(id)) return 'missing'
        const row = await setEnabled(trx, codec, { enabled, reason: enabled ? null : (reason ?? null), now })
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'missing'
        const cleared = enabled ? await clearTrips(trx, id) : []
        await bumpDefinitionVersions(trx, codec, [tenant, ...cleared])
        return readHook(codec, row)
      }
      // Any tenant may have tripped a global hook.
      return tenant === MASTER_TENANT ? db.system(toggle) : db.tenant(tenant, toggle)
    },

    deleteHook: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const deleted = await trx
          .deleteFrom('agent_hooks')
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst()
        if (deleted === undefined) return false
        await bumpDefinitionVersions(trx, codec, [tenant])
        return true
      }),
  }
}

type DefinitionQueries = Pick<
  HookStore,
  'tripHook' | 'loadDefinitions' | 'definitionChanges' | 'disableHandlerTypes'
>

/** What the nodes need to keep their snapshots of the definitions up to date. */
function definitionQueries(db: SqlDatabase): DefinitionQueries {
  const { codec } = db
  return {
    tripHook: (tenant, id, by, now) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const trip = { tenant, id, by, now }
        const tripped = (await disableOwnHook(trx, codec, trip)) || (await tripGlobalHook(trx, codec, trip))
        if (tripped) await bumpDefinitionVersions(trx, codec, [tenant])
        return tripped
      }),

    loadDefinitions: (tenant) =>
      db.system(async (trx) => {
        // Read the version first: a change in between is then loaded twice, never missed.
        const version = await trx
          .selectFrom('definition_versions')
          .select('version')
          .where('tenant_id', '=', tenant)
          .executeTakeFirst()
        const hooks = await selectHooks(trx, codec, [tenant])
        const trips = await trx
          .selectFrom('hook_trips')
          .select(['hook_id', 'tripped_by'])
          .where('tenant_id', '=', tenant)
          .execute()
        const tripped = trips.map((row) => ({ hookId: row.hook_id, by: readFailure(row.tripped_by) }))
        return { version: version?.version ?? 0, hooks, tripped }
      }),

    definitionChanges: (cursor) =>
      db.system(async (trx) => {
        // Read the horizon first: the next statement then sees every change with a lower stamp.
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
        const rows = await setEnabled(trx, codec, { enabled: false, reason, now })
          .where('handler_type', 'in', types)
          .where('source', '<>', 'builtin')
          .where('enabled', '=', codec.flag(true))
          .returning('tenant_id')
          .execute()
        const tenants = rows.map((row) => row.tenant_id)
        await bumpDefinitionVersions(trx, codec, tenants)
        return rows.length
      }),
  }
}

/** Selects hooks in the order of creation; ids grow with time. */
async function selectHooks(
  trx: QueryBuilder,
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

async function findHook(trx: QueryBuilder, codec: Codec, id: string, tenants: readonly string[]) {
  if (!isUuid(id)) return undefined
  const row = await trx
    .selectFrom('agent_hooks')
    .selectAll()
    .where('tenant_id', 'in', tenants)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && readHook(codec, row)
}

/** A hook without agents applies to every agent. */
function matchesFilter(hook: HookRow, { event, scope, agent_id, enabled }: HookFilter): boolean {
  if (event !== undefined && hook.event !== event) return false
  if (scope !== undefined && hook.scope !== scope) return false
  if (enabled !== undefined && hook.enabled !== enabled) return false
  return agent_id === undefined || hook.agent_ids.length === 0 || hook.agent_ids.includes(agent_id)
}

function setEnabled(
  trx: QueryBuilder,
  codec: Codec,
  { enabled, reason, by, now }: { enabled: boolean; reason: string | null; by?: Failure; now: number },
) {
  return trx.updateTable('agent_hooks').set((eb) => ({
    enabled: codec.flag(enabled),
    disabled_reason: reason,
    tripped_by: by ?? null,
    version: eb('version', '+', 1),
    updated_at: now,
  }))
}

interface Trip {
  readonly tenant: string
  readonly id: string
  readonly by: Failure
  readonly now: number
}

async function disableOwnHook(
  trx: QueryBuilder,
  codec: Codec,
  { tenant, id, by, now }: Trip,
): Promise<boolean> {
  const row = await setEnabled(trx, codec, { enabled: false, reason: 'breaker', by, now })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('enabled', '=', codec.flag(true))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

async function tripGlobalHook(
  trx: QueryBuilder,
  codec: Codec,
  { tenant, id, by, now }: Trip,
): Promise<boolean> {
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
    .values({ tenant_id: tenant, hook_id: id, tripped_at: now, tripped_by: by })
    .onConflict((conflict) => conflict.doNothing())
    .returning('hook_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the tenants that had tripped the hook: their definitions have changed too. */
async function clearTrips(trx: QueryBuilder, hookId: string): Promise<readonly string[]> {
  const rows = await trx
    .deleteFrom('hook_trips')
    .where('hook_id', '=', hookId)
    .returning('tenant_id')
    .execute()
  return rows.map((row) => row.tenant_id)
}

/** Marks the definitions of these tenants as changed, in the transaction that changes them. */
export async function bumpDefinitionVersions(
  trx: QueryBuilder,
  codec: Codec,
  tenants: readonly string[],
): Promise<void> {
  // Sorted, so that two transactions cannot deadlock.
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
