import { stripVTControlCharacters } from 'node:util'
import { maskSecrets } from '../../engine/core/values/mask-secrets.ts'

const MASK = '[REDACTED]'
const MAX_BYTES = 256
const MAX_READ = 16_384

/** Whitespace stays, because it ends a secret. */
const invisible = /(?!\s)[\p{Cc}\p{Cf}]/gu
const bearer = /\bbearer\s+[^\s"',;]+/gi
/** A token as the user name: https://token@host */
const loneUser = /(:\/\/)[^\s/@:]+(?=@)/g
const querySecret = /([?&](?:key|sig|signature|auth|code|jwt|session|sid|pass)=)[^\s&#"']+/gi
const email = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}/gu

/**
 * Converts any text to one line that is safe to log, store or show: no secrets, no e-mail addresses, no control
 * characters, and at most `max` bytes, cut between characters.
 */
export function redact(text: string, max = MAX_BYTES): string {
  // Remove invisible characters first: an escape sequence inside a secret would hide it from the patterns.
  const visible = stripVTControlCharacters(text.slice(0, MAX_READ)).replace(invisible, '')
  const masked = maskSecrets(visible.replace(bearer, MASK), MASK)
    .replace(loneUser, `$1${MASK}`)
    .replace(querySecret, `$1${MASK}`)
    .replace(email, MASK)
  return clipBytes(masked.replace(/\s+/g, ' ').trim(), max)
}

function clipBytes(line: string, max: number): string {
  const bytes = Buffer.from(line)
  if (bytes.length <= max) return line.toWellFormed()
  let end = max
  // A byte 10xxxxxx continues the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
