import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../access/caller.ts'
import type { catalogue } from '../../engine/events/catalogue.ts'
import { hookSchema } from '../../engine/hook-definition.ts'
import { type Pack, type PackHook, packTag } from '../../hook-files/packs/pack.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import type { HookParts } from '../../methods/method-parts.ts'
import type { HookRow } from '../hook-tables.ts'
import type { StoredPackChange } from '../pack-methods.ts'
import { createHook, deleteHook, updateHook } from './change-hook.ts'
import { defaultFields } from './complete-hook.ts'
import { gatewayOwnedFields } from './hook-input.ts'
import { packHookId } from './pack-hook-id.ts'

/** How many hooks of a pack a tenant has, and how many of them differ from the pack. */
export function countStored(pack: Pack, rows: readonly HookRow[], tenant: string) {
  const stored = pack.hooks.flatMap((hook) => {
    const row = rows.find(({ id }) => id === packHookId(tenant, hook.id))
    return row === undefined ? [] : [differs(hook, row)]
  })
  return { present: stored.length, changed: stored.filter(Boolean).length }
}

/** Adds the hooks of a pack that the tenant does not have. With `replace`, those that differ become as the pack says. */
export async function addStoredPack(
  pack: Pack,
  replace: boolean,
  { caller, parts }: { readonly caller: Caller; readonly parts: HookParts },
): Promise<StoredPackChange> {
  const rows = await ownRows(caller, parts)
  const change = {
    added: [] as string[],
    replaced: [] as string[],
    kept: [] as string[],
    removed: [] as string[],
  }
  for (const hook of pack.hooks) {
    const id = packHookId(caller.tenant, hook.id)
    const row = rows.find((stored) => stored.id === id)
    const { id: _, ...fields } = hook
    if (row === undefined) {
      await createHook({ ...fields, scope: 'tenant' }, caller, parts, id)
      change.added.push(hook.id)
    } else if (differs(hook, row)) {
      if (replace) await updateHook(id, { ...cleared, ...fields }, caller, parts)
      change[replace ? 'replaced' : 'kept'].push(hook.id)
    }
  }
  for (const { id, name } of replace ? formerHooks(pack, rows, caller.tenant) : []) {
    await deleteHook(id, caller, parts)
    change.removed.push(name ?? id)
  }
  return change
}

/** Removes every hook of a pack from the tenant. */
export async function removeStoredPack(
  pack: Pack,
  { caller, parts }: { readonly caller: Caller; readonly parts: HookParts },
): Promise<StoredPackChange> {
  const rows = await ownRows(caller, parts)
  const current = pack.hooks.flatMap((hook) => {
    const id = packHookId(caller.tenant, hook.id)
    return rows.some((row) => row.id === id) ? [{ id, shown: hook.id }] : []
  })
  const former = formerHooks(pack, rows, caller.tenant).map(({ id, name }) => ({ id, shown: name ?? id }))
  const removed = [...current, ...former]
  for (const { id } of removed) await deleteHook(id, caller, parts)
  return { added: [], replaced: [], kept: [], removed: removed.map(({ shown }) => shown) }
}

async function ownRows({ tenant }: Caller, { store }: HookParts): Promise<readonly HookRow[]> {
  const rows = await store.listHooks(tenant)
  return rows.filter(({ tenant_id, source }) => tenant_id === tenant && source === 'user')
}

/** Hooks that an earlier version of the pack had. */
function formerHooks(pack: Pack, rows: readonly HookRow[], tenant: string): readonly HookRow[] {
  const current = new Set(pack.hooks.map(({ id }) => packHookId(tenant, id)))
  return rows.filter(({ id, tags }) => tags?.includes(packTag(pack.name)) && !current.has(id))
}

/** Every field that a person can change: a condition, guard or scope that was added limits a hook of a pack. */
const fieldNames = Object.keys(hookSchema.fields).filter((name) => !Object.hasOwn(gatewayOwnedFields, name))
const cleared = {
  ...Object.fromEntries(fieldNames.map((name) => [name, null])),
  ...{ scope: 'tenant', enabled: true },
}

function differs(hook: PackHook, row: HookRow): boolean {
  const event = resolveCatalogueName(hook.event) as keyof typeof catalogue
  const wanted: Readonly<Record<string, unknown>> = { ...defaultFields(event), ...hook, event }
  const stored: Readonly<Record<string, unknown>> = { ...row }
  return fieldNames.some((name) => !isDeepStrictEqual(wanted[name], stored[name] ?? undefined))
}
