import { RE2JS, RE2JSSyntaxException } from 're2js'
import { HookError } from '../core/errors/error.ts'
import type { MatchPart } from './match-part.ts'

const MAX_LENGTH = 1_000
// A pattern of a thousand characters that repeats `x{1000}` a hundred times takes 400 ms to compile.
const MAX_REPEATS = 1_000
// A program that is too large for the DFA costs about 20 ns per instruction and character.
const MAX_EXPANSION = 400

const MAX_CACHED = 2_000
const cache = new Map<string, RE2JS>()

/**
 * Compiles an RE2 pattern; throws a coded error with the position of the problem. `at` is the path of the pattern.
 * Hooks with the same pattern share the program.
 */
export function compileRegex(pattern: string, at: string): RE2JS {
  const cached = cache.get(pattern)
  if (cached !== undefined) return cached
  const regex = compileWithinLimits(pattern, at)
  const [oldest] = cache.keys()
  if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest)
  cache.set(pattern, regex)
  return regex
}

function compileWithinLimits(pattern: string, at: string): RE2JS {
  if (pattern.length > MAX_LENGTH)
    throw tooComplex(at, `has ${pattern.length} characters, the limit is ${MAX_LENGTH}`)
  if (countRepeats(pattern) > MAX_REPEATS)
    throw tooComplex(at, `repeats more than ${MAX_REPEATS} times in all`)
  const regex = compile(pattern, at)
  if (regex.programSize() > 2 * pattern.length + MAX_EXPANSION)
    throw tooComplex(at, `unrolls to ${regex.programSize()} steps`)
  return regex
}

/** `^name$` or `^(one|two)$` with literal names. */
const LITERAL_NAMES = /^\^(?:([\w-]+)|\(([\w-]+(?:\|[\w-]+)*)\))\$$/

/** `matcher`: an RE2 search on the name. Literal names, which most hooks have, are compared without RE2. */
export function regexPart(pattern: string): MatchPart {
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
    if (error instanceof RE2JSSyntaxException) throw syntaxError(pattern, error, at)
    throw tooComplex(at, 'cannot be compiled', error)
  }
}

function syntaxError(pattern: string, error: RE2JSSyntaxException, at: string): HookError {
  const fragment = error.getPattern() ?? ''
  // RE2 reports the whole pattern if something is missing at its end.
  const atEnd = fragment === '' || error.getDescription().startsWith('missing closing')
  const offset = atEnd ? pattern.length : pattern.indexOf(fragment)
  const options = { at: `${at}:${offset}`, cause: error }
  const shown = `${at} ${JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern)}`
  const unsupported = unsupportedFeature(pattern, fragment)
  if (unsupported)
    return new HookError(
      'match.unsupported',
      `${shown} uses ${unsupported}, which RE2 does not have`,
      options,
    )
  const message = `${shown} is not a regular expression: ${error.getDescription()} at ${offset}`
  const hint = pattern === '*' ? { hint: 'Leave the matcher out to match every name.' } : {}
  return new HookError('match.syntax', message, { ...options, ...hint })
}

/** RE2 has several messages for the features that it lacks; these two are the common ones. */
function unsupportedFeature(pattern: string, fragment: string): string | undefined {
  if (/^\(\?<?[=!]/.test(fragment)) return 'look-around'
  if (/^\\(?:[1-9]|k)/.test(fragment)) return 'a back-reference'
  if (fragment === '(?P' && pattern.includes('(?P=')) return 'a back-reference'
  return undefined
}

function countRepeats(pattern: string): number {
  let sum = 0
  for (const [, low, high] of pattern.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g))
    sum += Math.max(Number(low), Number(high ?? 0))
  return sum
}

function tooComplex(at: string, why: string, cause?: unknown): HookError {
  return new HookError('match.too_complex', `the pattern in ${at} ${why}`, { at, cause })
}
