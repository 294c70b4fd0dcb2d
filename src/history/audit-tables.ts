import { columns, type RowOf, table } from '../database/table.ts'
import { decisionKinds } from '../engine/core/decision.ts'
import { executionDecisions } from '../engine/core/records/sink.ts'
import type { RecordedSummary } from './view-tables.ts'

const {
  bytes,
  flag,
  id,
  internal,
  json,
  jsonText,
  merged,
  nullable,
  number,
  oneOf,
  position,
  real,
  references,
  sealedByHand,
  sums,
  text,
} = columns

/** One dispatch to record. The store seals the texts that may hold secrets. */
export interface EventRecord
  extends Pick<RowOf<typeof events>, 'event_id' | 'event' | 'session_id' | 'agent_id'>,
    Pick<RowOf<typeof events>, 'kind' | 'by_hook' | 'code' | 'duration_ms'> {
  readonly tenant: string
  readonly time: number
  /** Its position in the session; absent in records of older versions. */
  readonly moment?: SessionPosition
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

export interface ExecutionRecord
  extends Pick<RowOf<typeof executions>, 'handler_type' | 'decision' | 'duration_ms' | 'retry' | 'code'>,
    Pick<RowOf<typeof executions>, 'dedup_key' | 'error' | 'shadow' | 'metadata'> {
  readonly hook_id: string
  /** The whole text; sealed. */
  readonly error_detail: string | null
  /** What only the statistics of the hook use; absent in records of older versions. */
  readonly tally?: ExecutionTally
}

export interface ExecutionTally {
  readonly hook_name?: string
  readonly rewrote?: boolean
  /** A second run for the same event, which does not count as another match. */
  readonly repeated?: boolean
}

/** Who decided an event, and how long it took. No foreign key to tenants: events of a tenant that was just deleted must not fail their whole group. */
export const events = table(
  'events',
  {
    tenant_id: id(),
    event_id: text(),
    event: text(),
    session_id: nullable(text()),
    agent_id: nullable(text()),
    kind: oneOf(decisionKinds),
    by_hook: nullable(text()),
    code: nullable(text()),
    duration_ms: real(),
    created_at: number(),
    request: sealedByHand(),
    answer: sealedByHand(),
    /** Its position in the session. */
    moment: internal(nullable(jsonText<SessionPosition>())),
  },
  {
    key: ['tenant_id', 'event_id'],
    indexes: [
      'events_by_time (created_at)',
      'events_by_session (tenant_id, session_id, created_at, event_id) where session_id is not null',
    ],
  },
)

export const executions = table(
  'hook_executions',
  {
    position: internal(position()),
    id: id(),
    tenant_id: id(),
    hook_id: nullable(references(id(), 'agent_hooks (id) on delete set null')),
    event_id: text(),
    event: text(),
    handler_type: text(),
    session_id: nullable(text()),
    agent_id: nullable(text()),
    input_hash: text(),
    decision: oneOf(executionDecisions),
    duration_ms: real(),
    retry: number(),
    /** Unique for ever: `<hook id>:<event id>`, plus the attempt or `recheck` if there are several. */
    dedup_key: text(),
    code: nullable(text()),
    /** Redacted, one line, at most 256 characters. */
    error: nullable(text()),
    error_detail: internal(nullable(sealedByHand())),
    shadow: flag(),
    metadata: json<Readonly<Record<string, unknown>>>(),
    created_at: number(),
    chain: internal(id()),
    seq: internal(number()),
    mac: internal(bytes()),
  },
  {
    unique: [['id'], ['tenant_id', 'dedup_key'], ['chain', 'seq']],
    identity: ['id'],
    // Each filter of the history reads its index backwards. The executions of one event share its time, so the first index
    // serves them too. The second also serves deleting a hook. Filters by decision often include a hook.
    indexes: [
      'executions_by_time (tenant_id, created_at, position)',
      'executions_by_hook (hook_id, tenant_id, created_at, position)',
      'executions_by_event (tenant_id, event, created_at, position)',
      'executions_by_decision (tenant_id, decision, created_at, position, hook_id)',
      'executions_by_session (tenant_id, session_id, created_at, position) where session_id is not null',
      'executions_by_agent (tenant_id, agent_id, created_at, position) where agent_id is not null',
      'executions_in_shadow (tenant_id, created_at, position) where shadow = :true',
    ],
    byWriter: 'executions_by_writer',
    // They leave gaps in their chains, which are recorded step by step.
    outlivesTenant: true,
  },
)

/** A stored execution. */
export type ExecutionRow = RowOf<typeof executions>

/** Recorded dispatches that are not in rows yet: one entry per group, across tenants. */
export const journal = table('audit_journal', {
  position: position(),
  id: id(),
  events: number(),
  sealed: text(),
  created_at: number(),
})

/** One chain per opened store. Rows up to `base_seq` are pruned. Pruning writes the base columns, recording the head. */
export const chains = table(
  'audit_chains',
  {
    chain: id(),
    /** Numbers the chains without gaps, so that a missing chain is noticed. */
    ordinal: number(),
    sealed_key: sealedByHand(),
    base_seq: number(),
    base_link: bytes(),
    base_mac: bytes(),
    head_seq: number(),
    head_link: bytes(),
    head_mac: bytes(),
  },
  { key: ['chain'], unique: [['ordinal']] },
)

/** Rows that were deleted with their tenant, and the link with which the chain continues. */
export const gaps = table(
  'audit_gaps',
  { chain: id(), from_seq: number(), to_seq: number(), link: bytes(), mac: bytes() },
  { key: ['chain', 'from_seq'], isKeyed: true },
)

/** The answers that idempotency keys received. */
export const keptAnswers = table(
  'idempotency',
  {
    tenant_id: id(),
    key: text(),
    /** Tells a repeated request from a different one. */
    request_hash: text(),
    answer: sealedByHand(),
    expires_at: number(),
  },
  {
    key: ['tenant_id', 'key'],
    isKeyed: true,
    indexes: ['answers_by_end (expires_at)'],
    expiry: [{ where: 'expires_at < :before', keep: 'none' }],
    windows: [{ ends: 'expires_at', within: 'answer_ms' }],
  },
)

/** What the events of a session add up to. */
export const sessions = table(
  'sessions',
  {
    tenant_id: id(),
    session_id: text(),
    agent_id: merged(nullable(text()), 'newest'),
    first_at: merged(number(), 'min'),
    last_at: merged(number(), 'max'),
    ...sums('events'),
    /** The name of the agent. */
    agent: merged(nullable(text()), 'newest'),
    folder: merged(nullable(text()), 'oldest'),
    /** The beginning of the first prompt, redacted. */
    title: merged(nullable(text()), 'oldest'),
    ended_at: merged(nullable(number()), 'newest'),
    ...sums('tool_calls', 'blocked', 'rewritten', 'asked'),
    /** How long its events waited for hooks, in total. */
    hook_ms: merged(real(), 'sum'),
  },
  {
    key: ['tenant_id', 'session_id'],
    isKeyed: true,
    indexes: ['sessions_by_time (tenant_id, last_at, session_id)'],
    expiry: [{ where: 'last_at < :before', keep: 'history' }],
  },
)

/** The sub-agents of a session. */
export const sessionLanes = table(
  'session_lanes',
  { tenant_id: id(), session_id: text(), lane: text(), created_at: merged(number(), 'min') },
  {
    key: ['tenant_id', 'session_id', 'lane'],
    isKeyed: true,
    expiry: [{ where: 'created_at < :before', keep: 'history' }],
  },
)

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
export type SessionFilter = Pick<HistoryFilter, 'since' | 'until' | 'except_sessions'>

/** A stored event. The texts are decrypted; undefined if the key is gone. */
export type StoredEvent = Omit<RowOf<typeof events>, 'request' | 'answer'> & {
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

export type SessionRow = Omit<RowOf<typeof sessions>, 'ended_at'> & {
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
export type KeptAnswer = Omit<RowOf<typeof keptAnswers>, 'tenant_id'> & { readonly tenant: string }

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
