/** Work to be done after the answer, written with what caused it. */
export interface NewDelivery {
  readonly id: string
  readonly tenant: string
  /** Who works on it: `hook` runs one hook of one observe event. */
  readonly kind: string
  /** Unique within the tenant: the same cause queues its work once. */
  readonly dedup_key: string
  /** JSON; sealed. */
  readonly payload: string
  readonly due_at: number
  readonly created_at: number
}

export interface ClaimedDelivery {
  readonly id: string
  readonly tenant: string
  readonly kind: string
  readonly dedup_key: string
  readonly payload: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
  /** Holds the claim; finishing needs it, so a worker whose lease ran out changes nothing. */
  readonly lease: string
  readonly created_at: number
}

export type DeliveryState = 'waiting' | 'leased' | 'dead'

export interface DeliveryRow {
  readonly id: string
  readonly tenant_id: string
  readonly kind: string
  readonly dedup_key: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly due_at: number
  readonly last_error: string | null
  readonly created_at: number
}

/** How one attempt ended. */
export type DeliveryEnd =
  | { readonly id: string; readonly lease: string; readonly end: 'done' }
  | {
      readonly id: string
      readonly lease: string
      readonly end: 'retry'
      readonly due_at: number
      readonly error: string
    }
  | { readonly id: string; readonly lease: string; readonly end: 'dead'; readonly error: string }

export interface DeliveryStore {
  /** The oldest due ones that nobody holds, across tenants; a lease that ran out counts as nobody. */
  claimDeliveries(claim: {
    readonly kinds: readonly string[]
    readonly limit: number
    readonly now: number
    readonly lease_until: number
    readonly worker: string
  }): Promise<readonly ClaimedDelivery[]>
  /** Ids that were really ended: a lease lost in between ends nothing. A done one is kept until pruned, for its dedup key. */
  endDeliveries(ends: readonly DeliveryEnd[], now: number): Promise<readonly string[]>
  extendLeases(
    leases: readonly { readonly id: string; readonly lease: string }[],
    until: number,
  ): Promise<void>
  listDeliveries(
    tenant: string,
    filter: { readonly state?: DeliveryState; readonly kind?: string },
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly nextCursor: string }>
  /** Dead ones of these ids, or all, become due again with no attempts; the answer counts them. */
  replayDeliveries(tenant: string, ids: readonly string[] | 'all', now: number): Promise<number>
  /** When the next one is due, to sleep until then; undefined when nothing waits. */
  nextDelivery(kinds: readonly string[], now: number): Promise<number | undefined>
}
