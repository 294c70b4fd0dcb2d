import { randomUUID } from 'node:crypto'
import type { Caller } from '../../access/caller.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { readChecked } from '../../engine/core/schema/read-checked.ts'
import { found, withoutNulls } from '../../methods/method-fields.ts'
import type { HookParts } from '../../methods/method-parts.ts'
import type { HookRow } from '../hook-tables.ts'
import { toDefinition } from '../snapshots/definition.ts'
import { type CompleteHook, completeHook, sealHook } from './complete-hook.ts'
import { findHookByIdOrName } from './find-hook.ts'
import { type HookInput, hookInput, withoutOwnedFields } from './hook-input.ts'

type Fields = Readonly<Record<string, unknown>>

/** How often a change is retried after a concurrent change of the same hook. */
const ATTEMPTS = 5

export async function createHook(
  given: HookInput,
  caller: Caller,
  parts: HookParts,
  id: string = randomUUID(),
): Promise<{ hookId: string }> {
  const hook = sealHook(completeHook(given, { id, caller, parts }), parts)
  const created = { ...hook, source: 'user', created_by: caller.name } as const
  const row = await parts.store.createHook(created, parts.clock.now())
  await parts.changed(row.tenant_id, { hookId: id, row })
  return { hookId: id }
}

/** Merges updates into a hook and checks the result as a whole, so that today's rules apply to old rows. */
export async function updateHook(
  hookId: string,
  given: Fields,
  caller: Caller,
  parts: HookParts,
): Promise<{ hookId: string }> {
  const updates: Fields = withoutOwnedFields(given)
  if (Object.keys(updates).length === 0)
    throw serverError('gateway.request', 'updates are required', { hint: 'Name the fields to change.' })
  // Removing `enabled` would mean true, and a tripped hook must not be enabled by leaving a field out.
  if (updates.enabled === null) throw serverError('gateway.request', 'enabled must be true or false')
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await reachableHook(hookId, caller, parts)
    if (row.source !== 'user') return toggleOnly(row, updates, parts)
    const hook = merged(row, updates, caller, parts)
    const { tenant_id: tenant, ...definition } = hook
    const change = { version: row.version, hook: definition }
    const outcome = await parts.store.updateHook(tenant, row.id, change, parts.clock.now())
    if (outcome === 'stale') continue
    const saved = found(outcome, 'hook', hookId)
    // Only enabling a hook clears the trips of its breaker. Any tenant may have tripped a global hook.
    const mayBeTripped = row.disabled_reason !== undefined || row.scope === 'global'
    if (updates.enabled === true && mayBeTripped) await toggleHook(row, true, parts)
    else await parts.changed(tenant, { hookId: row.id, row: saved })
    return { hookId: row.id }
  }
  throw serverError('gateway.conflict', `hook ${hookId} is being changed by others`, {
    hint: 'Read it again and repeat the change.',
  })
}

export async function toggleHook(
  { id, tenant_id }: HookRow,
  enabled: boolean,
  parts: HookParts,
): Promise<{ hookId: string; enabled: boolean }> {
  const switched = await parts.store.toggleHook(tenant_id, id, { enabled }, parts.clock.now())
  await parts.changed(tenant_id, { hookId: id, row: found(switched, 'hook', id) })
  return { hookId: id, enabled }
}

export async function deleteHook(
  hookId: string,
  caller: Caller,
  parts: HookParts,
): Promise<{ hookId: string }> {
  const row = await reachableHook(hookId, caller, parts)
  if (row.source !== 'user') throw readOnly(row)
  found(await parts.store.deleteHook(row.tenant_id, row.id), 'hook', hookId)
  await parts.changed(row.tenant_id, { hookId: row.id })
  return { hookId: row.id }
}

/** A hook that this caller may change. Others get "not found", although they can read global hooks. */
export async function reachableHook(hookId: string, caller: Caller, parts: HookParts): Promise<HookRow> {
  const named = await findHookByIdOrName(parts.store, caller.tenant, hookId)
  const row = found(named?.tenant_id === MASTER_TENANT && !caller.master ? undefined : named, 'hook', hookId)
  // A tenant cannot unlock what is locked for it.
  if (row.locked && !caller.master)
    throw serverError('auth.scope', 'a locked hook is changed from the master scope only')
  return row
}

function merged(row: HookRow, updates: Fields, caller: Caller, parts: HookParts): CompleteHook {
  const hook = sealHook(
    completeHook(mergedHookInput(row, updates), { id: row.id, caller, parts, stored: row }),
    parts,
  )
  if (hook.tenant_id !== row.tenant_id)
    throw serverError('gateway.request', "a hook's scope cannot change to or from global", {
      hint: 'Create a new hook and delete this one.',
    })
  if (typeof updates.agent_id === 'string' && hook.scope !== 'agent')
    throw serverError('gateway.request', 'agent_id: only a hook of scope agent has one', {
      hint: 'Send `scope: agent` with it.',
    })
  const { disabled_reason, tripped_by } = row
  if (disabled_reason === undefined || updates.enabled !== undefined) return hook
  return { ...hook, disabled_reason, ...(tripped_by === undefined ? {} : { tripped_by }) }
}

/** The stored hook with the updates, as a caller would send it. Null removes a field. */
export function mergedHookInput(row: HookRow, updates: Fields): HookInput {
  const { agent_id: agent } = updates
  // Older clients send one agent, which replaces the whole list.
  const agents: Fields = agent === undefined ? {} : { agent_ids: agent === null ? [] : [agent] }
  return readChecked(hookInput, withoutNulls({ ...toDefinition(row), ...agents, ...updates }))
}

function toggleOnly(row: HookRow, updates: Fields, parts: HookParts): Promise<{ hookId: string }> {
  const { enabled, ...rest } = updates
  if (Object.keys(rest).length > 0 || typeof enabled !== 'boolean') throw readOnly(row)
  return toggleHook(row, enabled, parts).then(({ hookId }) => ({ hookId }))
}

function readOnly({ source, name }: HookRow): Error {
  if (source === 'blueprint')
    return serverError('gateway.conflict', `the hook ${name ?? ''} belongs to a blueprint`, {
      hint: 'Change the hooks of the blueprint; here you can only switch it on and off.',
    })
  return serverError('gateway.builtin', 'builtin hooks are read-only except for the enabled toggle')
}
