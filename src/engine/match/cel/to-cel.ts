import type { CelInput } from '@bufbuild/cel'
import { isRecord } from '../../core/check.ts'
import type { Library } from './load.ts'
import { MAX_TEXT, markCut, maxEntries, refuse, spend } from './meter.ts'

const MAX_DEPTH = 64
const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

/** Plain data as CEL sees it. Maps are views that convert what is asked for, so a large payload costs nothing unread. */
export function toCel(library: Library, value: unknown, depth = 0): CelInput | undefined {
  spend(1)
  if (depth > MAX_DEPTH) refuse(`nested deeper than ${MAX_DEPTH} levels`)
  switch (typeof value) {
    case 'string':
      spend(value.length / 256)
      return cutText(value)
    case 'boolean':
      return value
    case 'number':
      // JSON knows one kind of number; `depth + 1` needs an int.
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'bigint':
      return value >= MIN_INT && value <= MAX_INT ? value : Number(value)
    case 'object':
      return value === null ? null : convertObject(library, value, depth)
    default:
      return undefined
  }
}

function convertObject(library: Library, value: object, depth: number): CelInput {
  if (value instanceof Uint8Array) return value.length > MAX_TEXT ? cutBytes(value) : value
  if (Array.isArray(value)) {
    const shown = value.length > maxEntries() ? cutList(value) : value
    return library.celList(shown.map((item) => toCel(library, item, depth + 1) ?? null))
  }
  return library.celMap(new RecordView(library, isRecord(value) ? value : {}, depth + 1))
}

export function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text
  markCut()
  return text.slice(0, MAX_TEXT)
}

function cutBytes(bytes: Uint8Array): Uint8Array {
  markCut()
  return bytes.subarray(0, MAX_TEXT)
}

function cutList(list: readonly unknown[]): readonly unknown[] {
  markCut()
  return list.slice(0, maxEntries())
}

/**
 * Own properties only, and never `__proto__`: nothing of JavaScript shows through. A class, because a literal with
 * eight closures per object read would cost more than the reading.
 */
class RecordView implements ReadonlyMap<string, CelInput> {
  readonly #library: Library
  readonly #record: Record<string, unknown>
  readonly #depth: number

  constructor(library: Library, record: Record<string, unknown>, depth: number) {
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
    if (all.length > maxEntries()) markCut()
    const keys = all.slice(0, maxEntries()).filter((key) => key !== '__proto__' && isData(this.#record[key]))
    spend(4 * keys.length)
    return keys
  }
}

function isData(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}
