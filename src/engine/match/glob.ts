import { HookError } from '../core/error.ts'
import type { MatchPart } from './matcher.ts'

const MAX_LENGTH = 1_000

/** One place of a pattern: any run, or a test of one character. */
type Place = 'run' | ((code: number) => boolean)
interface Range {
  readonly low: number
  readonly high: number
}

/** fnmatch on the whole name: `*`, `?`, `[abc]`, `[!a-z]`; case counts, nothing is escaped. */
export function globPart(pattern: string): MatchPart {
  return { kind: 'glob', source: pattern, byName: compileGlob(pattern, { at: 'match.glob', classes: true }) }
}

export function compileGlob(
  pattern: string,
  options: { readonly at: string; readonly classes: boolean },
): (text: string) => boolean {
  if (pattern.length > MAX_LENGTH)
    throw new HookError('match.too_complex', `${options.at} has more than ${MAX_LENGTH} characters`, {
      at: options.at,
    })
  const places = readPlaces(pattern, options.classes)
  return (text) => matches(places, text)
}

/** Two pointers and one way back, to the last run: no input makes it slower than text times pattern. */
function matches(places: readonly Place[], text: string): boolean {
  let place = 0
  let index = 0
  let run = -1
  let resume = 0
  while (index < text.length) {
    const expected = places[place]
    if (expected === 'run') {
      run = place++
      resume = index
      continue
    }
    const code = text.codePointAt(index) ?? 0
    if (expected?.(code)) {
      place++
      index += width(code)
      continue
    }
    if (run < 0) return false
    place = run + 1
    resume += width(text.codePointAt(resume) ?? 0)
    index = resume
  }
  while (places[place] === 'run') place++
  return place === places.length
}

function readPlaces(pattern: string, classes: boolean): Place[] {
  const places: Place[] = []
  let index = 0
  while (index < pattern.length) {
    const code = pattern.codePointAt(index) ?? 0
    const character = pattern[index]
    const end = classes && character === '[' ? classEnd(pattern, index) : -1
    if (end > 0) {
      places.push(readClass(pattern.slice(index + 1, end)))
      index = end + 1
      continue
    }
    if (character === '*') {
      if (places.at(-1) !== 'run') places.push('run')
    } else places.push(character === '?' ? () => true : (other) => other === code)
    index += width(code)
  }
  return places
}

/** A `]` right behind the opening is a member; a class that never ends is a plain `[`. */
function classEnd(pattern: string, start: number): number {
  const first = pattern[start + 1] === '!' ? start + 2 : start + 1
  return pattern.indexOf(']', first + 1)
}

function readClass(inside: string): (code: number) => boolean {
  const negated = inside.startsWith('!')
  const codes = Array.from(negated ? inside.slice(1) : inside, (character) => character.codePointAt(0) ?? 0)
  const ranges: Range[] = []
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
