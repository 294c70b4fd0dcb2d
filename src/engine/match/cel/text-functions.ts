import type { CelFunc, CelList, CelValue } from '@bufbuild/cel'
import { loadCel } from './load.ts'
import { MAX_TEXT, maxEntries, refuse, spend } from './meter.ts'

/** Our own versions of the functions whose output, in the library, grows without limit, and of the slow `size`. */
export function textFunctions(): CelFunc[] {
  const { cel, strings } = loadCel()
  const { STRING, INT, DYN } = cel.CelScalar
  const LIST = cel.listType(DYN)
  const format = strings.find(({ name }) => name === 'format')
  return [
    cel.celFunc('size', [STRING], INT, codePoints),
    cel.celMethod('size', STRING, [], INT, function () {
      return codePoints(this)
    }),
    cel.celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
      return replace(this, from, to, -1)
    }),
    cel.celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, limit) {
      return replace(this, from, to, Number(limit))
    }),
    cel.celMethod('split', STRING, [STRING], LIST, function (by) {
      return split(this, by, -1)
    }),
    cel.celMethod('split', STRING, [STRING, INT], LIST, function (by, limit) {
      return split(this, by, Number(limit))
    }),
    cel.celMethod('join', LIST, [], STRING, function () {
      return join(this, '')
    }),
    cel.celMethod('join', LIST, [STRING], STRING, function (by) {
      return join(this, by)
    }),
    cel.celMethod('format', STRING, [LIST], STRING, function (args) {
      capped(this.length + lengthOf(args), 'format')
      spend(8 * this.length)
      const text = format?.call(0, this, [args])
      if (typeof text !== 'string') refuse('format does not fit its arguments')
      capped(text.length, 'format')
      return text
    }),
  ]
}

/** Every search of one text in another can be made to take length times length. */
export function searchCost(text: string, part: string): number {
  return 1 + text.length / 16 + (text.length * part.length) / 100
}

function codePoints(text: string): bigint {
  spend(text.length / 8)
  let count = 0
  for (let index = 0; index < text.length; count++) index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return BigInt(count)
}

function replace(text: string, from: string, to: string, limit: number): string {
  spend(searchCost(text, from) + text.length)
  const pieces = splitAtMost(text, from, limit < 0 ? Number.POSITIVE_INFINITY : limit)
  capped(text.length + (pieces.length - 1) * (to.length - from.length), 'replace')
  return pieces.join(to)
}

function splitAtMost(text: string, by: string, cuts: number): string[] {
  // As in Go: the empty text stands before, between and behind all characters.
  const all = by === '' ? ['', ...text, ''] : text.split(by)
  if (all.length - 1 <= cuts) return all
  const rest = all.slice(cuts).join(by)
  return [...all.slice(0, cuts), rest]
}

function split(text: string, by: string, limit: number): string[] {
  spend(searchCost(text, by) + text.length)
  const pieces = by === '' ? Array.from(text) : text.split(by)
  const kept = limit < 0 || pieces.length <= limit ? pieces : pieces.slice(0, limit)
  if (kept.length > maxEntries()) refuse(`split gives more than ${maxEntries()} parts`)
  // With a limit the last part is all that is left, as in Go; nothing of the text is lost.
  if (limit > 0 && kept.length < pieces.length) kept[limit - 1] = pieces.slice(limit - 1).join(by)
  return kept
}

function join(list: CelList, by: string): string {
  const texts: string[] = []
  let length = 0
  for (const item of list) {
    if (typeof item !== 'string') refuse('join needs a list of strings')
    length += item.length + (texts.length > 0 ? by.length : 0)
    capped(length, 'join')
    texts.push(item)
  }
  spend(length / 8)
  return texts.join(by)
}

/** How long a value is when written out, at least. */
function lengthOf(value: CelValue): number {
  const { cel } = loadCel()
  spend(4)
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return value.length
  if (cel.isCelList(value)) return sum(value.values())
  return cel.isCelMap(value) ? sum(value.keys()) + sum(value.values()) : 1
}

function sum(values: Iterable<CelValue>): number {
  let total = 0
  for (const value of values) total += capped(lengthOf(value), 'format')
  return capped(total, 'format')
}

function capped(length: number, name: string): number {
  if (length > MAX_TEXT) refuse(`${name} gives more than ${MAX_TEXT} characters`)
  return length
}
