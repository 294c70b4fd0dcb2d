import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { SchemaPath } from '../../engine/core/schema/schema.ts'
import {
  assertWithinLimits,
  offsetInRaw,
  type Source,
  sourceSyntaxError,
  type TextPosition,
} from './source.ts'

const OPTIONS = { disallowComments: false, allowTrailingComma: true }

/** Parses JSON with comments and trailing commas. A duplicate key is an error: two readers could see different values. */
export function jsonSource(text: string): Source {
  const root = parse(text)
  const value = plainValue(root)
  const offset: Source['offset'] = (path, part) => find(root, path, part).node.offset
  assertWithinLimits(value, (path) => offset(path, 'key'))
  return {
    value,
    offset,
    has: (path) => find(root, path, 'value').found,
    inside: (path, position) => insideText(text, find(root, path, 'value').node, position),
  }
}

function parse(text: string): Node {
  const errors: ParseError[] = []
  const root = treeOf(text, errors)
  const [first] = errors
  if (first !== undefined)
    throw sourceSyntaxError(errorSentence(printParseErrorCode(first.error)), first.offset)
  if (root === undefined) throw sourceSyntaxError('the file is empty', 0)
  return root
}

function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, OPTIONS)
  } catch {
    // The parser is recursive and throws only when the stack overflows.
    throw sourceSyntaxError('nested too deeply', 0)
  }
}

/** `CommaExpected` → `comma expected`. */
function errorSentence(code: string): string {
  return code.replace(/(?<=.)([A-Z])/g, ' $1').toLowerCase()
}

function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue)
  if (node.type !== 'object') return node.value
  const object: Record<string, unknown> = {}
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    if (name === '__proto__') throw sourceSyntaxError('the key __proto__ is not allowed', key.offset)
    if (Object.hasOwn(object, name))
      throw sourceSyntaxError(`the key ${JSON.stringify(name.slice(0, 80))} is used twice`, key.offset)
    object[name] = plainValue(value)
  }
  return object
}

function find(root: Node, path: SchemaPath, part: 'key' | 'value'): { node: Node; found: boolean } {
  let node = root
  for (const [index, step] of path.entries()) {
    const pair = node.children?.[childIndex(node, step)]
    const [key, value] = node.type === 'object' ? (pair?.children ?? []) : [pair, pair]
    if (!key || !value) return { node, found: false }
    node = part === 'key' && index === path.length - 1 ? key : value
  }
  return { node, found: true }
}

function childIndex({ type, children = [] }: Node, step: string | number): number {
  if (type === 'array') return typeof step === 'number' ? step : -1
  return type === 'object'
    ? children.findIndex(({ children: [key] = [] }) => key?.value === String(step))
    : -1
}

function insideText(text: string, node: Node, position: TextPosition): number {
  const raw = text.slice(node.offset, node.offset + node.length)
  return node.offset + (typeof node.value === 'string' ? (offsetInRaw(raw, node.value, position) ?? 0) : 0)
}
