import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { errorText } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'

/** The content and mode of a configuration file. */
export interface ConfigFileState {
  readonly bytes: Buffer
  readonly mode: number
}

/** A parsed configuration: its text, its syntax tree and its formatting. */
export interface ParsedConfig {
  readonly text: string
  /** Undefined if the text is empty, blank, or only comments. */
  readonly root: Node | undefined
  /** Line ending, and the indentation of one level. */
  readonly eol: string
  readonly unit: string
}

const MAX_BYTES = 16 * 1_048_576
const MAX_CHARACTERS = 8 * 1_048_576
const BOM = '\uFEFF'

/** Returns undefined if the file does not exist. */
export function readConfigState(path: string): ConfigFileState | undefined {
  let file: number
  try {
    // O_NONBLOCK: opening a named pipe would block otherwise.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw unusableConfig(path, `cannot be opened: ${errorText(thrown)}`)
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw unusableConfig(path, 'is not a regular file')
    if (stats.size > MAX_BYTES) throw unusableConfig(path, 'is larger than 16 MiB')
    return { bytes: readFileSync(file), mode: stats.mode & 0o7777 }
  } finally {
    closeSync(file)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decodeConfig(path: string, state: ConfigFileState): string {
  try {
    return utf8.decode(state.bytes)
  } catch {
    throw unusableConfig(path, 'is not UTF-8')
  }
}

/** Parses JSON with comments. Throws for text that another parser could read differently, with line and column. */
export function parseConfig(text: string, path: string): ParsedConfig {
  if (text.length > MAX_CHARACTERS) throw unusableConfig(path, 'is larger than 8 MiB')
  const errors: ParseError[] = []
  const root = parseConfigTree(text, path, errors)
  const [first] = errors
  if (first !== undefined)
    throw unusableConfig(locateOffset(path, text, first.offset), describeParseError(first))
  if (root !== undefined) refuseDuplicateKeys(root, text, path)
  return { text, root, eol: /\r\n/.test(text) ? '\r\n' : '\n', unit: indentUnit(text) }
}

export function splitByteOrderMark(text: string): { readonly mark: string; readonly text: string } {
  return text.startsWith(BOM) ? { mark: BOM, text: text.slice(1) } : { mark: '', text }
}

/** The configuration as data. Objects have no prototype, so `__proto__` is an ordinary key. */
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

/** The error for a configuration that Hookhelm cannot read or write. `where` is a path, perhaps with line and column. */
export function unusableConfig(where: string, why: string, hint?: string): Error {
  return serverError('connect.config', `${where} ${why}`, definedFields({ hint }))
}

/** `file:line:column`, which terminals turn into a link. */
export function locateOffset(path: string, text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `${path}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

function parseConfigTree(text: string, path: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  } catch {
    throw unusableConfig(path, 'is nested too deeply')
  }
}

function describeParseError({ error }: ParseError): string {
  const words = printParseErrorCode(error).replace(/([a-z])([A-Z])/g, '$1 $2')
  return `is not JSON: ${words.toLowerCase()}`
}

/** With a duplicate key, the agent would use the last one and our edits the first. */
function refuseDuplicateKeys(node: Node, text: string, path: string): void {
  const seen = new Set<unknown>()
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined
    if (key !== undefined && seen.has(key.value))
      throw unusableConfig(locateOffset(path, text, key.offset), `names ${JSON.stringify(key.value)} twice`)
    if (key !== undefined) seen.add(key.value)
    refuseDuplicateKeys(child, text, path)
  }
}

function indentUnit(text: string): string {
  return /\n(\t+| +)\S/.exec(text)?.[1] ?? '  '
}
