import { sql } from 'kysely'
import { namedOperations } from '../../database/named-operations.ts'
import { callAt, inTenant, inTenantOf, operation, type Tx } from '../../database/operation.ts'
import { find, insert, listRows, removeRow, update } from '../../database/rows.ts'
import { bumpDefinitionVersions } from '../../stored-hooks/hook-operations.ts'
import { hookColumns, newHookColumns } from '../../stored-hooks/hook-row.ts'
import { agentHooks } from '../../stored-hooks/hook-tables.ts'
import {
  type BlueprintHook,
  type BlueprintRow,
  blueprints,
  type NewBlueprint,
  runHooks,
} from './run-tables.ts'

export const blueprintOperations = {
  /** Creates or replaces. With `version`, only if the stored one has it (0: only if there is none). Undefined if it does not. */
  saveBlueprint: operation(
    {},
    (call, tenant: string, { hooks, ...blueprint }: NewBlueprint, version?: number, now?: number) =>
      inTenantOf(callAt(call, now), tenant, async (tx) => {
        const row = await writeBlueprint(tx, tenant, blueprint, version)
        if (row !== undefined && hooks !== undefined) await replaceHooks(tx, tenant, row.name, hooks)
        return row
      }),
  ),

  findBlueprint: inTenant((tx, tenant: string, name: string) =>
    find(tx, blueprints, { tenant_id: tenant, name }),
  ),

  listBlueprints: inTenant((tx, tenant: string) => listRows(tx, blueprints, { tenant_id: tenant }, ['name'])),

  /** Deletes the blueprint and its hooks. */
  deleteBlueprint: inTenant(async (tx, tenant: string, name: string) => {
    const removed = await removeRow(tx, blueprints, { tenant_id: tenant, name })
    if (removed) await replaceHooks(tx, tenant, name, [])
    return removed
  }),
}

/** `version` is the one to replace; 0 if there must be none, undefined for any. */
async function writeBlueprint(
  tx: Tx,
  tenant_id: string,
  { name, owner = null, ...blueprint }: NewBlueprint,
  version: number | undefined,
): Promise<BlueprintRow | undefined> {
  const now = await tx.time()
  const change = { ...blueprint, owner, updated_at: now, version: sql`blueprints.version + 1` }
  if (version !== undefined && version !== 0)
    return (await update(tx, blueprints, { tenant_id, name, version }, change))[0]
  const row = { tenant_id, name, ...blueprint, owner, version: 1, created_at: now, updated_at: now }
  return insert(tx, blueprints, row, version === 0 ? 'keep' : change)
}

async function replaceHooks(
  tx: Tx,
  tenant_id: string,
  name: string,
  hooks: readonly BlueprintHook[],
): Promise<void> {
  const now = await tx.time()
  const ofBlueprint = { tenant_id, source: 'blueprint', agent_ids: [name] } as const
  const stored = new Set((await listRows(tx, agentHooks, ofBlueprint, ['id'])).map((row) => row.id))
  for (const id of stored)
    if (hooks.every((hook) => hook.id !== id)) await removeRow(tx, agentHooks, { tenant_id, id })
  for (const given of hooks) {
    const hook = { ...given, ...ofBlueprint, scope: 'agent' } as const
    const changes = { ...hookColumns(hook), version: sql`version + 1`, updated_at: now }
    if (stored.has(hook.id)) await update(tx, agentHooks, { tenant_id, id: hook.id }, changes)
    else await insert(tx, agentHooks, newHookColumns(hook, now))
  }
  if (stored.size > 0 || hooks.length > 0) await bumpDefinitionVersions(tx, [tenant_id])
}

const ofRunHooks = namedOperations(runHooks)

/** The named hooks that blueprints refer to. */
export const runHookOperations = {
  saveRunHook: ofRunHooks.save,
  findRunHook: ofRunHooks.find,
  listRunHooks: ofRunHooks.list,
  deleteRunHook: ofRunHooks.remove,
}
