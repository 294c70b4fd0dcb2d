import { HookError } from '../engine/core/error.ts'
import { isInexact, type JsonLimits, scanJson } from './json-scan.ts'

export interface JsonOptions extends Partial<JsonLimits> {
  readonly maxBytes?: number
}

/** One mebibyte: what a webhook may answer and an event may weigh. */
const MAX_JSON_BYTES = 1_048_576
const MAX_DEPTH = 64
const MAX_KEYS = 10_000

/**
 * Parses JSON from outside, or throws a coded error that says where and never what.
 *
 * A number that a double cannot hold (an integer beyond 2⁵³, `1e999`) becomes a raw JSON value instead of another
 * number: `JSON.stringify` writes it back digit by digit, and code that calculates with it throws rather than
 * going on with a rounded one.
 */
export function parseJson(text: string, options: JsonOptions = {}): unknown {
  const { maxBytes = MAX_JSON_BYTES, maxDepth = MAX_DEPTH, maxKeys = MAX_KEYS } = options
  // The length alone settles it for most texts; bytes are counted only where they could matter.
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
    throw tooLarge(maxBytes)
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  const inexact = scanJson(json, { maxDepth, maxKeys })
  return inexact ? JSON.parse(json, keepDigits) : JSON.parse(json)
}

/** The same from bytes, which must be UTF-8 to the last one. */
export function parseJsonBytes(bytes: Uint8Array, options: JsonOptions = {}): unknown {
  const { maxBytes = MAX_JSON_BYTES } = options
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return parseJson(decodeUtf8(bytes), options)
}

/** The text of bytes that must be UTF-8, for callers that keep it beside what it says. A BOM is not part of it. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw new HookError('input.utf8', 'the bytes are not UTF-8')
  }
}

const strict = new TextDecoder('utf-8', { fatal: true })

/** Known to Node 24, not yet to the compiler's library. */
const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && isInexact(source) ? rawJSON(source) : value
}

function tooLarge(maxBytes: number): HookError {
  return new HookError('input.too_large', `more than ${maxBytes} bytes of JSON`)
}
