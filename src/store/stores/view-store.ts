import type { Page } from './audit-store.ts'

/** What lists show of an event, in clear: every text is redacted, one line, and clipped. */
export interface EventSummaryFields {
  /** The name of the agent. */
  readonly agent: string | null
  /** The folder in which the agent works. */
  readonly folder: string | null
  /** The sub-agent. */
  readonly lane: string | null
  readonly tool: string | null
  /** The argument that tells most: a command, a path, an address. */
  readonly what: string | null
  readonly rewritten: boolean
  /** The policies that let the event pass although a hook failed. */
  readonly opened: string | null
  /** How many hooks failed. */
  readonly failed: number
  /** How many shadow hooks would have made the decision stricter. */
  readonly shadow: number
  readonly by_hook: string | null
  readonly hook_name: string | null
  readonly reason: string | null
  /** The event is a probe of `hookhelm doctor`. */
  readonly probe: boolean
}

/** What a record adds for lists: the summary, and the prompt if the event is one. */
export interface RecordedSummary extends EventSummaryFields {
  /** The beginning of a prompt of the user; the first one of a session is its title. */
  readonly title: string | null
}

/** An event in a list. */
export interface EventSummary extends EventSummaryFields {
  readonly event_id: string
  readonly event: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly kind: 'allow' | 'ask' | 'block'
  readonly code: string | null
  readonly duration_ms: number
  readonly created_at: number
}

export interface EventFilter {
  readonly event?: string
  readonly agent_id?: string
  readonly session_id?: string
  readonly kind?: EventSummary['kind']
  /** The hook that decided or rewrote. */
  readonly by_hook?: string
  readonly tool?: string
  /** A part of `what`, in any case. */
  readonly text?: string
  readonly min_ms?: number
  readonly rewritten?: boolean
  readonly opened?: boolean
  readonly failed?: boolean
  readonly since?: number
  readonly until?: number
  /** Include the probes of `hookhelm doctor`. */
  readonly probes?: boolean
}

/** The decisions of one span of time. */
export interface DecisionBucket {
  readonly at: number
  readonly allow: number
  readonly rewrite: number
  readonly ask: number
  readonly block: number
  readonly opened: number
  readonly failed: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

export interface HookCounts {
  readonly hook_id: string
  readonly hook_name: string | null
  readonly matched: number
  readonly block: number
  readonly ask: number
  readonly rewrite: number
  readonly failed: number
  readonly p95_ms: number | null
  readonly last_at: number
}

/** One value of a facet; null counts the events without one. */
export interface FacetCount {
  readonly value: string | null
  readonly name: string | null
  readonly count: number
}

export interface Facets {
  readonly event: readonly FacetCount[]
  readonly agent: readonly FacetCount[]
  readonly tool: readonly FacetCount[]
  readonly kind: readonly FacetCount[]
  readonly hook: readonly FacetCount[]
  readonly total: number
  /** False if only the newest events of the span were counted. */
  readonly complete: boolean
}

/** A recorded request, for trying conditions on it. */
export interface RecordedRequest extends EventSummary {
  /** Decrypted; undefined if the key is gone or the request is too large to try. */
  readonly request: string | undefined
}

export interface ViewStore {
  /** Newest first. A page may be short and still have a next one: each call examines a limited number of events. */
  listEvents(
    tenant: string,
    filter: EventFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<EventSummary>>
  /** Events after a cursor, oldest first, for live tails. Without a cursor: only the current cursor. */
  tailEvents(
    tenant: string,
    cursor: string | undefined,
    options: { readonly limit: number; readonly probes: boolean },
  ): Promise<Page<EventSummary>>
  /** One bucket per step, in order, empty ones included. Buckets begin at multiples of the step. */
  countDecisions(
    tenant: string,
    span: { readonly since: number; readonly until: number; readonly step: number },
  ): Promise<readonly DecisionBucket[]>
  /** What each hook did since the hour of `since`. */
  countHooks(tenant: string, since: number): Promise<readonly HookCounts[]>
  countFacets(tenant: string, filter: EventFilter): Promise<Facets>
  /** The latest events of one name with their requests. */
  recentRequests(
    tenant: string,
    event: string,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<RecordedRequest>>
}
