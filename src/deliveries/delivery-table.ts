import { columns, type RowOf, table } from '../database/table.ts'

/** The kind of deliveries that carry a question to a route. They end when the question is decided. */
export const APPROVAL_MESSAGE = 'approval_message'

const { checked, id, internal, nullable, number, oneOf, sealedByHand, text } = columns

/** Work to do after the answer, recorded with the event that caused it. */
export interface NewDelivery {
  readonly id: string
  readonly tenant: string
  /** Selects the worker function: `hook` runs one hook of one observe event. */
  readonly kind: string
  /** Unique within the tenant, so that the same cause queues its work once. */
  readonly dedup_key: string
  /** JSON; sealed. */
  readonly payload: string
  /** At once if omitted. */
  readonly due_at?: number
  /** The question to a person that it is about: the delivery is cancelled when the question is decided. */
  readonly approval_id?: string
  readonly created_at: number
}

export interface ClaimedDelivery {
  readonly id: string
  readonly tenant: string
  readonly kind: string
  readonly dedup_key: string
  readonly payload: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Required to end the delivery, so that a worker whose lease has expired changes nothing. */
  readonly lease: string
  readonly created_at: number
}

export const deliveryStates = ['waiting', 'leased', 'dead', 'done'] as const
export type DeliveryState = Exclude<(typeof deliveryStates)[number], 'done'>

export const deliveries = table(
  'deliveries',
  {
    id: id(),
    tenant_id: id(),
    kind: text(),
    dedup_key: text(),
    payload: internal(sealedByHand()),
    /** A `done` row only keeps its dedup key. */
    state: checked(oneOf(deliveryStates)),
    attempts: number(),
    /** When a worker may claim it; for a leased row, when its lease ends. */
    due_at: number(),
    lease: internal(nullable(text())),
    last_error: nullable(text()),
    /** The question that it is about, with which it ends. */
    approval_id: internal(nullable(text())),
    created_at: number(),
    updated_at: internal(number()),
  },
  {
    key: ['id'],
    unique: [['tenant_id', 'dedup_key']],
    indexes: [
      // Only open deliveries are searched by time, so done ones cost nothing.
      "deliveries_due (kind, due_at, id) where state in ('waiting', 'leased')",
      "deliveries_listed (tenant_id, created_at, id) where state <> 'done'",
      "deliveries_ended (state, updated_at) where state in ('done', 'dead')",
      'deliveries_of_approval (tenant_id, approval_id) where approval_id is not null',
    ],
    // Dead deliveries stay as long as the executions that caused them; done ones only keep their dedup key.
    expiry: [
      { where: "state = 'done' and updated_at < :before", order: 'updated_at', keep: 'done deliveries' },
      { where: "state = 'dead' and updated_at < :before", order: 'updated_at', keep: 'history' },
    ],
    windows: [
      { ends: 'due_at', within: 'lease_ms', where: "state = 'leased'" },
      { ends: 'due_at', within: 'retry_ms', where: `state = 'waiting' and kind <> '${APPROVAL_MESSAGE}'` },
      { ends: 'due_at', began: 'created_at', where: `kind = '${APPROVAL_MESSAGE}' and state = 'waiting'` },
    ],
  },
)

/** How far a delivery has come, for those who know its dedup key. */
export type DeliveryProgress = Pick<
  RowOf<typeof deliveries>,
  'dedup_key' | 'state' | 'attempts' | 'last_error'
>

export type DeliveryRow = Omit<RowOf<typeof deliveries>, 'state'> & { readonly state: DeliveryState }

/** How one attempt ended. */
export type DeliveryEnd =
  | { readonly id: string; readonly lease: string; readonly end: 'done' }
  | {
      readonly id: string
      readonly lease: string
      readonly end: 'retry'
      /** How long it waits until the next attempt. */
      readonly retry_ms: number
      readonly error: string
    }
  | { readonly id: string; readonly lease: string; readonly end: 'dead'; readonly error: string }

export interface ClaimRequest {
  readonly kinds: readonly string[]
  readonly limit: number
  readonly lease_ms: number
  readonly worker: string
  readonly now?: number
}
