import { serverError } from '../../engine/core/errors/server-errors.ts'
import { hookTitle } from '../../engine/core/hook-title.ts'
import type { Store } from '../../store/store.ts'
import type { HookRow } from '../hook-tables.ts'
import { packHookId } from './pack-hook-id.ts'

/** The stored hook with this id, the one of a pack with this id, or the only one with this name. Throws if several have it. */
export async function findHookByIdOrName(
  store: Pick<Store, 'findHook' | 'listHooks'>,
  tenant: string,
  idOrName: string,
): Promise<HookRow | undefined> {
  const row = await store.findHook(tenant, idOrName)
  if (row !== undefined) return row
  const ofPack = idOrName.includes('/')
    ? await store.findHook(tenant, packHookId(tenant, idOrName))
    : undefined
  if (ofPack !== undefined) return ofPack
  const named = (await store.listHooks(tenant)).filter(({ name }) => name === idOrName)
  if (named.length > 1)
    throw serverError('gateway.request', `${named.length} hooks are named ${idOrName}`, {
      hint: `Use an id: ${named.map(({ id, event }) => `${id} (${event})`).join(', ')}.`,
    })
  return named[0]
}

/** What people call stored hooks, by id. A hook that no longer exists has no name. */
export async function hookNames(
  store: Pick<Store, 'findHook'>,
  tenant: string,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(ids)].filter((id) => id !== null)
  const rows = await Promise.all(distinct.map((id) => store.findHook(tenant, id)))
  return new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, hookTitle(row)] as const])))
}
