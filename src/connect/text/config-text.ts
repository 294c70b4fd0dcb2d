import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { serverError } from '../../engine/core/server-errors.ts'

/** The text of an agent's configuration, and where everything stands in it. */
export interface ConfigText {
  readonly text: string
  /** Nothing when there is no value in it: empty, blank, or comments only. */
  readonly root: Node | undefined
  /** How its lines end, and how deep one step is indented. */
  readonly eol: string
  readonly unit: string
}

/** Beyond this it is no configuration that a person keeps. */
const MAX_CHARACTERS = 8 * 1_048_576
const BOM = '\uFEFF'

/** Reads JSON with comments. What an agent could read differently than we do is refused, with its place. */
export function readConfigText(text: string, path: string): ConfigText {
  if (text.length > MAX_CHARACTERS) throw unusable(path, 'is larger than 8 MiB')
  const errors: ParseError[] = []
  const root = parsed(text, path, errors)
  const [first] = errors
  if (first !== undefined) throw unusable(place(path, text, first.offset), wordsOf(first))
  if (root !== undefined) refuseTwins(root, text, path)
  return { text, root, eol: /\r\n/.test(text) ? '\r\n' : '\n', unit: unitOf(text) }
}

export function withoutMark(text: string): { readonly mark: string; readonly text: string } {
  return text.startsWith(BOM) ? { mark: BOM, text: text.slice(1) } : { mark: '', text }
}

/** The configuration as data; nothing in it can reach a prototype. */
export function nodeValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(nodeValue)
  if (node.type !== 'object') return getNodeValue(node)
  const made: Record<string, unknown> = Object.create(null)
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? []
    if (typeof key?.value === 'string' && value !== undefined) made[key.value] = nodeValue(value)
  }
  return made
}

/** The property of an object, and its value. */
export function propertyOf(
  node: Node,
  name: string,
): { readonly property: Node; readonly value: Node } | undefined {
  if (node.type !== 'object') return undefined
  const property = node.children?.find((child) => child.children?.[0]?.value === name)
  const value = property?.children?.[1]
  return property === undefined || value === undefined ? undefined : { property, value }
}

export function unusable(where: string, why: string, hint?: string): Error {
  return serverError('connect.config', `${where} ${why}`, hint === undefined ? {} : { hint })
}

/** `file:line:column`, as terminals make it clickable. */
export function place(path: string, text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `${path}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

function parsed(text: string, path: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  } catch {
    throw unusable(path, 'is nested too deeply')
  }
}

function wordsOf({ error }: ParseError): string {
  const words = printParseErrorCode(error).replace(/([a-z])([A-Z])/g, '$1 $2')
  return `is not JSON: ${words.toLowerCase()}`
}

/** Of two keys of one name an agent takes the last and an editor the first. */
function refuseTwins(node: Node, text: string, path: string): void {
  const seen = new Set<unknown>()
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined
    if (key !== undefined && seen.has(key.value))
      throw unusable(place(path, text, key.offset), `names ${JSON.stringify(key.value)} twice`)
    if (key !== undefined) seen.add(key.value)
    refuseTwins(child, text, path)
  }
}

function unitOf(text: string): string {
  return /\n(\t+| +)\S/.exec(text)?.[1] ?? '  '
}
