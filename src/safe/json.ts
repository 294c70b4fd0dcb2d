import { HookError } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { isInexact, type JsonLimits, scanJson } from './json-scan.ts'

export interface JsonOptions extends Partial<JsonLimits> {
  readonly maxBytes?: number
}

/** The limit for events and for answers of webhooks. */
const MAX_JSON_BYTES = 1_048_576
const MAX_DEPTH = 64
const MAX_KEYS = 10_000

/**
 * Parses untrusted JSON. Throws a coded error with the position but never the content.
 *
 * A number that a double cannot hold (an integer beyond 2⁵³, `1e999`) becomes a raw JSON value: `JSON.stringify` writes
 * its digits back, and arithmetic with it throws instead of using a rounded value.
 */
export function parseJson(text: string, options: JsonOptions = {}): unknown {
  const { maxBytes = MAX_JSON_BYTES, maxDepth = MAX_DEPTH, maxKeys = MAX_KEYS } = options
  // The length decides for most texts; counting bytes is rarely needed.
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
    throw tooLarge(maxBytes)
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  const inexact = scanJson(json, { maxDepth, maxKeys })
  return inexact ? JSON.parse(json, keepDigits) : JSON.parse(json)
}

/** The same, or undefined for a text that is refused. */
export function parseJsonIfValid(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Parses untrusted JSON bytes. Throws `input.utf8` if they are not valid UTF-8. */
export function parseJsonBytes(bytes: Uint8Array, options: JsonOptions = {}): unknown {
  const { maxBytes = MAX_JSON_BYTES } = options
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return parseJson(decodeUtf8(bytes), options)
}

/** Decodes UTF-8 bytes without a BOM. Throws `input.utf8` if they are invalid. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    throw handlerError('input.utf8', 'the bytes are not UTF-8')
  }
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON that this program wrote, without limits. Numbers keep their digits, as with `parseJson`. */
export function parseStoredJson(text: string): unknown {
  // Only a number with many digits or an exponent can be one that a double does not hold.
  return /\d{16}|\de/i.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

/** Whether a value is a number that a double cannot hold. */
export function isRawNumber(value: unknown): boolean {
  return isRawJSON(value)
}

/** A copy that can be posted to another thread: raw numbers become `String` objects, which no JSON value is. */
export function packRawNumbers(value: unknown): unknown {
  return mapPlain(value, (each) => (isRawJSON(each) ? new String(JSON.stringify(each)) : undefined))
}

/** The value that was packed. */
export function unpackRawNumbers(value: unknown): unknown {
  return mapPlain(value, (each) => (each instanceof String ? rawJSON(each.valueOf()) : undefined))
}

/** Replaces objects inside plain data; `replace` returns undefined for those that stay. */
function mapPlain(value: unknown, replace: (each: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const replaced = replace(value)
  if (replaced !== undefined) return replaced
  if (Array.isArray(value)) return value.map((item) => mapPlain(item, replace))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapPlain(item, replace)]))
}

/** In Node 24, but not yet in the compiler's library. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(source: string): unknown
  isRawJSON(value: unknown): boolean
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && isInexact(source) ? rawJSON(source) : value
}

function tooLarge(maxBytes: number): HookError {
  return new HookError('input.too_large', `more than ${maxBytes} bytes of JSON`)
}
