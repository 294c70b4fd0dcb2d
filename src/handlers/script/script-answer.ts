import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'

/** `{decision, reason?, message?, updatedInput?, updatedToolOutput?, additionalContext?}`; anything else is an error of the script. */
export function readScriptAnswer(json: string): unknown {
  const answer: unknown = JSON.parse(json)
  if (!isRecord(answer)) throw unreadable('returned no object')
  const { decision, reason, message, updatedInput, updatedToolOutput, additionalContext } = answer
  // Each is the only thing that its event can change.
  const patch = updatedToolOutput ?? updatedInput
  const texts = { reason: text(reason, 'reason'), message: text(message, 'message') }
  const said = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined))
  switch (decision) {
    case 'allow':
      return {
        kind: 'allow',
        ...said,
        ...(patch === undefined ? {} : { patch }),
        ...(additionalContext === undefined ? {} : { context: text(additionalContext, 'additionalContext') }),
      }
    case 'block':
      return { kind: 'block', reason: 'blocked by a script', ...said }
    case 'ask':
      return { kind: 'ask', reason: 'a script asks', ...said }
    case 'defer':
      // Nobody there to defer to: as strict as it can be read.
      return { kind: 'block', reason: 'a script deferred the decision', ...said }
    default:
      throw unreadable('returned no decision: allow, block or ask')
  }
}

function text(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw unreadable(`returned a ${field} that is no text`)
}

function unreadable(what: string): HookError {
  return new HookError('script.error', `the script ${what}`)
}
