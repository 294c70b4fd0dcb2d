import { HookError } from '../engine/core/error.ts'
import type { EngineCode } from '../engine/core/error-table.ts'

export interface JsonLimits {
  readonly maxDepth: number
  readonly maxKeys: number
}

/** An object or a list that is not closed yet. */
interface Level {
  /** The keys so far; a list has none. */
  readonly keys: Set<string> | undefined
  /** The key under which this level stands. */
  readonly under: string | undefined
  name: string | undefined
}

interface Scan extends Reader {
  readonly limits: JsonLimits
  readonly levels: Level[]
  keys: number
  inexact: boolean
}

/** What may come next. Steps answer the next step, so that no depth of nesting can use up the stack. */
type Step = (scan: Scan) => Step | undefined

/**
 * Checks all of the grammar in one pass and without recursion, before anything is built from the text: the position
 * of an error is ours, and no limit can be passed by nesting. Answers whether a number does not fit a double.
 */
export function scanJson(text: string, limits: JsonLimits): boolean {
  const scan: Scan = { text, limits, levels: [], at: 0, keys: 0, inexact: false }
  skipBlanks(scan)
  if (scan.at === text.length) throw new HookError('input.empty', 'there is no JSON, only blanks')
  for (let step: Step | undefined = value; step !== undefined; ) {
    skipBlanks(scan)
    step = step(scan)
  }
  return scan.inexact
}

const value: Step = (scan) => {
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

const firstItem: Step = (scan) => (scan.text[scan.at] === ']' ? after(scan) : value(scan))
const firstKey: Step = (scan) => (scan.text[scan.at] === '}' ? after(scan) : key(scan))

const key: Step = (scan) => {
  const start = scan.at
  if (scan.text[start] !== '"') fail(scan, 'input.json', 'a key was expected')
  skipString(scan)
  takeKey(scan, start)
  skipBlanks(scan)
  if (scan.text[scan.at] !== ':') fail(scan, 'input.json', 'a colon was expected')
  scan.at++
  return value
}

const after: Step = (scan) => {
  const level = scan.levels.at(-1)
  const char = scan.text[scan.at]
  if (level === undefined) {
    if (char !== undefined) fail(scan, 'input.json', 'there is text behind the end')
    return undefined
  }
  scan.at++
  if (char === ',') return level.keys === undefined ? value : key
  if (char !== (level.keys === undefined ? ']' : '}')) {
    scan.at--
    fail(scan, 'input.json', 'a comma or the closing bracket was expected')
  }
  scan.levels.pop()
  return after
}

function open(scan: Scan, keys: Set<string> | undefined): void {
  const { levels, limits } = scan
  if (levels.length >= limits.maxDepth)
    fail(scan, 'input.too_deep', `nested deeper than ${limits.maxDepth} levels`)
  levels.push({ keys, under: levels.at(-1)?.name, name: undefined })
  scan.at++
}

function takeKey(scan: Scan, start: number): void {
  const { text, levels, limits } = scan
  const level = levels.at(-1)
  const written = text.slice(start + 1, scan.at - 1)
  const name: string = written.includes('\\') ? JSON.parse(text.slice(start, scan.at)) : written
  if (++scan.keys > limits.maxKeys) fail(scan, 'input.too_many_keys', `more than ${limits.maxKeys} keys`)
  scan.at = start
  if (name === '__proto__' || (name === 'prototype' && level?.under === 'constructor'))
    fail(scan, 'input.forbidden_key', `a key could reach a prototype`)
  if (level?.keys?.has(name))
    fail(scan, 'input.duplicate_key', `${JSON.stringify(name.slice(0, 40))} stands there twice`)
  scan.at = start + written.length + 2
  level?.keys?.add(name)
  if (level !== undefined) level.name = name
}

function literal(scan: Scan, word: string): Step {
  if (!scan.text.startsWith(word, scan.at)) fail(scan, 'input.json', 'a value was expected')
  scan.at += word.length
  return after
}

function number(scan: Scan): Step {
  const source = numberAt(scan)
  if (source === undefined) fail(scan, 'input.json', 'a value was expected')
  scan.inexact ||= isInexact(source)
  scan.at += source.length
  return after
}

/** A text and how far it has been read. */
export interface Reader {
  readonly text: string
  at: number
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

export function numberAt({ text, at }: Reader): string | undefined {
  numberPattern.lastIndex = at
  return numberPattern.exec(text)?.[0]
}

/** True where JSON.parse would answer another number than the one written. */
export function isInexact(source: string): boolean {
  if (/^-?\d+$/.test(source)) return source.length > 15 && !Number.isSafeInteger(Number(source))
  return !Number.isFinite(Number(source))
}

const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

export function skipString(reader: Reader): void {
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
      fail(reader, 'input.json', at < text.length ? 'a control character in a string' : 'a string has no end')
    }
  }
}

export function skipBlanks(reader: Reader): void {
  const { text } = reader
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    reader.at++
  }
}

/** Says where, never what stands there: it may be a secret. */
export function fail({ text, at }: Reader, code: EngineCode, what: string): never {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const where = `line ${line}, column ${column}`
  throw new HookError(code, `${what}: ${where}${at >= text.length ? ', the end of the text' : ''}`, {
    at: where,
  })
}
