import type { NewDelivery } from './delivery-store.ts'

/** How a dispatch is written down. Texts that may hold secrets are sealed by the store before they are written. */
export interface EventRecord {
  readonly tenant: string
  readonly event_id: string
  readonly event: string
  readonly time: number
  readonly session_id: string | null
  readonly agent_id: string | null
  /** Where in its session it stands; absent in what older versions wrote. */
  readonly moment?: EventMoment
  readonly kind: 'allow' | 'ask' | 'block'
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  /** The event as JSON, as it came in; sealed. */
  readonly request: string
  /** The decision with its trace as JSON; sealed. */
  readonly answer: string
  readonly executions: readonly ExecutionRecord[]
}

/** Where in its session an event stands. */
export interface EventMoment {
  /** The coding agent, by the name it is connected under. */
  readonly agent?: string
  readonly turn?: string
  /** The sub-agent it is about. */
  readonly lane?: string
  readonly parent?: string
  readonly depth?: number
  readonly tool_call?: string
  readonly tool?: string
}

export interface ExecutionRecord {
  readonly hook_id: string
  readonly handler_type: string
  readonly decision: 'allow' | 'ask' | 'block' | 'error' | 'timeout' | 'skipped' | 'late' | 'aborted'
  readonly duration_ms: number
  readonly retry: number
  /** Unique for ever: `<hook id>:<event id>`, with the attempt or `recheck` behind it where there are several. */
  readonly dedup_key: string
  readonly code: string | null
  /** Redacted, one line, at most 256 characters. */
  readonly error: string | null
  /** The whole text; sealed. */
  readonly error_detail: string | null
  readonly shadow: boolean
  readonly metadata: Readonly<Record<string, unknown>>
}

/** An execution as it is read back. */
export interface ExecutionRow {
  readonly id: string
  readonly tenant_id: string
  readonly hook_id: string | null
  readonly event_id: string
  readonly event: string
  readonly handler_type: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly input_hash: string
  readonly decision: ExecutionRecord['decision']
  readonly duration_ms: number
  readonly retry: number
  readonly dedup_key: string
  readonly code: string | null
  readonly error: string | null
  readonly shadow: boolean
  readonly metadata: Readonly<Record<string, unknown>>
  readonly created_at: number
}

export interface HistoryFilter {
  readonly hook_id?: string
  readonly event?: string
  readonly event_id?: string
  readonly decision?: ExecutionRecord['decision']
  readonly session_id?: string
  readonly agent_id?: string
  readonly shadow?: boolean
  readonly since?: number
  readonly until?: number
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Opaque; empty when there is nothing more. */
  readonly nextCursor: string
}

export interface EventRow {
  readonly tenant_id: string
  readonly event_id: string
  readonly event: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly kind: 'allow' | 'ask' | 'block'
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  readonly created_at: number
  /** Opened again; undefined when the key is gone. */
  readonly request: string | undefined
  readonly answer: string | undefined
}

/** An event as a timeline shows it. */
export interface TimelineRow {
  readonly event_id: string
  readonly event: string
  readonly kind: 'allow' | 'ask' | 'block'
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  readonly created_at: number
  readonly moment: EventMoment
}

export interface SessionRow {
  readonly tenant_id: string
  readonly session_id: string
  readonly agent_id: string | null
  readonly first_at: number
  readonly last_at: number
  readonly events: number
}

/** What an idempotency key was answered with. */
export interface KeptAnswer {
  readonly tenant: string
  readonly key: string
  /** Of the request, to tell a repetition from another request. */
  readonly request_hash: string
  readonly answer: string
  readonly expires_at: number
}

export interface AuditVerdict {
  readonly checked: number
  /** The first row that is not as it was written. */
  readonly broken?: { readonly chain: string; readonly seq: number; readonly why: string }
}

export interface AuditStore {
  /**
   * Writes a group of dispatches, what is to be delivered because of them, and the answers to keep, all or nothing.
   * A dedup key that is there already is left as it is: writing a group twice changes nothing. Sessions are touched.
   */
  recordEvents(
    batch: readonly EventRecord[],
    deliveries: readonly NewDelivery[],
    answers: readonly KeptAnswer[],
  ): Promise<void>
  /** Newest first, keyset. */
  history(
    tenant: string,
    filter: HistoryFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<ExecutionRow>>
  /** Oldest first from a cursor on, for live tails; without one only the cursor of now. */
  tail(tenant: string, cursor: string | undefined, limit: number): Promise<Page<ExecutionRow>>
  /** The whole error text of one execution, opened. */
  errorDetail(tenant: string, executionId: string): Promise<string | undefined>
  findEvent(tenant: string, eventId: string): Promise<EventRow | undefined>
  /** The events of one session, oldest first, keyset. */
  sessionEvents(
    tenant: string,
    session: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<TimelineRow>>
  listSessions(
    tenant: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<SessionRow>>
  findAnswer(tenant: string, key: string, now: number): Promise<KeptAnswer | undefined>
  /** Walks the chain of hashes of every recorded execution. */
  verifyAudit(): Promise<AuditVerdict>
  /** Removes what is older than the times given, oldest first, in small steps; the answer counts the rows. */
  prune(limits: {
    readonly executions_before: number
    readonly answers_before: number
    readonly guards_before: number
    readonly deliveries_before: number
  }): Promise<number>
}
