import type { Decision } from '../../engine/core/decision.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import type { ClientOutcome, Effect } from '../agent-adapter.ts'

/** What a client will do, and what of the decision it cannot. */
export interface DeliveredOutcome {
  readonly outcome: ClientOutcome
  readonly undelivered: readonly Effect[]
}

/**
 * The decision as far as a client carries it out. What it cannot ask or change is blocked where it can block: an input that
 * a hook did not want must not run because the client knows no better.
 */
export function deliverDecision(
  decision: Decision,
  honours: readonly Effect[],
  title: string,
): DeliveredOutcome {
  const can = (effect: Effect) => honours.includes(effect)
  const { kind, grant, context = [] } = decision
  const patch = isChange(decision) ? decision.input : undefined
  const message = [decision.message, decision.reason].find(says) ?? 'a hook decided so'
  const notes = context.length > 0 && can('context') ? { context: context.join('\n') } : {}
  const unheard: Effect[] = context.length > 0 && !can('context') ? ['context'] : []

  const refuse = (text: string, missing: Effect): DeliveredOutcome =>
    can('block')
      ? { outcome: { kind: 'block', message: text }, undelivered: [] }
      : { outcome: { kind: 'pass', message, ...notes }, undelivered: [missing, ...unheard] }

  if (kind === 'block') return refuse(message, 'block')
  if (patch !== undefined && !can('rewrite'))
    return refuse(`a hook changed this, and ${title} cannot take the change here: ${message}`, 'rewrite')
  if (kind === 'ask' && !can('ask'))
    return refuse(`this needs a person's approval, and ${title} cannot ask here: ${message}`, 'ask')
  const changed = patch === undefined ? {} : { input: patch }
  const granted = grant === true && can('grant') ? 'grant' : 'pass'
  return {
    outcome: { kind: kind === 'ask' ? 'ask' : granted, message, ...changed, ...notes },
    undelivered: grant === true && !can('grant') ? ['grant', ...unheard] : unheard,
  }
}

/** Clients take a text of blanks for none, and a block without a reason for no block. */
function says(text: string | undefined): boolean {
  return text !== undefined && /[^\s\u0085]/.test(text)
}

/** An input that is handed back as it came asks nothing of the client, which might block or grant for it. */
function isChange({ input: patch, original }: Decision): boolean {
  return patch !== undefined && (original === undefined || stableJson(patch) !== stableJson(original))
}
