import { HookError } from '../engine/core/errors/error.ts'
import { type HandlerCode, handlerError } from '../engine/core/errors/handler-errors.ts'

export interface JsonLimits {
  readonly maxDepth: number
  readonly maxKeys: number
}

/** An object or a list that is not closed yet. */
interface OpenLevel {
  /** The keys so far; undefined for a list. */
  readonly keys: Set<string> | undefined
  /** The key that holds this level. */
  readonly under: string | undefined
  name: string | undefined
}

interface JsonScan {
  readonly text: string
  /** The current position. */
  at: number
  readonly limits: JsonLimits
  readonly levels: OpenLevel[]
  keys: number
  inexact: boolean
}

/** What may come next. A step returns the next step, so that deep nesting cannot exhaust the stack. */
type ScanStep = (scan: JsonScan) => ScanStep | undefined

/**
 * Checks the grammar and the limits in one pass, without recursion, before anything is built from the text. Returns
 * whether a number does not fit a double. Throws an `input.…` error with the position.
 */
export function scanJson(text: string, limits: JsonLimits): boolean {
  const scan: JsonScan = { text, limits, levels: [], at: 0, keys: 0, inexact: false }
  skipWhitespace(scan)
  if (scan.at === text.length) throw handlerError('input.empty', 'the text contains no JSON')
  for (let step: ScanStep | undefined = value; step !== undefined; ) {
    skipWhitespace(scan)
    step = step(scan)
  }
  return scan.inexact
}

const value: ScanStep = (scan) => {
  switch (scan.text[scan.at]) {
    case '{':
      open(scan, new Set())
      return firstKey
    case '[':
      open(scan, undefined)
      return firstItem
    case '"':
      skipString(scan)
      return after
    case 't':
      return literal(scan, 'true')
    case 'f':
      return literal(scan, 'false')
    case 'n':
      return literal(scan, 'null')
    default:
      return number(scan)
  }
}

const firstItem: ScanStep = (scan) => (scan.text[scan.at] === ']' ? after(scan) : value(scan))
const firstKey: ScanStep = (scan) => (scan.text[scan.at] === '}' ? after(scan) : key(scan))

const key: ScanStep = (scan) => {
  const start = scan.at
  if (scan.text[start] !== '"') fail(scan, 'input.json', 'expected a key')
  skipString(scan)
  takeKey(scan, start)
  skipWhitespace(scan)
  if (scan.text[scan.at] !== ':') fail(scan, 'input.json', 'expected a colon')
  scan.at++
  return value
}

const after: ScanStep = (scan) => {
  const level = scan.levels.at(-1)
  const char = scan.text[scan.at]
  if (level === undefined) {
    if (char !== undefined) fail(scan, 'input.json', 'there is text after the end')
    return undefined
  }
  scan.at++
  if (char === ',') return level.keys === undefined ? value : key
  if (char !== (level.keys === undefined ? ']' : '}')) {
    scan.at--
    fail(scan, 'input.json', 'expected a comma or the closing bracket')
  }
  scan.levels.pop()
  return after
}

function open(scan: JsonScan, keys: Set<string> | undefined): void {
  const { levels, limits } = scan
  if (levels.length >= limits.maxDepth)
    fail(scan, 'input.too_deep', `nested deeper than ${limits.maxDepth} levels`)
  levels.push({ keys, under: levels.at(-1)?.name, name: undefined })
  scan.at++
}

function takeKey(scan: JsonScan, start: number): void {
  const { text, levels, limits } = scan
  const level = levels.at(-1)
  const written = text.slice(start + 1, scan.at - 1)
  const name: string = written.includes('\\') ? JSON.parse(text.slice(start, scan.at)) : written
  if (++scan.keys > limits.maxKeys) fail(scan, 'input.too_many_keys', `more than ${limits.maxKeys} keys`)
  scan.at = start
  if (name === '__proto__' || (name === 'prototype' && level?.under === 'constructor'))
    fail(scan, 'input.forbidden_key', `a key could reach a prototype`)
  if (level?.keys?.has(name))
    fail(scan, 'input.duplicate_key', `${JSON.stringify(name.slice(0, 40))} appears twice`)
  scan.at = start + written.length + 2
  level?.keys?.add(name)
  if (level !== undefined) level.name = name
}

function literal(scan: JsonScan, word: string): ScanStep {
  if (!scan.text.startsWith(word, scan.at)) fail(scan, 'input.json', 'expected a value')
  scan.at += word.length
  return after
}

function number(scan: JsonScan): ScanStep {
  numberPattern.lastIndex = scan.at
  const source = numberPattern.exec(scan.text)?.[0]
  if (source === undefined) fail(scan, 'input.json', 'expected a value')
  scan.inexact ||= isInexact(source)
  scan.at += source.length
  return after
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Whether JSON.parse would return another number than the one written. */
export function isInexact(source: string): boolean {
  if (/^-?\d+$/.test(source)) return source.length > 15 && !Number.isSafeInteger(Number(source))
  return !Number.isFinite(Number(source))
}

const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

function skipString(reader: JsonScan): void {
  const { text } = reader
  for (let at = reader.at + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      reader.at = at + 1
      return
    }
    if (code === 0x5c) {
      escapes.lastIndex = reader.at = at
      if (!escapes.test(text)) fail(reader, 'input.json', 'an unknown escape')
      at = escapes.lastIndex - 1
    } else if (!(code >= 0x20)) {
      reader.at = at
      fail(
        reader,
        'input.json',
        at < text.length ? 'a control character in a string' : 'a string is not closed',
      )
    }
  }
}

function skipWhitespace(reader: JsonScan): void {
  const { text } = reader
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    reader.at++
  }
}

/** Throws with the position but never the content, which may be a secret. */
function fail({ text, at }: JsonScan, code: HandlerCode | 'input.too_deep', what: string): never {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const where = `line ${line}, column ${column}`
  const message = `${what}: ${where}${at >= text.length ? ', the end of the text' : ''}`
  if (code === 'input.too_deep') throw new HookError(code, message, { at: where })
  throw handlerError(code, message, { at: where })
}
