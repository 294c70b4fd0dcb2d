import type { Caller } from '../access/caller.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import type { AnyEventRow } from '../engine/core/event.ts'
import type { catalogue } from '../engine/events/catalogue.ts'
import type { AgentFolders } from '../stored-hooks/snapshots/snapshot.ts'
import type { CallerWait } from './caller-wait.ts'
import type { DispatchAnswer } from './dispatch-answer.ts'
import type { HooksOfCall } from './load-hooks.ts'
import type { IdempotencyKey } from './once-per-key.ts'

/** An event as a caller sends it. */
export interface DispatchRequest {
  readonly event: string
  readonly payload: unknown
  readonly envelope?: Envelope
  /** Adds the full trace to the answer. */
  readonly trace?: boolean
  /** The same key gets the same answer for a day, also from another node or after a restart. */
  readonly idempotency_key?: string
  /** How long the caller can wait for a person, in milliseconds. Without it, `ask` is returned as it is. */
  readonly within_ms?: number
  /** The approval that this call waited for when its connection was lost. */
  readonly approval_id?: string
}

/** What a door knows about a request. */
export interface RequestContext {
  /** Aborted when the caller has disconnected. */
  readonly signal?: AbortSignal
  /** The request as it was received, kept for the record; encoded again if it is not given. */
  readonly text?: string
  /** When it happened, if that is not now: milliseconds since 1970. */
  readonly time?: number
  /** The folders whose hook files apply, if the door knows them. */
  readonly folder?: AgentFolders
  /** The client made this decision without the gateway. The event is recorded with it, and no hook runs. */
  readonly decided?: Decision
  /** The process that sends the event, and the turn that it is in, if the door can find out. */
  readonly process?: () => Pick<Envelope, 'process' | 'processTurn'>
  /** A run has proved that its agent sends the event. */
  readonly isAgentProved?: boolean
  /** Set if the caller can wait for a person. */
  readonly wait?: CallerWait
  /** False if the caller cannot ask a person itself either. */
  readonly canAsk?: boolean
}

export type EventName = keyof typeof catalogue

/** One event on its way from a door to the engine and back. It is resolved once: only an edit by a person begins anew. */
export interface Call {
  readonly caller: Caller
  /** As it was sent, without the approval that its caller comes back to. */
  readonly request: DispatchRequest
  readonly context: RequestContext
  readonly event: EventName
  readonly row: AnyEventRow
  readonly payload: unknown
  readonly envelope: Envelope & { readonly id: string; readonly tenant: string }
  readonly key: IdempotencyKey | undefined
  /** The hooks of the tenant in the folders of the event; undefined if no hook is asked. */
  readonly hooks: HooksOfCall | undefined
}

/** Handles a call, or passes it on to the stages behind it. */
export type HandleCall = (call: Call) => Promise<DispatchAnswer>
