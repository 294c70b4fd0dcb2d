import { HookError } from '../core/errors/error.ts'
import type { MatchPart } from './match-part.ts'

const MAX_LENGTH = 1_000

/** One token of a pattern: `*`, or a test of one character. */
type Token = 'any' | ((code: number) => boolean)

/** `match.glob`: fnmatch on the whole name with `*`, `?`, `[abc]` and `[!a-z]`; case-sensitive, without escapes. */
export function globPart(pattern: string): MatchPart {
  return { kind: 'glob', source: pattern, byName: compileGlob(pattern, { at: 'match.glob', classes: true }) }
}

/** Compiles a glob into a test of a whole text. `classes` enables `[abc]`. */
export function compileGlob(
  pattern: string,
  { at, classes }: { readonly at: string; readonly classes: boolean },
): (text: string) => boolean {
  if (pattern.length > MAX_LENGTH)
    throw new HookError('match.too_complex', `${at} has more than ${MAX_LENGTH} characters`, { at })
  const tokens = readTokens(pattern, classes)
  return (text) => matchesTokens(tokens, text)
}

/** Backtracks only to the last `*`, so the time is at most the length of the text times that of the pattern. */
function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let token = 0
  let index = 0
  let lastAny = -1
  let resume = 0
  while (index < text.length) {
    const expected = tokens[token]
    if (expected === 'any') {
      lastAny = token++
      resume = index
      continue
    }
    const code = text.codePointAt(index) ?? 0
    if (expected?.(code)) {
      token++
      index += width(code)
      continue
    }
    if (lastAny < 0) return false
    token = lastAny + 1
    resume += width(text.codePointAt(resume) ?? 0)
    index = resume
  }
  while (tokens[token] === 'any') token++
  return token === tokens.length
}

function readTokens(pattern: string, classes: boolean): Token[] {
  const tokens: Token[] = []
  let index = 0
  while (index < pattern.length) {
    const code = pattern.codePointAt(index) ?? 0
    const character = pattern[index]
    const end = classes && character === '[' ? classEnd(pattern, index) : -1
    if (end > 0) {
      tokens.push(readClass(pattern.slice(index + 1, end)))
      index = end + 1
      continue
    }
    if (character === '*') {
      if (tokens.at(-1) !== 'any') tokens.push('any')
    } else tokens.push(character === '?' ? () => true : (other) => other === code)
    index += width(code)
  }
  return tokens
}

/** A `]` directly after the opening is a member; a `[` without an end is a plain character. */
function classEnd(pattern: string, start: number): number {
  const first = pattern[start + 1] === '!' ? start + 2 : start + 1
  return pattern.indexOf(']', first + 1)
}

function readClass(inside: string): (code: number) => boolean {
  const negated = inside.startsWith('!')
  const codes = Array.from(negated ? inside.slice(1) : inside, (character) => character.codePointAt(0) ?? 0)
  const ranges: { readonly low: number; readonly high: number }[] = []
  for (let index = 0; index < codes.length; index++) {
    const low = codes[index] ?? 0
    const high = codes[index + 1] === DASH ? codes[index + 2] : undefined
    ranges.push({ low, high: high ?? low })
    if (high !== undefined) index += 2
  }
  return (code) => ranges.some(({ low, high }) => low <= code && code <= high) !== negated
}

const DASH = 0x2d
const width = (code: number): number => (code > 0xffff ? 2 : 1)
