import { isRecord } from '../../engine/core/check.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'

/** The part of a row that the engine knows. A hook that its tenant's breaker tripped is off, whatever the row says. */
export function toDefinition(row: HookRow, isTripped: boolean): HookDefinition {
  const { tenant_id: _, source, created_by, created_at, updated_at, agent_ids, ...definition } = row
  return {
    ...Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null)),
    // Other scopes are for every agent, whoever is listed.
    ...(row.scope === 'agent' ? { agent_ids } : {}),
    ...(isTripped ? { enabled: false, disabled_reason: 'breaker' } : {}),
  } as HookDefinition
}

/**
 * What stands in for a hook that cannot be loaded: it fails with the reason each time, so that its policy decides. It is for the
 * same events if its conditions can still be read, for all otherwise; one that is off or on trial stays that.
 */
export function standIn(
  definition: HookDefinition,
  why: string,
  conditions: 'kept' | 'dropped',
): HookDefinition {
  const { event, id, name, on_error, priority, locked, version, enabled, disabled_reason, shadow } =
    definition
  const { scope, agent_ids, matcher, if_expr, match } = definition
  const kept = { event, id, name, on_error, priority, locked, version, enabled, disabled_reason, shadow }
  const when = conditions === 'kept' ? { scope, agent_ids, matcher, if_expr, match } : {}
  return {
    ...Object.fromEntries(Object.entries({ ...kept, ...when }).filter(([, value]) => value !== undefined)),
    handler_type: 'broken',
    config: { why },
  } as HookDefinition
}

/** The reason that a stand-in carries. */
export function whyBroken({ config }: HookDefinition): string {
  return isRecord(config) ? String(config.why) : ''
}
