import type { Decision } from '../engine/core/decision.ts'
import { errorText, isHookError } from '../engine/core/error.ts'

/**
 * For events that can block: whatever keeps the gateway from answering is a block, so that nobody gets past a gate by
 * stopping it, overloading it or pulling the plug.
 */
export async function decideOrBlock(answer: Promise<{ readonly decision: Decision }>): Promise<Decision> {
  try {
    return (await answer).decision
  } catch (thrown) {
    const reason = `nobody could decide: ${errorText(thrown)}`
    return { kind: 'block', reason, code: isHookError(thrown) ? thrown.code : 'gateway.unreachable' }
  }
}
