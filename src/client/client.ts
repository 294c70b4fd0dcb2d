import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { PayloadOf } from '../engine/core/event.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { type Clock, systemClock } from '../engine/core/time/clock.ts'
import type { Catalogue } from '../engine/events/catalogue.ts'
import type { Methods, Subscriptions } from '../gateway/methods.ts'
import type { CallDeadline } from './deadline.ts'
import { decideOrBlock } from './decider.ts'
import { createHttp } from './http.ts'
import { LineSocket } from './line-socket.ts'
import { postHeldEvent } from './post-held.ts'
import { type SubscriptionItem, subscribe } from './subscribe.ts'

/** How to reach the gateway. */
export interface ClientOptions {
  /** Address of the gateway. Default: `http://127.0.0.1:4665`. */
  readonly url?: string
  /** Path of the gateway's unix socket. `dispatch` and `decide` use it, because it is several times faster than HTTP. */
  readonly socket?: string
  /** A token of the gateway. Dispatches over the unix socket need none. */
  readonly token?: string
  /** With a master token: id or name of the tenant to work for. */
  readonly tenant?: string
  /**
   * Before the token is sent on a connection, the gateway must prove that it knows it. Only for the token in the data folder
   * of the gateway, over http. Default: false.
   */
  readonly proven?: boolean
  /** How long a call waits for its answer, in milliseconds. Default: 30 000. */
  readonly timeoutMs?: number
  /** For tests. */
  readonly clock?: Clock
}

/** The payload of an event: typed for events of the catalogue, `unknown` for events that only the gateway knows. */
export type EventPayload<E extends string> = E extends keyof Catalogue ? PayloadOf<Catalogue[E]> : unknown

/** One event for the gateway. */
export interface EventToSend<E extends string = string> {
  /** The event's name, for example `pre_tool_use`. */
  readonly event: E
  readonly payload: EventPayload<E>
  /** Agent, session, working directory and other facts about the event. */
  readonly envelope?: Envelope
  /** Include in the decision what each hook did. */
  readonly trace?: boolean
  /** If the gateway already has an event with this key, it returns that event's decision again. */
  readonly idempotency_key?: string
}

/** The gateway's answer to a dispatch. */
export interface DispatchResult {
  /** The id of the event in the gateway's history. */
  readonly eventId: string
  readonly decision: Decision
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with `engine.aborted`. */
  readonly signal?: AbortSignal
  /** Overrides the client's `timeoutMs`. */
  readonly timeoutMs?: number
}

/** Options of one dispatch. */
export interface DispatchCallOptions extends CallOptions {
  /**
   * How long the call can wait for a person if a hook asks for approval, in milliseconds. The decision is then theirs.
   * Without it, the decision is `ask`, and the program asks by itself.
   */
  readonly waitMs?: number
}

/** A client of a gateway. Every method but `decide` rejects with a `HookError` that has the gateway's code. */
export interface Client {
  /**
   * Sends an event through the hooks of the gateway and returns their decision. Rejects if the gateway refuses the event
   * (`input.schema`, `auth.token`, …), does not answer in time, or is not there (`gateway.unreachable`).
   */
  dispatch<E extends string>(event: EventToSend<E>, options?: DispatchCallOptions): Promise<DispatchResult>
  /**
   * The same for gates: never rejects. If the gateway makes no decision, the result is a block with the error's code.
   *
   * @example
   * const { kind, reason } = await client.decide({ event: 'pre_tool_use', payload: { tool_name: 'Bash' } })
   * if (kind === 'block') throw new Error(reason)
   */
  decide<E extends string>(event: EventToSend<E>, options?: DispatchCallOptions): Promise<Decision>
  /** Calls a method of the gateway, for example `hooks.list`. Parameters and result are typed by the method. */
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

/**
 * Creates a client of a gateway. It connects with the first call.
 *
 * @example
 * const client = createClient({ token: process.env.HOOKHELM_TOKEN })
 * const { decision } = await client.dispatch({ event: 'pre_tool_use', payload: { tool_name: 'Bash' } })
 */
export function createClient(options: ClientOptions = {}): Client {
  const { url = DEFAULT_URL, token, tenant, proven = false } = options
  const { timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock } = options
  const http = createHttp({ url, token, tenant, proven })
  const socket = options.socket === undefined ? undefined : new LineSocket(options.socket, token)
  const deadline = (call: CallOptions): CallDeadline => ({ clock, timeoutMs, ...call })

  /** On the socket the gateway tells when it asks a person; over HTTP the call has to wait from the beginning. */
  function send(event: EventToSend, waitMs: number | undefined, limit: CallDeadline): Promise<unknown> {
    if (waitMs === undefined)
      return socket === undefined ? http.post('/v1/dispatch', event, limit) : socket.send(event, limit)
    return socket === undefined
      ? postHeldEvent(http, { event, waitMs, deadline: limit })
      : socket.send({ ...event, within_ms: waitMs }, limit)
  }

  async function dispatch<E extends string>(
    event: EventToSend<E>,
    { waitMs, ...call }: DispatchCallOptions = {},
  ): Promise<DispatchResult> {
    const answer = await send(event, waitMs, deadline(call))
    if (!isDispatchAnswer(answer))
      throw serverError('gateway.internal', 'the answer of the gateway is not a decision')
    return { eventId: answer.event_id, decision: answer.decision }
  }

  return {
    dispatch,
    decide: (event, call) => decideOrBlock(dispatch(event, call).then(({ decision }) => decision)),
    call: (method, params, call = {}) =>
      http.post(`/v1/call/${method}`, params, deadline(call)) as Promise<never>,
    subscribe: (method, params, { signal } = {}) =>
      subscribe({ url, token, tenant, proven, clock, method, params, signal }) as AsyncGenerator<never>,
    async close() {
      socket?.close()
      await http.close()
    },
  }
}

function isDispatchAnswer(
  value: unknown,
): value is { readonly event_id: string; readonly decision: Decision } {
  return isRecord(value) && typeof value.event_id === 'string' && isDecision(value.decision)
}

/** A decision of an unknown kind must not count as `allow`. */
function isDecision(value: unknown): value is Decision {
  return isRecord(value) && (value.kind === 'allow' || value.kind === 'ask' || value.kind === 'block')
}
