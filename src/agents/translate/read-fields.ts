import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { parseJson } from '../../safe/json.ts'
import type { NativePayload } from '../agent-adapter.ts'

const MAX_TEXT = 500

/** A text of the payload that may be missing, for the envelope: clipped, because a client may send anything. */
export function textField(native: NativePayload, key: string): string | undefined {
  const value = native[key]
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined
}

/** A path is never clipped: half of one is another one. */
export function pathField(native: NativePayload, key: string): string | undefined {
  const value = native[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Arguments of a tool call. One that cannot be read is no event that a hook could judge. */
export function inputField(native: NativePayload, key: string): Readonly<Record<string, unknown>> {
  const value = native[key]
  if (isRecord(value)) return value
  if (value === undefined || value === null) return {}
  const inside = typeof value === 'string' ? parseJsonOrUndefined(value) : undefined
  if (isRecord(inside)) return inside
  throw new HookError('input.schema', `${key} must be an object`, { at: key })
}

const LIMITS = { maxBytes: 16 * 1_048_576, maxKeys: 200_000, maxDepth: 128 } as const

/** What a text says, where it is JSON: some clients send values as texts. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    // Which keeps the digits of a number that is handed back.
    return parseJson(text, LIMITS)
  } catch {
    return asTheClientReads(text)
  }
}

/** A key that is there twice, for instance, is none of our business: hooks see the one that the client sees. */
function asTheClientReads(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The name of a tool. */
export function nameField(native: NativePayload, key: string): string {
  const value = native[key]
  if (typeof value === 'string' && value !== '') return value
  throw new HookError('input.schema', `${key} must be a text`, { at: key })
}

/** The given keys with a value, under the same names. */
export function definedFields(
  fields: Readonly<Record<string, string | number | undefined>>,
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  )
}

export type PayloadRecord = Readonly<Record<string, unknown>>

/** An object of the payload; one that is not there is empty. */
export function recordField(fields: PayloadRecord, key: string): PayloadRecord {
  const value = fields[key]
  return isRecord(value) ? value : {}
}
