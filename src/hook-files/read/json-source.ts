import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { createSource, offsetInRaw, type Source, type SourceNode, sourceSyntaxError } from './source.ts'

const OPTIONS = { disallowComments: false, allowTrailingComma: true }

/** Parses JSON with comments and trailing commas. A duplicate key is an error: two readers could see different values. */
export function jsonSource(text: string): Source {
  const root = parse(text)
  return createSource(plainValue(root), () => nodeOf(text, root))
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

function nodeOf(text: string, { type, offset: start, length, value, children = [] }: Node): SourceNode {
  const isMapping = type === 'object'
  if (isMapping || type === 'array') {
    const inside = isMapping ? children.flatMap((property) => property.children ?? []) : children
    return { start, isMapping, children: inside.map((child) => nodeOf(text, child)) }
  }
  if (typeof value !== 'string') return { start }
  const raw = text.slice(start, start + length)
  return { start, text: value, inside: (position) => start + (offsetInRaw(raw, value, position) ?? 0) }
}
