import type { MergeResults, ReadVerdict } from '../../../core/event.ts'
import { isHookDecision, mergeHookDecisions, resolveBlockMessage } from '../gate-decision.ts'

/** The strictest decision wins; whatever is not a decision counts as a block. */
export const mergeAgentRun: MergeResults = (before, next) => {
  const decision = isHookDecision(next)
    ? next
    : ({ outcome: 'block', reason: 'before_agent_run returned an invalid decision' } as const)
  return mergeHookDecisions(isHookDecision(before) ? before : undefined, decision)
}

export const readAgentRun: ReadVerdict = (result) => {
  if (!isHookDecision(result)) return 'invalid'
  if (result.outcome === 'pass') return undefined
  // Without a message of its own the block still has one here, so that the internal reason never stands in for it.
  return { kind: 'block', reason: result.reason, message: resolveBlockMessage(result) }
}
