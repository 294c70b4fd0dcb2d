const MAX_LENGTH = 500
const MAX_READ = 4096
const MASK = '***'

const secretName = '(?:api[-_]?key|token|secret|password|passwd|pwd|credentials?|private[-_]?key)'

/** Each pattern keeps its first group, if it has one, and masks the rest. */
const secrets: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // token=…, "apiKey": "…", OPENAI_API_KEY: …, x-api-key: …
  new RegExp(`(${secretName}["']?\\s*[:=]\\s*["']?)[^\\s"',;&]+`, 'gi'),
  new RegExp(`(--${secretName}\\s+["']?)[^\\s"']+`, 'gi'),
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  // user:password@host
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /\bsk-[\w-]{8,}/g,
  /\b(?:gh[pousr]|github_pat|glpat|npm|gsk|hf|xox[a-z]|xapp|pplx)[_-][\w-]{10,}/g,
  /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  // Telegram bots
  /\b\d{6,}:[\w-]{20,}/g,
]

/** What was thrown as one line that fits a log: no secrets, and no way to forge a second entry. */
export function logText(thrown: unknown): string {
  const line = messageOf(thrown)
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return clip(redact(line) || 'unknown error')
}

/** The first line of what was thrown, for an answer that goes back to the caller. */
export function firstLine(thrown: unknown): string {
  return redact(messageOf(thrown).split('\n', 1)[0]?.trim() ?? '') || 'unknown error'
}

function redact(line: string): string {
  // Far more than is ever shown, and little enough that no pattern can be made to take long.
  return secrets.reduce(
    (left, pattern) =>
      left.replace(pattern, (_, kept: unknown) => (typeof kept === 'string' ? kept : '') + MASK),
    line.slice(0, MAX_READ),
  )
}

/** Never throws, whatever the value does when read. */
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
  // A pair of surrogates is one character; half of it is none.
  return line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}
