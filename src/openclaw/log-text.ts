import { maskSecrets } from '../engine/core/values/mask-secrets.ts'

const MAX_LENGTH = 500
const MASK = '***'

/** The message of a thrown value as one log line: secrets masked, no line break that could forge a second entry. */
export function logText(thrown: unknown): string {
  const line = messageOf(thrown)
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return clip(maskSecrets(line, MASK) || 'unknown error')
}

/** The first line of a thrown value's message, for an answer to the caller. */
export function firstLine(thrown: unknown): string {
  return maskSecrets(messageOf(thrown).split('\n', 1)[0]?.trim() ?? '', MASK) || 'unknown error'
}

/** Never throws, even if reading the value does. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? withCauses(thrown) : plain(thrown)
  } catch {
    return 'a value that cannot be read was thrown'
  }
}

function withCauses(error: Error): string {
  const parts = [error.message || error.name || 'Error']
  const seen = new Set<unknown>([error])
  for (let cause = error.cause; cause && !seen.has(cause); ) {
    seen.add(cause)
    if (!(cause instanceof Error)) {
      if (typeof cause === 'string') parts.push(cause)
      break
    }
    if (cause.message) parts.push(cause.message)
    cause = cause.cause
  }
  return parts.join(' | ')
}

function plain(thrown: unknown): string {
  if (thrown === undefined || typeof thrown === 'function') return ''
  if (typeof thrown !== 'object') return String(thrown)
  try {
    return JSON.stringify(thrown) ?? ''
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

function clip(line: string): string {
  // Do not cut a surrogate pair in half.
  return line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}
