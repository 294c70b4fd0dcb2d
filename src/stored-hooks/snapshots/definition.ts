import type { Failure } from '../../engine/core/decision.ts'
import { hookTitle } from '../../engine/core/hook-title.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookRow } from '../hook-tables.ts'

/** The part of a row that the engine knows. A global hook that its tenant's breaker tripped is disabled. */
export function toDefinition(row: HookRow, trippedBy?: Failure): HookDefinition {
  const { tenant_id: _, source, created_by, created_at, updated_at, agent_ids, ...definition } = row
  return {
    ...Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null)),
    // Records, questions and messages name the hook.
    name: hookTitle(row),
    // Hooks with other scopes apply to every agent.
    ...(row.scope === 'agent' ? { agent_ids } : {}),
    ...(trippedBy ? { enabled: false, disabled_reason: 'breaker', tripped_by: trippedBy } : {}),
  } as HookDefinition
}
