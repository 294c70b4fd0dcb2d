import { columns, type RowOf, table } from '../database/table.ts'
import { decisionKinds } from '../engine/core/decision.ts'
import type { EventListFilter } from './methods/event-list-methods.ts'

const { flag, id, internal, merged, nullable, number, oneOf, position, real, sums, text } = columns

/** The upper limits of the buckets in milliseconds; the last bucket holds everything above. Stored rows depend on them. */
export const histogramLimits = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1_000, 2_000, 5_000, 10_000],
] as const

/** One column per bucket, so that the database can add histograms up. */
export const histogramColumns = Array.from(
  { length: histogramLimits.length + 1 },
  (_, bucket) => `d${bucket}` as const,
)

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** What lists show of an event, in clear: every text is redacted, one line, and clipped. */
export const summaries = table(
  'event_summaries',
  {
    /** The order of writing. */
    position: internal(position()),
    tenant_id: internal(id()),
    event_id: text(),
    event: text(),
    session_id: nullable(text()),
    agent_id: nullable(text()),
    /** The name of the agent. */
    agent: nullable(text()),
    /** The folder in which the agent works. */
    folder: nullable(text()),
    /** The sub-agent. */
    lane: nullable(text()),
    tool: nullable(text()),
    /** The argument that tells most: a command, a path, an address. */
    what: nullable(text()),
    kind: oneOf(decisionKinds),
    rewritten: flag(),
    /** The policies that let the event pass although a hook failed. */
    opened: nullable(text()),
    /** How many hooks failed. */
    failed: number(),
    /** How many shadow hooks would have made the decision stricter. */
    shadow: number(),
    by_hook: nullable(text()),
    hook_name: nullable(text()),
    reason: nullable(text()),
    code: nullable(text()),
    duration_ms: real(),
    created_at: number(),
    /** The event is a probe of `hookhelm doctor`. */
    probe: flag(),
  },
  {
    indexes: [
      'summaries_by_time (tenant_id, created_at, position)',
      'summaries_by_event (tenant_id, event, created_at, position)',
      'summaries_by_tool (tenant_id, tool, created_at, position) where tool is not null',
      'summaries_by_session (tenant_id, session_id, created_at, position) where session_id is not null',
      // Few events have these, so they cost little.
      "summaries_by_kind (tenant_id, kind, created_at, position) where kind <> 'allow'",
      'summaries_by_hook (tenant_id, by_hook, created_at, position) where by_hook is not null',
      'summaries_rewritten (tenant_id, created_at, position) where rewritten = :true',
      'summaries_opened (tenant_id, created_at, position) where opened is not null',
      'summaries_failed (tenant_id, created_at, position) where failed > 0',
    ],
    byWriter: 'summaries_by_writer',
  },
)

const decisionColumns = {
  tenant_id: id(),
  minute: number(),
  ...sums('allow', 'rewrite', 'ask', 'block', 'opened', 'failed'),
  ...sums(...histogramColumns),
}
export const decisionMinutes = table('decision_minutes', decisionColumns, {
  key: ['tenant_id', 'minute'],
  isKeyed: true,
  expiry: [{ where: 'minute < :before', keep: 'history', span: MINUTE }],
})
/** The same per hour, for longer spans; `minute` is the first of the hour. */
export const decisionHours = table('decision_hours', decisionColumns, {
  key: ['tenant_id', 'minute'],
  isKeyed: true,
  expiry: [{ where: 'minute < :before', keep: 'history', span: HOUR }],
})

/** How many events of an hour have the same values. An empty text means none, because a key takes no null; flags are 0 or 1. */
export const eventHours = table(
  'event_hours',
  {
    tenant_id: id(),
    hour: number(),
    event: text(),
    agent_id: text(),
    tool: text(),
    kind: text(),
    by_hook: text(),
    rewritten: number(),
    opened: number(),
    failed: number(),
    agent: merged(nullable(text()), 'newest'),
    hook_name: merged(nullable(text()), 'newest'),
    ...sums('events'),
  },
  {
    key: [
      ...(['tenant_id', 'hour', 'event', 'agent_id', 'tool'] as const),
      ...(['kind', 'by_hook', 'rewritten', 'opened', 'failed'] as const),
    ],
    isKeyed: true,
    expiry: [{ where: 'hour < :before', keep: 'history', span: HOUR }],
  },
)

export const hookHours = table(
  'hook_hours',
  {
    tenant_id: id(),
    hour: number(),
    hook_id: text(),
    hook_name: merged(nullable(text()), 'newest'),
    ...sums('matched', 'block', 'ask', 'rewrite', 'failed'),
    last_at: merged(number(), 'max'),
    ...sums(...histogramColumns),
  },
  {
    key: ['tenant_id', 'hour', 'hook_id'],
    isKeyed: true,
    expiry: [{ where: 'hour < :before', keep: 'history', span: HOUR }],
  },
)

/**
 * What a record tells lists, as it came: the store redacts it before it writes it in clear. Absent fields are none, so
 * that a record of a plain allow stays small.
 */
export interface RecordedSummary {
  readonly agent?: string
  readonly folder?: string
  readonly lane?: string
  readonly tool?: string
  readonly what?: string
  readonly rewritten?: true
  readonly opened?: string
  readonly failed?: number
  readonly shadow?: number
  readonly by_hook?: string
  readonly hook_name?: string
  readonly reason?: string
  readonly probe?: true
  /** A prompt of the user; the beginning of the first one is the title of its session. */
  readonly prompt?: string
}

/** An event in a list. */
export type EventSummary = RowOf<typeof summaries>

/** The filter of a list, with the names of columns. */
export type EventFilter = Omit<EventListFilter, 'agent' | 'session' | 'hook' | 'minMs'> & {
  readonly agent_id?: string
  readonly session_id?: string
  /** The hook that decided or rewrote. */
  readonly by_hook?: string
  readonly min_ms?: number
}

/** A recorded request, for trying conditions on it. */
export interface RecordedRequest extends EventSummary {
  /** Decrypted; undefined if the key is gone or the request is too large to try. */
  readonly request: string | undefined
}
