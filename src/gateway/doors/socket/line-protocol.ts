import type { HookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { retryAfterOf } from '../../../engine/core/time/retry-after.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import type { DispatchRequest } from '../../../pipeline/call.ts'
import type { AgentEventRequest, AgentReply } from '../../agents/agent-door.ts'
import { isApprovalId, readDispatchRequest } from '../dispatch-request.ts'

const VERSION = 1

/** Null if the request has no readable id. */
export type LineId = string | number | null

interface HelloLine {
  readonly token: string | undefined
  readonly agent: unknown
  /** The process of the client. */
  readonly pid: number | undefined
}

export function readHelloLine(value: unknown): HelloLine {
  const version = fieldOf(value, 'hookhelm')
  if (version === undefined)
    throw serverError('gateway.protocol', 'the first line must be {"hookhelm":1}', { at: 'hookhelm' })
  if (version !== VERSION)
    throw serverError('gateway.protocol', `the gateway speaks protocol version ${VERSION}`, {
      at: 'hookhelm',
    })
  const [token, pid] = [fieldOf(value, 'token'), fieldOf(value, 'pid')]
  if (token === undefined || typeof token === 'string')
    return { token, agent: fieldOf(value, 'agent'), pid: typeof pid === 'number' ? pid : undefined }
  throw serverError('auth.token', 'token must be text')
}

export function lineIdOf(value: unknown): LineId {
  const id = fieldOf(value, 'id')
  if (typeof id === 'string' && id.length <= 256) return id
  return typeof id === 'number' ? id : null
}

/** `{"id":7,"cancel":true}`: the client no longer wants the answer to its request 7. */
export function isCancelLine(value: unknown): boolean {
  return fieldOf(value, 'cancel') === true
}

export function readDispatchLine(value: unknown): DispatchRequest {
  if (!isRecord(value)) return readDispatchRequest(value)
  const { id: _, ...request } = value
  return readDispatchRequest(request)
}

/** Rejects unknown fields: a misspelt field must not be ignored. */
export function readAgentLine(value: unknown): AgentEventRequest {
  const { id: _, event, native, within_ms, approval_id, run, ...rest } = isRecord(value) ? value : {}
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw serverError('gateway.request', `there is no field ${unknown.slice(0, 80)}`, {
      at: unknown.slice(0, 80),
    })
  if (typeof event !== 'string') throw serverError('gateway.request', 'event must be text', { at: 'event' })
  if (within_ms !== undefined && typeof within_ms !== 'number')
    throw serverError('gateway.request', 'within_ms must be a number', { at: 'within_ms' })
  if (approval_id !== undefined && (typeof approval_id !== 'string' || !isApprovalId(approval_id)))
    throw serverError('gateway.request', 'approval_id must be the id of an approval', { at: 'approval_id' })
  if (run !== undefined && typeof run !== 'string')
    throw serverError('gateway.request', 'run must be text', { at: 'run' })
  return {
    ...{ event, native },
    ...definedFields({ withinMs: within_ms, approvalId: approval_id, run }),
  }
}

/** `json` is the object that the dispatcher encoded for every door; the id becomes its first key. */
export function decisionLine(id: LineId, json: string): string {
  return `{"id":${typeof id === 'number' ? id : JSON.stringify(id)},${json.slice(1)}\n`
}

export function agentReplyLine(id: LineId, reply: AgentReply): string {
  return `${JSON.stringify({ id, reply })}\n`
}

export function errorLine(id: LineId, error: HookError): string {
  return `${JSON.stringify({ id, error: { ...error.toJSON(), retry_after_ms: retryAfterOf(error) } })}\n`
}

/** Tells the client that a person is being asked: it waits until then instead of its own deadline. */
export function pendingLine(id: LineId, pending: string, untilMs: number): string {
  return `${JSON.stringify({ id, pending, until_ms: untilMs })}\n`
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}
