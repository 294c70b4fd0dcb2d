import { HookError } from '../../engine/core/error.ts'
import type { Path } from '../problem.ts'

/** A parsed text that still knows where everything stands. */
export interface Source {
  readonly value: unknown
  /** Offset of a value, or of its key; of the nearest thing around it where it does not exist. */
  offset(path: Path, part: 'key' | 'value'): number
  /** Whether something stands there. */
  has(path: Path): boolean
  /** Offset of a character of a text value, where it can be told. */
  inside(path: Path, place: TextPlace): number
}

/** A place in a text as its reader counts: an offset, or line and column from 1. */
export type TextPlace = { readonly offset: number } | { readonly line: number; readonly column: number }

/** A text that cannot be parsed; `at` is the offset. */
export function syntaxFault(message: string, offset: number): HookError {
  return new HookError('config.syntax', message, { at: String(offset) })
}

const MAX_DEPTH = 64
const MAX_NODES = 500_000

/**
 * Refuses what no hook file needs and what later walks could choke on: endless nesting, aliases that multiply or bite
 * their own tail, keys that reach for a prototype.
 */
export function refuseMonsters(root: unknown, offsetOf: (path: Path) => number): void {
  let nodes = 0
  const walk = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return
    if (path.length > MAX_DEPTH)
      throw syntaxFault(`nested deeper than ${MAX_DEPTH} levels`, offsetOf(path.slice(0, MAX_DEPTH)))
    for (const [key, item] of Object.entries(value)) {
      if (++nodes > MAX_NODES) throw syntaxFault(`more than ${MAX_NODES} values`, offsetOf(path))
      if (key === '__proto__') throw syntaxFault('the key __proto__ is not allowed', offsetOf([...path, key]))
      if (typeof item === 'object') walk(item, [...path, Array.isArray(value) ? Number(key) : key])
    }
  }
  walk(root, [])
}

/** Line and column, both from 1, of an offset. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** Where a place of a value stands in its raw text, if the raw text contains the value as it is. */
export function verbatim(raw: string, value: string, place: TextPlace): number | undefined {
  const start = raw.indexOf(value)
  if (value === '' || start < 0) return undefined
  return start + offsetIn(value, place)
}

export function offsetIn(value: string, place: TextPlace): number {
  if ('offset' in place) return place.offset
  const lines = value.split('\n').slice(0, place.line - 1)
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + place.column - 1
}
