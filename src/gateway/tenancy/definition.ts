import { isRecord } from '../../engine/core/check.ts'
import type { Failure } from '../../engine/core/decision.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'

/** The part of a row that the engine knows. A global hook that its tenant's breaker tripped is disabled. */
export function toDefinition(row: HookRow, trippedBy?: Failure): HookDefinition {
  const { tenant_id: _, source, created_by, created_at, updated_at, agent_ids, ...definition } = row
  return {
    ...Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null)),
    // Hooks with other scopes apply to every agent.
    ...(row.scope === 'agent' ? { agent_ids } : {}),
    ...(trippedBy ? { enabled: false, disabled_reason: 'breaker', tripped_by: trippedBy } : {}),
  } as HookDefinition
}

/**
 * The replacement for a hook that cannot be loaded. It fails with the reason, so that the hook's policy decides. It
 * keeps the hook's conditions if they can be read, and applies to all events otherwise. A disabled or shadow hook stays
 * disabled or shadow.
 */
export function brokenHookDefinition(
  definition: HookDefinition,
  why: string,
  conditions: 'kept' | 'dropped',
): HookDefinition {
  const { event, id, name, priority, locked, version, enabled, disabled_reason, tripped_by, shadow } =
    definition
  const { on_error, on_timeout, on_invalid, scope, agent_ids, matcher, if_expr, match } = definition
  const state = { version, enabled, disabled_reason, tripped_by, shadow }
  const kept = { event, id, name, priority, locked, on_error, on_timeout, on_invalid, ...state }
  const when = conditions === 'kept' ? { scope, agent_ids, matcher, if_expr, match } : {}
  return {
    ...Object.fromEntries(Object.entries({ ...kept, ...when }).filter(([, value]) => value !== undefined)),
    handler_type: 'broken',
    config: { why },
  } as HookDefinition
}

/** Why a hook is broken, from its replacement. */
export function brokenHookReason({ config }: HookDefinition): string {
  return isRecord(config) ? String(config.why) : ''
}
