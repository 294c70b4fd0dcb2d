import type { Decision } from '../../engine/core/decision.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import type { ClientOutcome, Effect } from '../agent-adapter.ts'

/** What the agent does, and the effects that it cannot deliver. */
export interface DeliveredOutcome {
  readonly outcome: ClientOutcome
  readonly undelivered: readonly Effect[]
}

/**
 * Reduces a decision to what an agent can carry out. If it can neither ask nor change the input, the call is blocked
 * where the agent can block: an input that a hook rejects must not run.
 */
export function deliverDecision(
  decision: Decision,
  honours: readonly Effect[],
  title: string,
): DeliveredOutcome {
  const can = (effect: Effect) => honours.includes(effect)
  const { kind, grant, context = [] } = decision
  const patch = isChange(decision) ? decision.input : undefined
  const message = [decision.message, decision.reason].find(hasText) ?? 'a hook gave no reason'
  const notes = context.length > 0 && can('context') ? { context: context.join('\n') } : {}
  const undeliveredContext: Effect[] = context.length > 0 && !can('context') ? ['context'] : []

  const refuse = (text: string, missing: Effect): DeliveredOutcome =>
    can('block')
      ? { outcome: { kind: 'block', message: text }, undelivered: [] }
      : { outcome: { kind: 'pass', message, ...notes }, undelivered: [missing, ...undeliveredContext] }

  if (kind === 'block') return refuse(message, 'block')
  if (patch !== undefined && !can('rewrite'))
    return refuse(`a hook changed this, and ${title} cannot take the change here: ${message}`, 'rewrite')
  if (kind === 'ask' && !can('ask'))
    return refuse(`this needs a person's approval, and ${title} cannot ask here: ${message}`, 'ask')
  const changed = definedFields({ input: patch })
  const granted = grant === true && can('grant') ? 'grant' : 'pass'
  return {
    outcome: { kind: kind === 'ask' ? 'ask' : granted, message, ...changed, ...notes },
    undelivered: grant === true && !can('grant') ? ['grant', ...undeliveredContext] : undeliveredContext,
  }
}

/** Agents treat blank text as missing, and a block without a reason as no block. */
function hasText(text: string | undefined): boolean {
  return text !== undefined && /[^\s\u0085]/.test(text)
}

/** An unchanged input needs no rewrite, which might make the agent block or grant. */
function isChange({ input: patch, original }: Decision): boolean {
  return patch !== undefined && (original === undefined || stableJson(patch) !== stableJson(original))
}
