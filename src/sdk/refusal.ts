import type { Decision } from '../engine/core/decision.ts'
import type { HookError } from '../engine/core/error.ts'
import { serverError } from '../engine/core/server-errors.ts'

/** What a decision says to the model and the user. */
export function messageOf({ message, reason }: Decision): string {
  return message || reason || 'a hook decided so'
}

/** Why something does not happen; nothing when it may. Where nobody can be asked, a question is a no. */
export function refusalOf(decision: Decision): string | undefined {
  if (decision.kind === 'block') return messageOf(decision)
  if (decision.kind === 'ask')
    return `this needs a person's approval, and nobody can be asked here: ${messageOf(decision)}`
  return undefined
}

export function blocked(message: string): HookError {
  return serverError('agent.blocked', message)
}
