import { sql } from 'kysely'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { inSystem, inSystemOf, inTenant, inTenantOf, operation, type Tx } from '../database/operation.ts'
import { type Changes, find, insert, listRows, removeRow, update } from '../database/rows.ts'
import type { NewRowOf } from '../database/table.ts'
import type { Failure } from '../engine/core/decision.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { completeDefinition, hookColumns, newHookColumns, readHook } from './hook-row.ts'
import {
  agentHooks,
  definitionVersions,
  type HookFilter,
  type HookRow,
  hookTrips,
  type NewHook,
} from './hook-tables.ts'

export const hookOperations = {
  /** The tenant's hooks and the global ones, in the order of creation. */
  listHooks: inTenant(async (tx, tenant: string, filter: HookFilter = {}) =>
    (await hooksOf(tx, [tenant, MASTER_TENANT])).filter((hook) => matchesFilter(hook, filter)),
  ),

  /** A hook of the tenant or a global one. */
  findHook: inTenant(async (tx, tenant: string, id: string) => {
    const row =
      (await find(tx, agentHooks, { tenant_id: tenant, id })) ??
      (await find(tx, agentHooks, { tenant_id: MASTER_TENANT, id }))
    return row && readHook(row)
  }),

  createHook: inTenant(async (tx, hook: NewHook, now: number): Promise<HookRow> => {
    const row = await insert(tx, agentHooks, newHookColumns(hook, now))
    await bumpDefinitionVersions(tx, [hook.tenant_id])
    // Without `keep` an insert returns its row.
    return readHook(row as NonNullable<typeof row>)
  }),

  /**
   * Replaces the definition of the tenant's hook and raises its version by one. Returns 'stale', and writes nothing, if the
   * stored version is not `version`; 'missing' if the tenant has no such hook.
   */
  updateHook: inTenant(
    async (
      tx,
      tenant_id: string,
      id: string,
      { version, hook }: { readonly version: number; readonly hook: HookDefinition },
      now: number,
    ): Promise<HookRow | 'stale' | 'missing'> => {
      const before = await find(tx, agentHooks, { tenant_id, id })
      if (before === undefined) return 'missing'
      const columns = hookColumns(completeDefinition(hook, readHook(before)))
      const changes = { ...columns, version: version + 1, updated_at: now }
      const [row] = await update(tx, agentHooks, { tenant_id, id, version }, changes)
      if (row === undefined) return 'stale'
      await bumpDefinitionVersions(tx, [tenant_id])
      return readHook(row)
    },
  ),

  /** Enables or disables the tenant's hook and raises its version. Enabling also clears every trip of the breaker. */
  toggleHook: operation(
    {},
    (
      call,
      tenant_id: string,
      id: string,
      { enabled, reason }: { readonly enabled: boolean; readonly reason?: string },
      now: number,
    ): Promise<HookRow | 'missing'> => {
      const toggle = async (tx: Tx) => {
        const changes = switchedTo(enabled, now, enabled ? null : reason)
        const [row] = await update(tx, agentHooks, { tenant_id, id }, changes)
        if (row === undefined) return 'missing'
        const cleared = enabled ? await clearTrips(tx, id) : []
        await bumpDefinitionVersions(tx, [tenant_id, ...cleared])
        return readHook(row)
      }
      // Any tenant may have tripped a global hook.
      return tenant_id === MASTER_TENANT ? inSystemOf(call, toggle) : inTenantOf(call, tenant_id, toggle)
    },
  ),

  /** Deletes a hook. Its executions stay, with a null hook id. */
  deleteHook: inTenant(async (tx, tenant_id: string, id: string) => {
    const removed = await removeRow(tx, agentHooks, { tenant_id, id })
    if (removed) await bumpDefinitionVersions(tx, [tenant_id])
    return removed
  }),

  /**
   * The breaker disables a hook after failures of the given kind. The tenant's hook becomes `enabled: false,
   * disabled_reason: 'breaker'`; a global one is disabled for this tenant only. False if it was disabled already or does
   * not exist.
   */
  tripHook: inTenant(async (tx, tenant_id: string, id: string, by: Failure, now: number) => {
    const changes = switchedTo(false, now, 'breaker', by)
    const disabled = await update(tx, agentHooks, { tenant_id, id, enabled: true }, changes)
    const trip = { tenant_id, hook_id: id, tripped_at: now, tripped_by: by }
    const tripped = disabled.length > 0 || (await tripGlobalHook(tx, trip))
    if (tripped) await bumpDefinitionVersions(tx, [tenant_id])
    return tripped
  }),

  /**
   * All definitions of a tenant and their version, for a snapshot, with the global hooks that the breaker disabled for it.
   * `tenant` may be the master tenant.
   */
  loadDefinitions: inSystem(async (tx, tenant_id: string) => {
    // Read the version first: a change in between is then loaded twice, never missed.
    const version = await find(tx, definitionVersions, { tenant_id })
    const hooks = await hooksOf(tx, [tenant_id])
    const trips = await listRows(tx, hookTrips, { tenant_id }, [])
    const tripped = trips.map(({ hook_id, tripped_by }) => ({ hookId: hook_id, by: tripped_by }))
    return { version: version?.version ?? 0, hooks, tripped }
  }),

  /** Without a cursor: only the current cursor. */
  definitionChanges: operation({}, ({ db }, cursor?: string) => db.statements.definitionChanges(cursor)),

  /** Disables every enabled hook of these types that is not builtin. Returns how many. The standard edition calls it at start. */
  disableHandlerTypes: inSystem(async (tx, types: readonly string[], reason: string, now: number) => {
    if (types.length === 0) return 0
    const changes = switchedTo(false, now, reason)
    const isOfType = sql`handler_type in (${sql.join([...types])}) and source <> 'builtin'`
    const rows = await update(tx, agentHooks, { enabled: true }, changes, [isOfType])
    await bumpDefinitionVersions(
      tx,
      rows.map((row) => row.tenant_id),
    )
    return rows.length
  }),
}

/** Hooks in the order of creation; ids grow with time. */
async function hooksOf(tx: Tx, tenants: readonly string[]): Promise<readonly HookRow[]> {
  const isOfTenants = [sql`tenant_id in (${sql.join([...tenants])})`]
  return (await listRows(tx, agentHooks, {}, ['created_at', 'id'], isOfTenants)).map(readHook)
}

/** A hook without agents applies to every agent. */
function matchesFilter(hook: HookRow, { event, scope, agent_id, enabled }: HookFilter): boolean {
  if (event !== undefined && hook.event !== event) return false
  if (scope !== undefined && hook.scope !== scope) return false
  if (enabled !== undefined && hook.enabled !== enabled) return false
  return agent_id === undefined || hook.agent_ids.length === 0 || hook.agent_ids.includes(agent_id)
}

function switchedTo(
  enabled: boolean,
  now: number,
  disabled_reason: string | null = null,
  tripped_by: Failure | null = null,
): Changes<typeof agentHooks> {
  return { enabled, disabled_reason, tripped_by, version: sql`version + 1`, updated_at: now }
}

async function tripGlobalHook(tx: Tx, { tenant_id, hook_id, ...trip }: NewRowOf<typeof hookTrips>) {
  if (tenant_id === MASTER_TENANT) return false
  const global = await find(tx, agentHooks, { tenant_id: MASTER_TENANT, id: hook_id, enabled: true })
  if (global === undefined) return false
  return (await insert(tx, hookTrips, { tenant_id, hook_id, ...trip }, 'keep')) !== undefined
}

/** Returns the tenants that had tripped the hook: their definitions have changed too. */
async function clearTrips({ trx }: Tx, hookId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ tenant_id: string }>`delete from hook_trips
    where hook_id = ${hookId} returning tenant_id`.execute(trx)
  return rows.map((row) => row.tenant_id)
}

/** Marks the definitions of these tenants as changed, in the transaction that changes them. */
export async function bumpDefinitionVersions(tx: Tx, tenants: readonly string[]): Promise<void> {
  const { stamp } = tx.db.codec
  // Sorted, so that two transactions cannot deadlock.
  for (const tenant_id of [...new Set(tenants)].sort())
    await insert(
      tx,
      definitionVersions,
      { tenant_id, version: 1, stamp },
      { version: sql`definition_versions.version + 1`, stamp },
    )
}
