import { columnNames, type RowOf } from '../database/table.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { agentHooks, type HookRow, type NewHook } from './hook-tables.ts'

/** A definition with every field that a row requires. */
type CompleteDefinition = HookDefinition &
  Pick<HookRow, 'scope' | 'agent_ids' | 'config' | 'priority' | 'enabled'>

const named = new Set(columnNames(agentHooks))

/** The columns of a definition. Fields without their own column go into `options`, and absent ones become null. */
export function hookColumns(hook: CompleteDefinition) {
  const options = Object.entries(hook).filter(([field, value]) => !named.has(field) && value !== undefined)
  return {
    name: hook.name ?? null,
    description: hook.description ?? null,
    agent_ids: hook.agent_ids,
    event: hook.event,
    handler_type: hook.handler_type,
    scope: hook.scope,
    config: hook.config ?? null,
    matcher: hook.matcher ?? null,
    if_expr: hook.if_expr ?? null,
    timeout_ms: hook.timeout_ms ?? null,
    on_timeout: hook.on_timeout ?? null,
    priority: hook.priority,
    enabled: hook.enabled,
    disabled_reason: hook.disabled_reason ?? null,
    tripped_by: hook.tripped_by ?? null,
    options: Object.fromEntries(options),
  }
}

/** Fills the required fields that the new definition leaves out from the row before. */
export function completeDefinition(hook: HookDefinition, before: HookRow): CompleteDefinition {
  return {
    ...hook,
    scope: hook.scope ?? before.scope,
    agent_ids: hook.agent_ids ?? before.agent_ids,
    config: hook.config === undefined ? before.config : hook.config,
    priority: hook.priority ?? before.priority,
    enabled: hook.enabled ?? before.enabled,
  }
}

export function newHookColumns(hook: NewHook, now: number) {
  const { id, tenant_id, source, created_by } = hook
  const times = { created_at: now, updated_at: now }
  return { ...hookColumns(hook), id, tenant_id, source, created_by, version: 1, ...times }
}

export function readHook({ options, ...row }: RowOf<typeof agentHooks>): HookRow {
  return { ...options, ...row }
}
