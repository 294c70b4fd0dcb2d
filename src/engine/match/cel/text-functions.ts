import type { CelFunc, CelList, CelValue } from '@bufbuild/cel'
import { loadCel } from './load-cel.ts'
import { MAX_TEXT, maxEntries, refuseEvaluation, spendSteps } from './meter.ts'

/** Replacements for the functions of the library whose output has no limit, and for its slow `size`. */
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
      assertLength(this.length + lengthOf(args), 'format')
      spendSteps(8 * this.length)
      const text = format?.call(0, this, [args])
      if (typeof text !== 'string') refuseEvaluation('format does not fit its arguments')
      assertLength(text.length, 'format')
      return text
    }),
  ]
}

/** The worst case of searching one text in another is the product of their lengths. */
export function searchCost(text: string, part: string): number {
  return 1 + text.length / 16 + (text.length * part.length) / 100
}

function codePoints(text: string): bigint {
  spendSteps(text.length / 8)
  let count = 0
  for (let index = 0; index < text.length; count++) index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return BigInt(count)
}

function replace(text: string, from: string, to: string, limit: number): string {
  spendSteps(searchCost(text, from) + text.length)
  const pieces = splitAtMost(text, from, limit < 0 ? Number.POSITIVE_INFINITY : limit)
  assertLength(text.length + (pieces.length - 1) * (to.length - from.length), 'replace')
  return pieces.join(to)
}

function splitAtMost(text: string, by: string, cuts: number): string[] {
  // As in Go: the empty text occurs before, between and after all characters.
  const all = by === '' ? ['', ...text, ''] : text.split(by)
  if (all.length - 1 <= cuts) return all
  const rest = all.slice(cuts).join(by)
  return [...all.slice(0, cuts), rest]
}

function split(text: string, by: string, limit: number): string[] {
  spendSteps(searchCost(text, by) + text.length)
  const pieces = by === '' ? Array.from(text) : text.split(by)
  const kept = limit < 0 || pieces.length <= limit ? pieces : pieces.slice(0, limit)
  if (kept.length > maxEntries()) refuseEvaluation(`split gives more than ${maxEntries()} parts`)
  // As in Go: with a limit the last part is the rest of the text.
  if (limit > 0 && kept.length < pieces.length) kept[limit - 1] = pieces.slice(limit - 1).join(by)
  return kept
}

function join(list: CelList, by: string): string {
  const texts: string[] = []
  let length = 0
  for (const item of list) {
    if (typeof item !== 'string') refuseEvaluation('join needs a list of strings')
    length += item.length + (texts.length > 0 ? by.length : 0)
    assertLength(length, 'join')
    texts.push(item)
  }
  spendSteps(length / 8)
  return texts.join(by)
}

/** The minimum length of a value when formatted. */
function lengthOf(value: CelValue): number {
  const { cel } = loadCel()
  spendSteps(4)
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return value.length
  if (cel.isCelList(value)) return sum(value.values())
  return cel.isCelMap(value) ? sum(value.keys()) + sum(value.values()) : 1
}

function sum(values: Iterable<CelValue>): number {
  let total = 0
  for (const value of values) total += assertLength(lengthOf(value), 'format')
  return assertLength(total, 'format')
}

function assertLength(length: number, name: string): number {
  if (length > MAX_TEXT) refuseEvaluation(`${name} gives more than ${MAX_TEXT} characters`)
  return length
}
