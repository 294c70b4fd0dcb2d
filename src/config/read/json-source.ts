import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Path } from '../problem.ts'
import { refuseMonsters, type Source, syntaxFault, type TextPlace, verbatim } from './source.ts'

const OPTIONS = { disallowComments: false, allowTrailingComma: true }

/** JSON with comments and trailing commas. A key twice is an error: two readers could read two things. */
export function jsonSource(text: string): Source {
  const root = parsed(text)
  const value = plainValue(root)
  const offset: Source['offset'] = (path, part) => find(root, path, part).node.offset
  refuseMonsters(value, (path) => offset(path, 'key'))
  return {
    value,
    offset,
    has: (path) => find(root, path, 'value').found,
    inside: (path, place) => insideText(text, find(root, path, 'value').node, place),
  }
}

function parsed(text: string): Node {
  const errors: ParseError[] = []
  const root = treeOf(text, errors)
  const [first] = errors
  if (first !== undefined) throw syntaxFault(sentence(printParseErrorCode(first.error)), first.offset)
  if (root === undefined) throw syntaxFault('the file is empty', 0)
  return root
}

function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, OPTIONS)
  } catch {
    // The parser calls itself once per level, and throws nothing of its own.
    throw syntaxFault('nested too deeply', 0)
  }
}

/** `CommaExpected` → `comma expected`. */
function sentence(code: string): string {
  return code.replace(/(?<=.)([A-Z])/g, ' $1').toLowerCase()
}

function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue)
  if (node.type !== 'object') return node.value
  const object: Record<string, unknown> = {}
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    if (name === '__proto__') throw syntaxFault('the key __proto__ is not allowed', key.offset)
    if (Object.hasOwn(object, name))
      throw syntaxFault(`the key ${JSON.stringify(name.slice(0, 80))} stands here twice`, key.offset)
    object[name] = plainValue(value)
  }
  return object
}

function find(root: Node, path: Path, part: 'key' | 'value'): { node: Node; found: boolean } {
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

function insideText(text: string, node: Node, place: TextPlace): number {
  const raw = text.slice(node.offset, node.offset + node.length)
  return node.offset + (typeof node.value === 'string' ? (verbatim(raw, node.value, place) ?? 0) : 0)
}
