import { sql } from 'kysely'
import { namedOperations } from '../../database/named-operations.ts'
import { inTenant, type Tx } from '../../database/operation.ts'
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
  saveBlueprint: inTenant(
    async (
      tx,
      tenant: string,
      { hooks, owner = null, ...blueprint }: NewBlueprint,
      version?: number,
      given?: number,
    ) => {
      const now = await tx.time(given)
      const row = await writeBlueprint(tx, { ...blueprint, owner, tenant_id: tenant }, { version, now })
      if (row !== undefined && hooks !== undefined)
        await replaceHooks(tx, { tenant, name: row.name, hooks, now })
      return row
    },
  ),

  findBlueprint: inTenant((tx, tenant: string, name: string) =>
    find(tx, blueprints, { tenant_id: tenant, name }),
  ),

  listBlueprints: inTenant((tx, tenant: string) => listRows(tx, blueprints, { tenant_id: tenant }, ['name'])),

  /** Deletes the blueprint and its hooks. */
  deleteBlueprint: inTenant(async (tx, tenant: string, name: string) => {
    const removed = await removeRow(tx, blueprints, { tenant_id: tenant, name })
    if (removed) await replaceHooks(tx, { tenant, name, hooks: [], now: 0 })
    return removed
  }),
}

/** `version` is the one to replace; 0 if there must be none, undefined for any. */
async function writeBlueprint(
  tx: Tx,
  {
    tenant_id,
    name,
    ...blueprint
  }: Pick<BlueprintRow, 'tenant_id' | 'name' | 'source' | 'owner' | 'definition'>,
  { version, now }: { readonly version: number | undefined; readonly now: number },
): Promise<BlueprintRow | undefined> {
  const change = { ...blueprint, updated_at: now, version: sql`blueprints.version + 1` }
  if (version !== undefined && version !== 0)
    return (await update(tx, blueprints, { tenant_id, name, version }, change))[0]
  const row = { tenant_id, name, ...blueprint, version: 1, created_at: now, updated_at: now }
  return insert(tx, blueprints, row, version === 0 ? 'keep' : change)
}

interface HookReplacement {
  readonly tenant: string
  readonly name: string
  readonly hooks: readonly BlueprintHook[]
  readonly now: number
}

async function replaceHooks(tx: Tx, { tenant, name, hooks, now }: HookReplacement): Promise<void> {
  const ofBlueprint = { tenant_id: tenant, source: 'blueprint', agent_ids: [name] } as const
  const stored = new Set((await listRows(tx, agentHooks, ofBlueprint, ['id'])).map((row) => row.id))
  for (const id of stored)
    if (hooks.every((hook) => hook.id !== id)) await removeRow(tx, agentHooks, { tenant_id: tenant, id })
  for (const given of hooks) {
    const hook = { ...given, ...ofBlueprint, scope: 'agent' } as const
    if (stored.has(hook.id))
      await update(
        tx,
        agentHooks,
        { tenant_id: tenant, id: hook.id },
        { ...hookColumns(hook), version: sql`version + 1`, updated_at: now },
      )
    else await insert(tx, agentHooks, newHookColumns(hook, now))
  }
  if (stored.size > 0 || hooks.length > 0) await bumpDefinitionVersions(tx, [tenant])
}

const ofRunHooks = namedOperations(runHooks)

/** The named hooks that blueprints refer to. */
export const runHookOperations = {
  saveRunHook: ofRunHooks.save,
  findRunHook: ofRunHooks.find,
  listRunHooks: ofRunHooks.list,
  deleteRunHook: ofRunHooks.remove,
}
