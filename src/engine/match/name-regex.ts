import { RE2JS, RE2JSSyntaxException } from 're2js'
import { HookError } from '../core/error.ts'
import type { MatchPart } from './matcher.ts'

const MAX_LENGTH = 1_000
// `x{1000}` a hundred times over is a thousand characters to write and 400 ms to compile.
const MAX_REPEATS = 1_000
// A program the DFA gives up on costs about 20 ns per instruction and character.
const MAX_EXPANSION = 400

const MAX_KEPT = 2_000
const kept = new Map<string, RE2JS>()

/** Compiles an RE2 pattern, or says what is wrong with it and where. Hooks that share a pattern share the program. */
export function compileRegex(pattern: string, at: string): RE2JS {
  const known = kept.get(pattern)
  if (known !== undefined) return known
  const regex = compileWithin(pattern, at)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(pattern, regex)
  return regex
}

/** `at` is the path of the pattern. */
function compileWithin(pattern: string, at: string): RE2JS {
  if (pattern.length > MAX_LENGTH)
    throw tooComplex(at, `has ${pattern.length} characters, the limit is ${MAX_LENGTH}`)
  if (repeats(pattern) > MAX_REPEATS) throw tooComplex(at, `repeats more than ${MAX_REPEATS} times in all`)
  const regex = compile(pattern, at)
  if (regex.programSize() > 2 * pattern.length + MAX_EXPANSION)
    throw tooComplex(at, `unrolls to ${regex.programSize()} steps`)
  return regex
}

/** `^name$` or `^(one|two)$` with nothing that a regular expression gives a meaning to. */
const LITERAL_NAMES = /^\^(?:([\w-]+)|\(([\w-]+(?:\|[\w-]+)*)\))\$$/

/** An RE2 search on the name. Literal names, which most hooks have, are compared without RE2. */
export function nameRegex(pattern: string): MatchPart {
  const literal = LITERAL_NAMES.exec(pattern)
  if (literal !== null && pattern.length <= MAX_LENGTH) {
    const [, one, several = one ?? ''] = literal
    const names = new Set(several.split('|'))
    return { kind: 'matcher', source: pattern, byName: (name) => names.has(name) }
  }
  const regex = compileRegex(pattern, 'matcher')
  // `test` runs on the DFA; `matcher().find()` on the same pattern and input is up to 2 000 times slower.
  return { kind: 'matcher', source: pattern, byName: (name) => regex.test(name) }
}

function compile(pattern: string, at: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw refusal(pattern, error, at)
    throw tooComplex(at, 'cannot be compiled', error)
  }
}

function refusal(pattern: string, error: RE2JSSyntaxException, at: string): HookError {
  const fragment = error.getPattern() ?? ''
  // RE2 hands back the whole pattern when something is missing at its end.
  const atEnd = fragment === '' || error.getDescription().startsWith('missing closing')
  const offset = atEnd ? pattern.length : pattern.indexOf(fragment)
  const missing = lacking(pattern, fragment)
  if (missing)
    return new HookError(
      'match.unsupported',
      `${at} ${shown(pattern)} uses ${missing}, which RE2 does not have`,
      {
        at: `${at}:${offset}`,
        cause: error,
      },
    )
  const detail = `${error.getDescription()} at ${offset}`
  const options = { at: `${at}:${offset}`, cause: error }
  return new HookError(
    'match.syntax',
    `${at} ${shown(pattern)} is not a regular expression: ${detail}`,
    pattern === '*' ? { ...options, hint: 'Leave the matcher out to match every name.' } : options,
  )
}

/** RE2 calls what it lacks by several names; these are the two things people miss. */
function lacking(pattern: string, fragment: string): string | undefined {
  if (/^\(\?<?[=!]/.test(fragment)) return 'look-around'
  if (/^\\(?:[1-9]|k)/.test(fragment)) return 'a back-reference'
  if (fragment === '(?P' && pattern.includes('(?P=')) return 'a back-reference'
  return undefined
}

function repeats(pattern: string): number {
  let sum = 0
  for (const [, low, high] of pattern.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g))
    sum += Math.max(Number(low), Number(high ?? 0))
  return sum
}

function tooComplex(at: string, why: string, cause?: unknown): HookError {
  return new HookError('match.too_complex', `the pattern in ${at} ${why}`, { at, cause })
}

function shown(pattern: string): string {
  return JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern)
}
