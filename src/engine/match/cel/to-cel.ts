import type { CelInput } from '@bufbuild/cel'
import { isRecord } from '../../core/schema/check.ts'
import type { CelLibrary } from './load-cel.ts'
import { MAX_TEXT, markTruncated, maxEntries, refuseEvaluation, spendSteps } from './meter.ts'

const MAX_DEPTH = 64
const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

/** Converts plain data to CEL values. A map converts an entry when it is read, so unread parts of a payload cost nothing. */
export function toCel(library: CelLibrary, value: unknown, depth = 0): CelInput | undefined {
  spendSteps(1)
  if (depth > MAX_DEPTH) refuseEvaluation(`nested deeper than ${MAX_DEPTH} levels`)
  switch (typeof value) {
    case 'string':
      spendSteps(value.length / 256)
      return truncate(value)
    case 'boolean':
      return value
    case 'number':
      // JSON has one type of number, but `depth + 1` needs an int.
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'bigint':
      return value >= MIN_INT && value <= MAX_INT ? value : Number(value)
    case 'object':
      return value === null ? null : convertObject(library, value, depth)
    default:
      return undefined
  }
}

function convertObject(library: CelLibrary, value: object, depth: number): CelInput {
  if (value instanceof Uint8Array) return truncate(value)
  if (Array.isArray(value)) {
    return library.celList(
      truncate(value, maxEntries()).map((item) => toCel(library, item, depth + 1) ?? null),
    )
  }
  return library.celMap(new RecordView(library, isRecord(value) ? value : {}, depth + 1))
}

/** At most so many characters, bytes or entries. */
export function truncate<T extends { readonly length: number; slice(start: number, end: number): T }>(
  value: T,
  max = MAX_TEXT,
): T {
  if (value.length <= max) return value
  markTruncated()
  return value.slice(0, max)
}

/**
 * A map of the own properties of a record, without `__proto__`, so that CEL sees nothing of JavaScript. It is a class
 * because creating eight closures per object would cost more than reading it.
 */
class RecordView implements ReadonlyMap<string, CelInput> {
  readonly #library: CelLibrary
  readonly #record: Record<string, unknown>
  readonly #depth: number

  constructor(library: CelLibrary, record: Record<string, unknown>, depth: number) {
    this.#library = library
    this.#record = record
    this.#depth = depth
  }

  get(key: unknown): CelInput | undefined {
    if (typeof key !== 'string' || key === '__proto__' || !Object.hasOwn(this.#record, key)) return undefined
    return toCel(this.#library, this.#record[key], this.#depth)
  }

  has(key: unknown): boolean {
    return this.get(key) !== undefined
  }

  get size(): number {
    return this.#keys().length
  }

  keys(): MapIterator<string> {
    return this.#keys().values()
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of this.#keys()) yield [key, this.get(key) ?? null]
  }

  *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries()
  }

  forEach(use: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) use(value, key, this)
  }

  #keys(): string[] {
    const all = Object.keys(this.#record)
    if (all.length > maxEntries()) markTruncated()
    const keys = all.slice(0, maxEntries()).filter((key) => key !== '__proto__' && isData(this.#record[key]))
    spendSteps(4 * keys.length)
    return keys
  }
}

function isData(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}
