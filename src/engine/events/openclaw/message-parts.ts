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
