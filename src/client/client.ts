import { isRecord } from '../engine/core/check.ts'
import { type Clock, systemClock } from '../engine/core/clock.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { serverError } from '../engine/core/server-errors.ts'
import type { Methods, Subscriptions } from '../gateway/methods/table.ts'
import type { Patience } from './deadline.ts'
import { decideOrBlock } from './decide.ts'
import { createHttp } from './http.ts'
import { LineSocket } from './line-socket.ts'
import { type SubscriptionItem, subscribe } from './subscribe.ts'

export interface ClientOptions {
  /** `http://127.0.0.1:4665` if omitted. */
  readonly url?: string
  /** Path of the unix socket: dispatches go there, several times faster. */
  readonly socket?: string
  /** Needed for everything but dispatches over the unix socket. */
  readonly token?: string
  /** For master tokens: id or name of the tenant to work for. */
  readonly tenant?: string
  /** How long to wait for an answer; 30 s if omitted. */
  readonly timeoutMs?: number
  readonly clock?: Clock
}

export interface EventToSend {
  readonly event: string
  readonly payload: unknown
  readonly envelope?: Envelope
  readonly trace?: boolean
  readonly idempotency_key?: string
}

export interface Sent {
  readonly eventId: string
  readonly decision: Decision
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** A gateway as a program sees it. Everything rejects with a `HookError` of the gateway's own code. */
export interface Client {
  dispatch(event: EventToSend, options?: CallOptions): Promise<Sent>
  /** For gates: never rejects. What keeps the gateway from answering is a block. */
  decide(event: EventToSend, options?: CallOptions): Promise<Decision>
  call<M extends keyof Methods>(
    method: M,
    params: Methods[M]['params'],
    options?: CallOptions,
  ): Promise<Methods[M]['result']>
  /** Yields the items of a subscription as they arise, and reconnects after a lost connection. */
  subscribe<M extends keyof Subscriptions>(
    method: M,
    params: Subscriptions[M]['params'],
    options?: Pick<CallOptions, 'signal'>,
  ): AsyncGenerator<SubscriptionItem<Subscriptions[M]['item']>>
  close(): Promise<void>
}

const DEFAULT_URL = 'http://127.0.0.1:4665'
const DEFAULT_TIMEOUT_MS = 30_000

export function createClient(options: ClientOptions = {}): Client {
  const { url = DEFAULT_URL, token, tenant, timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock } = options
  const http = createHttp({ url, token, tenant })
  const socket = options.socket === undefined ? undefined : new LineSocket(options.socket, token)
  const patience = (call: CallOptions): Patience => ({ clock, timeoutMs, ...call })

  async function dispatch(event: EventToSend, call: CallOptions = {}): Promise<Sent> {
    const answer =
      socket === undefined
        ? await http.post('/v1/dispatch', event, patience(call))
        : await socket.send(event, patience(call))
    if (!isAnswer(answer)) throw serverError('gateway.internal', 'the answer of the gateway is no decision')
    return { eventId: answer.event_id, decision: answer.decision }
  }

  return {
    dispatch,
    decide: (event, call) => decideOrBlock(dispatch(event, call)),
    call: (method, params, call = {}) =>
      http.post(`/v1/call/${method}`, params, patience(call)) as Promise<never>,
    subscribe: (method, params, { signal } = {}) =>
      subscribe({ url, token, tenant, clock, method, params, signal }) as AsyncGenerator<never>,
    async close() {
      socket?.close()
      await http.close()
    },
  }
}

function isAnswer(value: unknown): value is { readonly event_id: string; readonly decision: Decision } {
  return isRecord(value) && typeof value.event_id === 'string' && isDecision(value.decision)
}

/** An answer of an unknown kind must not pass as one that allows. */
function isDecision(value: unknown): value is Decision {
  return isRecord(value) && (value.kind === 'allow' || value.kind === 'ask' || value.kind === 'block')
}
