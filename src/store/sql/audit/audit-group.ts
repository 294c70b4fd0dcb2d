import type { Links } from './audit-chain.ts'
import type { NewEntry } from './journal.ts'

/** A group of dispatches as it is written: sealed, hashed, with ids. Sessions are counted by what was inserted. */
export interface AuditGroup {
  readonly events: readonly SealedEvent[]
  readonly executions: readonly SealedExecution[]
  readonly links: Links
  /** The journal entry it stood in; removed with it. When that is gone, somebody else has written the group. */
  readonly entry: number
}

/** What is written at once: the journal entry, and what others must find now. */
export interface AppendedGroup {
  readonly entry: NewEntry | undefined
  readonly deliveries: readonly SealedDelivery[]
  readonly answers: readonly SealedAnswer[]
  /** Answers that ended by then give way to new ones. */
  readonly now: number
}

export interface SealedEvent {
  readonly tenant_id: string
  readonly event_id: string
  readonly event: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly kind: string
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  readonly created_at: number
  readonly request: string
  readonly answer: string
  readonly moment: string | null
}

export interface SealedExecution {
  readonly id: string
  readonly tenant_id: string
  /** Written only when there is such a hook: it may have been deleted while it ran, or never have been stored. */
  readonly hook_id: string
  readonly event_id: string
  readonly event: string
  readonly handler_type: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly input_hash: string
  readonly decision: string
  readonly duration_ms: number
  readonly retry: number
  readonly dedup_key: string
  readonly code: string | null
  readonly error: string | null
  readonly error_detail: string | null
  readonly shadow: boolean
  /** As JSON with sorted keys. */
  readonly metadata: string
  readonly created_at: number
}

/** A waiting delivery; `updated_at` is `created_at`. */
export interface SealedDelivery {
  readonly id: string
  readonly tenant_id: string
  readonly kind: string
  readonly dedup_key: string
  readonly payload: string
  readonly due_at: number
  readonly created_at: number
}

/** Takes the place of one with the same key that has ended at `now`; else the first one stays. */
export interface SealedAnswer {
  readonly tenant_id: string
  readonly key: string
  readonly request_hash: string
  readonly answer: string
  readonly expires_at: number
}
