import { HookError, isHookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { parseJsonBytes } from '../../../safe/json.ts'
import type { ErrorBody } from '../http/error-reply.ts'

/** The protocol version of the original gateway. */
export const WS_PROTOCOL = 3

/** Null if the frame has no readable id. */
export type FrameId = string | number | null

export interface RequestFrame {
  readonly id: FrameId
  readonly method: string
  readonly params: unknown
}

export interface BadFrame {
  readonly id: FrameId
  readonly error: HookError
}

export function readFrame(data: Buffer, isBinary: boolean): RequestFrame | BadFrame {
  if (isBinary) return { id: null, error: serverError('gateway.protocol', 'a frame must be text') }
  const frame = parse(data)
  if (frame instanceof HookError) return { id: null, error: frame }
  const id = frameIdOf(frame.id)
  if (frame.type !== 'req')
    return { id, error: serverError('gateway.protocol', 'the only accepted frame type is req') }
  if (id === null)
    return { id, error: serverError('gateway.protocol', 'a request needs an id', { at: 'id' }) }
  const { method, params } = frame
  if (typeof method !== 'string')
    return { id, error: serverError('gateway.protocol', 'a request needs a method', { at: 'method' }) }
  return { id, method, params }
}

function parse(data: Buffer): Record<string, unknown> | HookError {
  try {
    const value = parseJsonBytes(data)
    return isRecord(value) ? value : serverError('gateway.protocol', 'a frame must be an object')
  } catch (thrown) {
    return isHookError(thrown) ? thrown : serverError('gateway.protocol', 'a frame must be JSON')
  }
}

function frameIdOf(id: unknown): FrameId {
  if (typeof id === 'string' && id.length <= 256) return id
  return typeof id === 'number' ? id : null
}

/** `payload` is JSON: the dispatcher encodes a decision once for every door. */
export function resultFrame(id: FrameId, payload: string): string {
  return `{"type":"res","id":${JSON.stringify(id)},"ok":true,"payload":${payload}}`
}

export function errorFrame(id: FrameId, error: ErrorBody): string {
  return JSON.stringify({ type: 'res', id, ok: false, error })
}

export function eventFrame(
  event: string,
  payload: unknown,
  more: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ type: 'event', event, payload, ...more })
}
