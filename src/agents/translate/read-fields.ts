import { HookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { parseJson } from '../../safe/json.ts'
import type { NativePayload } from '../agent-adapter.ts'

const MAX_TEXT = 500

/** An optional text for the envelope, clipped because an agent may send any length. */
export function textField(native: NativePayload, key: string): string | undefined {
  const value = native[key]
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined
}

/** Not clipped: part of a path is another path. */
export function pathField(native: NativePayload, key: string): string | undefined {
  const value = native[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The arguments of a tool call. Throws if they cannot be read, because no hook could judge the call. */
export function inputField(native: NativePayload, key: string): Readonly<Record<string, unknown>> {
  const value = native[key]
  if (isRecord(value)) return value
  if (value === undefined || value === null) return {}
  const inside = typeof value === 'string' ? parseJsonOrUndefined(value) : undefined
  if (isRecord(inside)) return inside
  throw new HookError('input.schema', `${key} must be an object`, { at: key })
}

const LIMITS = { maxBytes: 16 * 1_048_576, maxKeys: 200_000, maxDepth: 128 } as const

/** Parses JSON in a text, or returns undefined. Some agents send values as texts. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    // Keeps all digits of a number that goes back to the agent.
    return parseJson(text, LIMITS)
  } catch {
    return parseLeniently(text)
  }
}

/** Accepts duplicate keys as the agent does, so that hooks see the same value. */
function parseLeniently(text: string): unknown {
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

export type PayloadRecord = Readonly<Record<string, unknown>>

/** An object of the payload, or an empty one. */
export function recordField(fields: PayloadRecord, key: string): PayloadRecord {
  const value = fields[key]
  return isRecord(value) ? value : {}
}
