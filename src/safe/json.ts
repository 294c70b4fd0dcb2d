import { HookError } from '../engine/core/error.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
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

/** In Node 24, but not yet in the compiler's library. */
const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && isInexact(source) ? rawJSON(source) : value
}

function tooLarge(maxBytes: number): HookError {
  return new HookError('input.too_large', `more than ${maxBytes} bytes of JSON`)
}
