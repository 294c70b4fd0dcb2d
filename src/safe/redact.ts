import { stripVTControlCharacters } from 'node:util'
import { maskSecrets } from '../engine/core/mask-secrets.ts'

const MASK = '[REDACTED]'
const MAX_BYTES = 256
const MAX_READ = 16_384

/** Blanks stay: they end a secret. */
const invisible = /(?!\s)[\p{Cc}\p{Cf}]/gu
const bearer = /\bbearer\s+[^\s"',;]+/gi
/** A token in place of a name: https://token@host */
const loneUser = /(:\/\/)[^\s/@:]+(?=@)/g
const querySecret = /([?&](?:key|sig|signature|auth|code|jwt|session|sid|pass)=)[^\s&#"']+/gi
const email = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}/gu

/**
 * Any text as one line that may be logged, stored or shown: no secrets, no e-mail addresses, nothing that moves a
 * cursor, and no more than `max` bytes without half a character at the end.
 */
export function redact(text: string, max = MAX_BYTES): string {
  // What is invisible goes first: a secret with an escape sequence inside would not look like one.
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
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
