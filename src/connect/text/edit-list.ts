import { createScanner, type Node, type SyntaxKind } from 'jsonc-parser'
import type { ConfigText } from './config-text.ts'

/** `SyntaxKind.CommaToken`; the enum is gone when types are stripped. */
const COMMA: SyntaxKind = 5
const BLANK = /[ \t\r\n]/

/**
 * The text with one more item at the end of an array or object. Nothing that is there moves but the closing bracket:
 * comments stay with what they are about.
 */
export function append(config: ConfigText, container: Node, item: string): string {
  const { text, eol, unit } = config
  const last = container.children?.at(-1)
  const close = container.offset + container.length - 1
  const base = indentAt(text, container.offset)
  const inner = innerIndent(text, container) ?? base + unit
  const from = last === undefined ? container.offset + 1 : endOf(last)
  const comma = last === undefined ? undefined : commaAfter(text, from)
  const at = trimmedEnd(text, from, close)
  const gap = text.slice(at, close)
  const separator = last === undefined || comma !== undefined ? '' : ','
  // A trailing comma is a habit of this file, and kept.
  const ending = comma === undefined ? '' : ','
  const added = `${eol}${inner}${indented(item, inner, eol)}${ending}`
  return [
    text.slice(0, from),
    separator,
    text.slice(from, at),
    added,
    gap.includes('\n') ? gap : `${eol}${base}`,
    text.slice(close),
  ].join('')
}

/** The text without one item, its comma and its line; comments around it stay. */
export function remove({ text }: ConfigText, container: Node, item: Node): string {
  const siblings = container.children ?? []
  const index = siblings.indexOf(item)
  const end = endOf(item)
  const after = commaAfter(text, end)
  const previous = siblings[index - 1]
  const before = after === undefined && previous !== undefined ? commaAfter(text, endOf(previous)) : undefined
  const cuts = [
    ...(before === undefined ? [] : [[before, before + 1] as const]),
    ...cutsAround(text, item.offset, end, after),
  ]
  const rest = cuts.toReversed().reduce((left, [a, b]) => left.slice(0, a) + left.slice(b), text)
  return collapsed(rest, container.offset)
}

/**
 * With its line when nothing else stands there, and with its comma when only blanks lie between. A line end stays where
 * something follows: it may be the end of a comment.
 */
function cutsAround(text: string, start: number, end: number, comma: number | undefined) {
  const joined = comma !== undefined && /^[ \t\r\n]*$/.test(text.slice(end, comma))
  const to = joined ? comma + 1 : end
  const rest = to + blanksFrom(text, to)
  const isLineEnd = text[rest] === '\n' || text[rest] === '\r'
  const lead = /(\r?\n)?[ \t]*$/.exec(text.slice(0, start))?.[0] ?? ''
  const hasOwnLine = lead.includes('\n') && isLineEnd
  const blanks = lead.includes('\n') ? 0 : lead.length
  const cut: readonly [number, number] = hasOwnLine
    ? [start - lead.length, rest]
    : [comma === undefined ? start - blanks : start, joined && !isLineEnd ? rest : to]
  return joined || comma === undefined ? [cut] : [cut, [comma, comma + 1] as const]
}

function blanksFrom(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0
}

/** An array or object with nothing but blanks in it is written as an empty one. */
function collapsed(text: string, open: number): string {
  const blanks = /^[ \t\r\n]*/.exec(text.slice(open + 1))?.[0].length ?? 0
  const close = text[open + 1 + blanks]
  return close === '}' || close === ']' ? text.slice(0, open + 1) + text.slice(open + 1 + blanks) : text
}

/** Whether the value of a property is an empty array or object, and nobody left a comment in it or before it. */
export function isBare(text: string, value: Node): boolean {
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

/** Where the last thing before the closing bracket ends, be it a comment. */
function trimmedEnd(text: string, from: number, close: number): number {
  let at = close
  while (at > from && BLANK.test(text[at - 1] ?? '')) at--
  return at
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** As the first item is indented, where it has a line of its own. */
function innerIndent(text: string, container: Node): string | undefined {
  const first = container.children?.[0]
  if (first === undefined) return undefined
  const line = text.slice(text.lastIndexOf('\n', first.offset - 1) + 1, first.offset)
  return text.slice(container.offset, first.offset).includes('\n') && /^[ \t]*$/.test(line) ? line : undefined
}

function indented(item: string, indent: string, eol: string): string {
  return item.split('\n').join(`${eol}${indent}`)
}
