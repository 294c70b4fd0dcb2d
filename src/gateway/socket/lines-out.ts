import type { HookError } from '../../engine/core/error.ts'
import { retryAfterOf } from '../../engine/core/retry-after.ts'

/** Null before anybody could read which request it was. */
export type LineId = string | number | null

/** `json` is an object that the dispatcher wrote already; the id goes in front of its first key. */
export function answerLine(id: LineId, json: string): string {
  return `{"id":${typeof id === 'number' ? id : JSON.stringify(id)},${json.slice(1)}\n`
}

export function errorLine(id: LineId, error: HookError): string {
  const retryAfterMs = retryAfterOf(error)
  const more = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }
  return `${JSON.stringify({ id, error: { ...error.toJSON(), ...more } })}\n`
}

/** A person is being asked: the client waits until then rather than to its own deadline. */
export function pendingLine(id: LineId, pending: string, untilMs: number): string {
  return `${JSON.stringify({ id, pending, until_ms: untilMs })}\n`
}
