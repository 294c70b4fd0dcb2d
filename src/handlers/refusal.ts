import type { BaseHook } from '../engine/core/hook.ts'
import { redact } from '../safe/secrets/redact.ts'

/** The longest message of a hook that reaches a model. */
const MAX_MESSAGE = 10_000

/** A block or an ask with its texts. The reason goes into rows and logs, so it is one redacted line. */
export function createRefusal(
  kind: 'block' | 'ask',
  texts: { reason?: string; message?: string },
  hook: BaseHook,
): { readonly kind: 'block' | 'ask'; readonly reason: string; readonly message?: string } {
  const { reason: text = '', message = text } = texts
  const reason = redact(text) || redact(message) || defaultReason(kind, hook)
  const longer = message.trim().slice(0, MAX_MESSAGE).toWellFormed()
  return longer === '' || longer === reason ? { kind, reason } : { kind, reason, message: longer }
}

function defaultReason(kind: 'block' | 'ask', { name, id }: BaseHook): string {
  return `${kind === 'block' ? 'blocked' : 'asked for'} by ${name ?? id ?? 'a hook'}`
}

/** Redacts what a command printed line by line, so that a model can still read it. */
export function redactLines(text: string): string {
  // A key in several lines is only recognised as a whole.
  if (/-----BEGIN/.test(text)) return redact(text, MAX_MESSAGE)
  return text
    .split('\n')
    .map((line) => redact(line, MAX_MESSAGE))
    .join('\n')
}
