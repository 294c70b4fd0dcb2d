import type { NewDelivery } from './delivery-store.ts'
import type { RecordedSummary } from './view-store.ts'

/** One dispatch to record. The store seals the texts that may hold secrets. */
export interface EventRecord {
  readonly tenant: string
  readonly event_id: string
  readonly event: string
  readonly time: number
  readonly session_id: string | null
  readonly agent_id: string | null
  /** Its position in the session; absent in records of older versions. */
  readonly moment?: SessionPosition
  readonly kind: 'allow' | 'ask' | 'block'
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  /** The incoming event as JSON; sealed. */
  readonly request: string
  /** The decision with its trace as JSON; sealed. */
  readonly answer: string
  readonly executions: readonly ExecutionRecord[]
  /** What lists show of it; absent in records of older versions. */
  readonly summary?: RecordedSummary
}

/** The position of an event in its session. */
export interface SessionPosition {
  /** The name under which the coding agent is connected. */
  readonly agent?: string
  readonly turn?: string
  /** The sub-agent. */
  readonly lane?: string
  readonly parent?: string
  readonly depth?: number
  readonly tool_call?: string
  readonly tool?: string
  /** The name of the agent, if it differs from `agent`. */
  readonly name?: string
}

export interface ExecutionRecord {
  readonly hook_id: string
  readonly handler_type: string
  readonly decision: 'allow' | 'ask' | 'block' | 'error' | 'timeout' | 'skipped' | 'late' | 'aborted'
  readonly duration_ms: number
  readonly retry: number
  /** Unique for ever: `<hook id>:<event id>`, plus the attempt or `recheck` if there are several. */
  readonly dedup_key: string
  readonly code: string | null
  /** Redacted, one line, at most 256 characters. */
  readonly error: string | null
  /** The whole text; sealed. */
  readonly error_detail: string | null
  readonly shadow: boolean
  readonly metadata: Readonly<Record<string, unknown>>
  /** What only the statistics of the hook use; absent in records of older versions. */
  readonly tally?: ExecutionTally
}

export interface ExecutionTally {
  readonly hook_name?: string
  readonly rewrote?: boolean
  /** A second run for the same event, which does not count as another match. */
  readonly repeated?: boolean
}

/** A stored execution. */
export interface ExecutionRow extends Omit<ExecutionRecord, 'hook_id' | 'error_detail' | 'tally'> {
  readonly id: string
  readonly tenant_id: string
  readonly hook_id: string | null
  readonly event_id: string
  readonly event: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly input_hash: string
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
  /** Leaves out executions of sessions whose id begins with this text. */
  readonly except_sessions?: string
}

/** Which sessions to list, by the time of their events. */
export interface SessionFilter {
  readonly since?: number
  readonly until?: number
  /** Leaves out sessions whose id begins with this text. */
  readonly except_sessions?: string
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Opaque; empty on the last page. */
  readonly nextCursor: string
}

/** A stored event. */
export interface StoredEvent {
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
  /** Decrypted; undefined if the key is gone. */
  readonly request: string | undefined
  readonly answer: string | undefined
}

/** An event in the timeline of its session. */
export interface TimelineRow
  extends Omit<StoredEvent, 'tenant_id' | 'session_id' | 'agent_id' | 'request' | 'answer'> {
  readonly moment: SessionPosition
  /** What lists show of it, redacted; all null or false if nothing was recorded for lists. */
  readonly what: string | null
  readonly reason: string | null
  readonly rewritten: boolean
}

export interface SessionRow {
  readonly tenant_id: string
  readonly session_id: string
  readonly agent_id: string | null
  readonly first_at: number
  readonly last_at: number
  readonly events: number
  /** The name of the agent. */
  readonly agent: string | null
  readonly folder: string | null
  /** The beginning of the first prompt, redacted. */
  readonly title: string | null
  readonly tool_calls: number
  readonly blocked: number
  readonly rewritten: number
  readonly asked: number
  /** How long its events waited for hooks, in total. */
  readonly hook_ms: number
  readonly sub_agents: number
  readonly ended: boolean
}

/** The decrypted texts of one event; undefined if the key is gone. */
export interface EventTexts {
  readonly event_id: string
  readonly request: string | undefined
  readonly answer: string | undefined
}

/** The answer that an idempotency key received. */
export interface KeptAnswer {
  readonly tenant: string
  readonly key: string
  /** Tells a repeated request from a different one. */
  readonly request_hash: string
  readonly answer: string
  readonly expires_at: number
}

/** An answer to keep for `keep_ms`. */
export interface NewAnswer extends Omit<KeptAnswer, 'expires_at'> {
  readonly keep_ms: number
}

export interface AuditVerdict {
  readonly checked: number
  /** The first row that was changed, removed or inserted. */
  readonly broken?: { readonly chain: string; readonly seq: number; readonly why: string }
}

/** The longest window of each kind, in milliseconds. */
export interface LongestWindows {
  readonly lease_ms: number
  readonly retry_ms: number
  readonly answer_ms: number
  readonly guard_ms: number
}

/** Without `now` a method uses the clock of the store, which all nodes share. */
export interface AuditStore {
  /**
   * Records a group of dispatches with their deliveries and the answers to keep, all or nothing, and updates their sessions.
   * Existing dedup keys stay as they are, so recording a group twice changes nothing.
   */
  recordEvents(
    batch: readonly EventRecord[],
    deliveries: readonly NewDelivery[],
    answers: readonly NewAnswer[],
    now?: number,
  ): Promise<void>
  /** Newest first, in pages. */
  history(
    tenant: string,
    filter: HistoryFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<ExecutionRow>>
  /** Executions after a cursor, oldest first, for live tails. Without a cursor: only the current cursor. */
  tail(tenant: string, cursor: string | undefined, limit: number): Promise<Page<ExecutionRow>>
  /** The full error text of one execution, decrypted. */
  errorDetail(tenant: string, executionId: string): Promise<string | undefined>
  findEvent(tenant: string, eventId: string): Promise<StoredEvent | undefined>
  /** The events of one session, oldest first, in pages. */
  sessionEvents(
    tenant: string,
    session: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<TimelineRow>>
  /** The texts of these events, the smallest first, as long as the sum of the stored texts stays below `maxLength`. */
  eventTexts(tenant: string, eventIds: readonly string[], maxLength: number): Promise<readonly EventTexts[]>
  /** Latest first, in pages. */
  listSessions(
    tenant: string,
    filter: SessionFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<SessionRow>>
  findSession(tenant: string, session: string): Promise<SessionRow | undefined>
  findAnswer(tenant: string, key: string, now?: number): Promise<KeptAnswer | undefined>
  /** Verifies the chain of MACs over all recorded executions. */
  verifyAudit(): Promise<AuditVerdict>
  /** Deletes executions and done deliveries that are older, and everything that has expired, in small steps. Returns how many. */
  prune(
    limits: { readonly keep_executions_ms: number; readonly keep_deliveries_ms: number },
    now?: number,
  ): Promise<number>
  /**
   * Shortens windows that end later than their length allows, because the clock was ahead when they began: leases, retries,
   * kept answers and guards. Returns how many.
   */
  clampWindows(longest: LongestWindows, now?: number): Promise<number>
}
