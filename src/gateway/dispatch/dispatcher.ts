import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import type { Caller } from '../auth/caller.ts'
import type { WorkPlace } from '../tenancy/snapshot.ts'

/** An event as it came through a door. */
export interface DispatchRequest {
  readonly event: string
  readonly payload: unknown
  readonly envelope?: Envelope
  /** Answer with the full trace. */
  readonly trace?: boolean
  /** The same key gets the same answer for a day, whatever happens in between. */
  readonly idempotency_key?: string
}

export interface DispatchAnswer {
  readonly eventId: string
  readonly decision: Decision
  /** `{"event_id":…,"decision":…}`, written once for every door and the record. */
  readonly json: string
}

export interface DispatchHow {
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal
  /** The request as it was received, kept for the record; written anew where it is not given. */
  readonly text?: string
  /** When it happened, where that is not now: milliseconds since 1970. */
  readonly time?: number
  /** The folder whose hook files count too; only callers on this machine have one. */
  readonly folder?: WorkPlace
}

/** Sends events of callers through the hooks of their tenant, and records what became of them. */
export interface Dispatcher {
  /** Rejects with a coded error for what is no event; a gate that nobody can decide answers block. */
  dispatch(caller: Caller, request: DispatchRequest, how?: DispatchHow): Promise<DispatchAnswer>
}
