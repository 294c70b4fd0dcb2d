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

export type DeliveryState = 'waiting' | 'leased' | 'dead'

/** How far a delivery has come, for those who know its dedup key. */
export interface DeliveryProgress {
  readonly dedup_key: string
  readonly state: DeliveryState | 'done'
  readonly attempts: number
  readonly last_error: string | null
}

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
      /** How long it waits until the next attempt. */
      readonly retry_ms: number
      readonly error: string
    }
  | { readonly id: string; readonly lease: string; readonly end: 'dead'; readonly error: string }

/** Without `now` a method uses the clock of the store, which all nodes share. */
export interface DeliveryStore {
  /** Claims the oldest due deliveries of all tenants that no worker holds. An expired lease does not hold. */
  claimDeliveries(claim: {
    readonly kinds: readonly string[]
    readonly limit: number
    readonly lease_ms: number
    readonly worker: string
    readonly now?: number
  }): Promise<readonly ClaimedDelivery[]>
  /** Returns the ids that were ended; a lost lease ends nothing. A done delivery keeps its dedup key until it is pruned. */
  endDeliveries(ends: readonly DeliveryEnd[], now?: number): Promise<readonly string[]>
  extendLeases(
    leases: readonly { readonly id: string; readonly lease: string }[],
    lease_ms: number,
    now?: number,
  ): Promise<void>
  listDeliveries(
    tenant: string,
    filter: { readonly state?: DeliveryState; readonly kind?: string },
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly nextCursor: string }>
  /** Done ones too, until they are pruned. Unknown keys are absent. */
  findDeliveries(tenant: string, dedupKeys: readonly string[]): Promise<readonly DeliveryProgress[]>
  /** Makes dead deliveries due again, with their attempts reset. Returns how many. */
  replayDeliveries(tenant: string, ids: readonly string[] | 'all', now?: number): Promise<number>
  /** When the next delivery is due; undefined if none waits. */
  nextDelivery(kinds: readonly string[], now: number): Promise<number | undefined>
}
