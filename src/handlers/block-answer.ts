import type { BaseHook } from '../engine/core/hook.ts'
import { redact } from '../safe/redact.ts'

/** As much as a model is given of what a hook says. */
const MAX_MESSAGE = 10_000

interface Refusal {
  readonly kind: 'block' | 'ask'
  readonly reason: string
  readonly message?: string
}

/** A block or an ask with its words. The reason goes into rows and logs, so it is one redacted line. */
export function refusal(
  kind: 'block' | 'ask',
  words: { reason?: string; message?: string },
  hook: BaseHook,
): Refusal {
  const { reason: text = '', message = text } = words
  const reason = redact(text) || redact(message) || defaultReason(kind, hook)
  const longer = message.trim().slice(0, MAX_MESSAGE).toWellFormed()
  return longer === '' || longer === reason ? { kind, reason } : { kind, reason, message: longer }
}

function defaultReason(kind: 'block' | 'ask', { name, id }: BaseHook): string {
  return `${kind === 'block' ? 'blocked' : 'asked for'} by ${name ?? id ?? 'a hook'}`
}

/** What a command printed, for a model to read: its lines stay, its secrets do not. */
export function redactLines(text: string): string {
  // A key in a block of lines is only recognised as a whole.
  if (/-----BEGIN/.test(text)) return redact(text, MAX_MESSAGE)
  return text
    .split('\n')
    .map((line) => redact(line, MAX_MESSAGE))
    .join('\n')
}
