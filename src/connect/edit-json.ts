import { createScanner, type Node, type SyntaxKind } from 'jsonc-parser'
import {
  locateOffset,
  nodeValue,
  type ParsedConfig,
  parseConfig,
  propertyOf,
  unusableConfig,
} from '../agents/config/read-config.ts'

// jsonc-parser's `modify` fails the tests of these edits (version 3.3.1). Removing the 2 of `[1, // one⏎ 2 // two⏎]` also
// deletes both comments, and removing the only value of `{"a":1,}` leaves `{,}`. A value that it appends takes the line
// comment of the value before it, and it indents lines that it need not touch.

/** `SyntaxKind.CommaToken`. A const enum does not exist at run time. */
const COMMA: SyntaxKind = 5
const BLANK = /[ \t\r\n]/

/**
 * Returns the text with one more item at the end of an array or object. Only the closing bracket moves, so comments stay
 * where they are.
 */
function appendItem(config: ParsedConfig, container: Node, item: string): string {
  const { text, eol, unit } = config
  const last = container.children?.at(-1)
  const close = container.offset + container.length - 1
  const base = indentAt(text, container.offset)
  const inner = innerIndent(text, container) ?? base + unit
  const from = last === undefined ? container.offset + 1 : endOf(last)
  const comma = last === undefined ? undefined : commaAfter(text, from)
  const at = contentEnd(text, from, close)
  const gap = text.slice(at, close)
  const separator = last === undefined || comma !== undefined ? '' : ','
  // Keep the file's style: a list with a trailing comma gets another one.
  const ending = comma === undefined ? '' : ','
  const added = `${eol}${inner}${item.split('\n').join(`${eol}${inner}`)}${ending}`
  return [
    text.slice(0, from),
    separator,
    text.slice(from, at),
    added,
    gap.includes('\n') ? gap : `${eol}${base}`,
    text.slice(close),
  ].join('')
}

/** Returns the text without one item, its comma and its line. Comments around it stay. */
export function removeItem({ text }: ParsedConfig, container: Node, item: Node): string {
  const siblings = container.children ?? []
  const index = siblings.indexOf(item)
  const end = endOf(item)
  const after = commaAfter(text, end)
  const previous = siblings[index - 1]
  const before = after === undefined && previous !== undefined ? commaAfter(text, endOf(previous)) : undefined
  const cuts = [
    ...(before === undefined ? [] : [[before, before + 1] as const]),
    ...cutsAround(text, { start: item.offset, end, comma: after }),
  ]
  const rest = cuts.toReversed().reduce((left, [a, b]) => left.slice(0, a) + left.slice(b), text)
  return collapseEmpty(rest, container.offset)
}

interface ItemRange {
  readonly start: number
  readonly end: number
  /** Offset of the comma after the item. */
  readonly comma: number | undefined
}

/**
 * The ranges to cut for an item: its whole line if nothing else is on it, and its comma if only blanks separate them. A
 * line break before other content stays, because it may end a comment.
 */
function cutsAround(text: string, { start, end, comma }: ItemRange) {
  const joined = comma !== undefined && /^[ \t\r\n]*$/.test(text.slice(end, comma))
  const to = joined ? comma + 1 : end
  const rest = to + (/^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0)
  const isLineEnd = text[rest] === '\n' || text[rest] === '\r'
  const lead = /(\r?\n)?[ \t]*$/.exec(text.slice(0, start))?.[0] ?? ''
  const hasOwnLine = lead.includes('\n') && isLineEnd
  const blanks = lead.includes('\n') ? 0 : lead.length
  const cut: readonly [number, number] = hasOwnLine
    ? [start - lead.length, rest]
    : [comma === undefined ? start - blanks : start, joined && !isLineEnd ? rest : to]
  return joined || comma === undefined ? [cut] : [cut, [comma, comma + 1] as const]
}

/** Writes an array or object that holds only blanks as `[]` or `{}`. */
function collapseEmpty(text: string, open: number): string {
  const blanks = /^[ \t\r\n]*/.exec(text.slice(open + 1))?.[0].length ?? 0
  const close = text[open + 1 + blanks]
  return close === '}' || close === ']' ? text.slice(0, open + 1) + text.slice(open + 1 + blanks) : text
}

/** Whether the value of a property is an empty array or object with no comment in or before it. */
function isEmptyValue(text: string, value: Node): boolean {
  const key = value.parent?.children?.[0]
  if (key === undefined || (value.type !== 'array' && value.type !== 'object')) return false
  return (
    text.slice(endOf(key), value.offset).trim() === ':' &&
    text.slice(value.offset + 1, endOf(value) - 1).trim() === ''
  )
}

function endOf(node: Node): number {
  return node.offset + node.length
}

function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined
}

/** The end of the last value or comment before the closing bracket. */
function contentEnd(text: string, from: number, close: number): number {
  let at = close
  while (at > from && BLANK.test(text[at - 1] ?? '')) at--
  return at
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** The indentation of the first item, if it starts its own line. */
function innerIndent(text: string, container: Node): string | undefined {
  const first = container.children?.[0]
  if (first === undefined) return undefined
  const line = text.slice(text.lastIndexOf('\n', first.offset - 1) + 1, first.offset)
  return text.slice(container.offset, first.offset).includes('\n') && /^[ \t]*$/.test(line) ? line : undefined
}

type KeyPath = readonly string[]

/** A configuration file that is edited by key paths. */
export interface JsonFile {
  readonly text: string
  /** For error messages. */
  readonly path: string
}

/** Returns the text with one more item in the list at a path. Creates the list if it is missing. */
export function addListItem(file: JsonFile, keys: KeyPath, item: unknown): string {
  const config = parseConfig(file.text, file.path)
  const { node, rest } = findNode(config, file.path, keys)
  if (node === undefined) return createRoot(config, nestValue(keys, [item]))
  if (rest.length > 0) return appendItem(config, node, propertyText(config, rest, [item]))
  if (node.type !== 'array')
    throw unusableConfig(locateOffset(file.path, file.text, node.offset), `${keys.join('.')} must be a list`)
  return appendItem(config, node, JSON.stringify(item, undefined, config.unit))
}

/** Returns the text with a value at a path. Replaces the value that is there. */
export function setValue(file: JsonFile, keys: KeyPath, value: unknown): string {
  return insertValue({ ...file, text: removeValue(file, keys, () => true) }, keys, value)
}

/** Returns the text with a value at a path, if there is none. */
export function addMissingValue(file: JsonFile, keys: KeyPath, value: unknown): string {
  const { node, rest } = findNode(parseConfig(file.text, file.path), file.path, keys)
  return node !== undefined && rest.length === 0 ? file.text : insertValue(file, keys, value)
}

function insertValue({ text, path }: JsonFile, keys: KeyPath, value: unknown): string {
  const config = parseConfig(text, path)
  const { node, rest } = findNode(config, path, keys)
  return node === undefined
    ? createRoot(config, nestValue(keys, value))
    : appendItem(config, node, propertyText(config, rest, value))
}

/** Returns the text without the matching items of a list, or without a matching property. Emptied containers stay. */
export function removeValue(file: JsonFile, keys: KeyPath, matches: (value: unknown) => boolean): string {
  const { text, path } = file
  const config = parseConfig(text, path)
  const { node, rest } = findNode(config, path, keys)
  if (node === undefined || rest.length > 0) return text
  if (node.type === 'array') {
    const item = node.children?.find((child) => matches(nodeValue(child)))
    return item === undefined
      ? text
      : removeValue({ text: removeItem(config, node, item), path }, keys, matches)
  }
  const property = node.parent
  const holder = property?.parent
  if (property === undefined || holder === undefined || !matches(nodeValue(node))) return text
  return removeItem(config, holder, property)
}

/** Removes the object or list at a path if it is empty, and then its emptied parents. */
export function removeEmpty({ text, path }: JsonFile, keys: KeyPath): string {
  if (keys.length === 0) return text
  const config = parseConfig(text, path)
  const { node, rest } = findNode(config, path, keys)
  const holder = node?.parent?.parent
  if (node?.parent === undefined || holder === undefined || rest.length > 0) return text
  if (!isEmptyValue(text, node)) return text
  return removeEmpty({ text: removeItem(config, holder, node.parent), path }, keys.slice(0, -1))
}

/** The deepest existing node on a path, and the keys that are missing below it. */
function findNode(
  { root, text }: ParsedConfig,
  path: string,
  keys: KeyPath,
): { readonly node: Node | undefined; readonly rest: KeyPath } {
  let node = root
  for (const [index, key] of keys.entries()) {
    if (node === undefined) break
    if (node.type !== 'object') {
      const name = keys.slice(0, index).join('.') || 'the file'
      throw unusableConfig(locateOffset(path, text, node.offset), `${name} must be an object`)
    }
    const next: Node | undefined = propertyOf(node, key)?.value
    if (next === undefined) return { node, rest: keys.slice(index) }
    node = next
  }
  return { node, rest: [] }
}

/** Adds a root value to a text that holds none. */
function createRoot({ text, eol, unit }: ParsedConfig, value: unknown): string {
  const start = text === '' || text.endsWith('\n') ? text : `${text}${eol}`
  return `${start}${JSON.stringify(value, undefined, unit).replaceAll('\n', eol)}${eol}`
}

function propertyText({ unit }: ParsedConfig, keys: KeyPath, value: unknown): string {
  const [first = '', ...rest] = keys
  return `${JSON.stringify(first)}: ${JSON.stringify(nestValue(rest, value), undefined, unit)}`
}

function nestValue(keys: KeyPath, value: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
}
