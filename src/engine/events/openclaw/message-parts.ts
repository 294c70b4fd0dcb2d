import { type Check, object, optional, text } from '../../core/schema/check.ts'

/** Where a message comes from or goes to. */
export interface Address {
  readonly channel?: string
  readonly accountId?: string
  readonly to?: string
  readonly threadId?: string | number
}

/** Message, reply and trace of the host, which are passed on unread. */
export type AgentMessage = object
export type ReplyPayload = object
export type TraceContext = object

export const textOrNumber: Check<string | number> = (value) =>
  typeof value === 'string' || typeof value === 'number'
    ? undefined
    : { path: '', expected: 'a string or a number' }

export const traceFields = {
  trace: optional(object<TraceContext>()),
  traceId: optional(text),
  spanId: optional(text),
  parentSpanId: optional(text),
}

export interface TranscriptLine {
  readonly message: AgentMessage
  readonly toolName?: string
  readonly toolCallId?: string
  readonly isSynthetic?: boolean
  readonly sessionKey?: string
  readonly agentId?: string
}

const wrong = (path: string, expected: string) => ({ path, expected })

/** Written by hand for speed: every transcript line passes here while the host waits. */
const check: Check<TranscriptLine> = (value) => {
  if (typeof value !== 'object' || value === null) return wrong('', 'an object')
  const {
    message,
    toolName,
    toolCallId,
    isSynthetic,
    sessionKey,
    agentId,
  }: Partial<Record<keyof TranscriptLine, unknown>> = value
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return wrong('message', 'an object')
  if (toolName !== undefined && typeof toolName !== 'string') return wrong('toolName', 'a string')
  if (toolCallId !== undefined && typeof toolCallId !== 'string') return wrong('toolCallId', 'a string')
  if (isSynthetic !== undefined && typeof isSynthetic !== 'boolean')
    return wrong('isSynthetic', 'true or false')
  if (sessionKey !== undefined && typeof sessionKey !== 'string') return wrong('sessionKey', 'a string')
  if (agentId !== undefined && typeof agentId !== 'string') return wrong('agentId', 'a string')
  return undefined
}

/** The check for an event that has only the fields `K`. It checks all of them; the type picks. */
export function transcriptLine<K extends keyof TranscriptLine>(): Check<Pick<TranscriptLine, K>> {
  return check
}
