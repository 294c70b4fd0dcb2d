import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { SchemaPath } from '../../engine/core/schema/schema.ts'

/** A parsed text that knows the offsets of its keys and values. */
export interface Source {
  readonly value: unknown
  /** Offset of a value or of its key. For a path that does not exist: of the innermost value that contains it. */
  offset(path: SchemaPath, part: 'key' | 'value'): number
  /** Whether the path exists. */
  has(path: SchemaPath): boolean
  /** Offset of a character inside a text value, or of the value if the character cannot be found. */
  inside(path: SchemaPath, position: TextPosition): number
}

/** A position in a text: an offset, or line and column from 1. */
export type TextPosition = { readonly offset: number } | { readonly line: number; readonly column: number }

/** A key or a value where it is in the text. */
export interface SourceNode {
  readonly start: number
  /** The items of a list; keys and values in turn for a mapping. */
  readonly children?: SourceNode[]
  readonly isMapping?: boolean
  /** The value is elsewhere in the text, and its positions are not searched. */
  readonly isAlias?: true
  /** The text of a scalar. */
  readonly text?: string
  /** Offset of a character in the text of a scalar. */
  readonly inside?: (position: TextPosition) => number
}

/** A source whose nodes are read when a position is asked for: only a file with a problem needs them. */
export function createSource(value: unknown, readNodes: () => SourceNode): Source {
  let root: SourceNode | undefined
  const find = (path: SchemaPath, part: 'key' | 'value') => {
    root ??= readNodes()
    return findNode(root, path, part)
  }
  const offset: Source['offset'] = (path, part) => find(path, part).node.start
  assertWithinLimits(value, (path) => offset(path, 'key'))
  return {
    value,
    offset,
    has: (path) => find(path, 'value').found,
    inside(path, position) {
      const { node } = find(path, 'value')
      return node.inside?.(position) ?? node.start
    },
  }
}

function findNode(
  root: SourceNode,
  path: SchemaPath,
  part: 'key' | 'value',
): { node: SourceNode; found: boolean } {
  let node = root
  for (const [index, step] of path.entries()) {
    const at = childIndex(node, step)
    const key = node.children?.[at]
    const value = node.isMapping ? node.children?.[at + 1] : key
    if (!key || !value) return { node, found: false }
    node = part === 'key' && index === path.length - 1 ? key : value
    if (node.isAlias) return { node, found: true }
  }
  return { node, found: true }
}

function childIndex({ children = [], isMapping }: SourceNode, step: string | number): number {
  if (!isMapping) return typeof step === 'number' ? step : -1
  return children.findIndex(({ text }, at) => at % 2 === 0 && text === String(step))
}

/** The error of a text that cannot be parsed; `at` is the offset. */
export function sourceSyntaxError(message: string, offset: number): HookError {
  return handlerError('config.syntax', message, { at: String(offset) })
}

const MAX_DEPTH = 64
const MAX_NODES = 500_000

/**
 * Throws for values that no hook file needs and that could exhaust or trick later code: deep nesting, cyclic or
 * multiplying aliases, the key `__proto__`.
 */
function assertWithinLimits(root: unknown, offsetOf: (path: SchemaPath) => number): void {
  let nodes = 0
  const walk = (value: unknown, path: SchemaPath): void => {
    if (typeof value !== 'object' || value === null) return
    if (path.length > MAX_DEPTH)
      throw sourceSyntaxError(`nested deeper than ${MAX_DEPTH} levels`, offsetOf(path.slice(0, MAX_DEPTH)))
    for (const [key, item] of Object.entries(value)) {
      if (++nodes > MAX_NODES) throw sourceSyntaxError(`more than ${MAX_NODES} values`, offsetOf(path))
      if (key === '__proto__')
        throw sourceSyntaxError('the key __proto__ is not allowed', offsetOf([...path, key]))
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

/** The offset of a position in the raw text, if the raw text contains the value unescaped. */
export function offsetInRaw(raw: string, value: string, position: TextPosition): number | undefined {
  const start = raw.indexOf(value)
  if (value === '' || start < 0) return undefined
  return start + offsetIn(value, position)
}

/** The offset of a position in a text. */
export function offsetIn(value: string, position: TextPosition): number {
  if ('offset' in position) return position.offset
  const lines = value.split('\n').slice(0, position.line - 1)
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + position.column - 1
}
