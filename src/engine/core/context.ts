/** The sessions that `hookhelm doctor` makes begin with this text, so that listings can leave them out. */
export const DOCTOR_SESSION_PREFIX = 'hookhelm-doctor-'

/** What the caller knows about an event in addition to its payload. Every field is optional. */
export interface Envelope {
  /** The id of the event; a new one by default. */
  readonly id?: string
  /** When the event happened, in milliseconds since 1970; now by default. */
  readonly time?: number
  /** The tenant. Guards of two tenants do not share state. */
  readonly tenant?: string
  /** The name of the agent. `agent_ids` of a hook may contain it. */
  readonly agent?: string
  /** The id of the agent. `agent_ids` of a hook may contain it. */
  readonly agentId?: string
  /** The agent that started this one. */
  readonly parentAgent?: string
  /** The session of the agent. */
  readonly session?: string
  /** The run of the agent. */
  readonly run?: string
  /** The turn within the session; `max_invocations_per_turn` counts in it. */
  readonly turn?: string
  /** How many dispatches led to this one; 0 by default. The engine limits it to prevent loops. */
  readonly depth?: number
  /** The id of the tool call. */
  readonly toolCall?: string
  /** The sub-agent within the session; none for the main agent. */
  readonly lane?: string
  /** The working directory of the agent. */
  readonly cwd?: string
  /** The folder where the session began, which stays the same when the agent changes its directory. */
  readonly project?: string
  /** The program that the agent runs in. */
  readonly host?: string
  /** The version of that program. */
  readonly hostVersion?: string
  /** How the agent's step ended, if the payload has no `outcome`. */
  readonly outcome?: string
  /** The W3C trace context of the event; spans of its hooks join that trace. */
  readonly traceparent?: string
  /** The process of the agent, if the gateway knows it: its id and when it began. */
  readonly process?: string
  /** The turn that the latest prompt of that process began, whatever session it named; empty if it sent none. */
  readonly processTurn?: string
  /** The id of the member whose token sent the event. */
  readonly member?: string
  /** What the host sent, unchanged. */
  readonly raw?: unknown
}

/** What a hook receives in addition to the payload. */
export interface HookContext {
  /** The canonical name of the event. */
  readonly event: string
  /** The id of the event. */
  readonly id: string
  /** When the event happened, in milliseconds since 1970. */
  readonly time: number
  /** How many dispatches led to this one. Pass `depth + 1` in the envelope if the hook dispatches an event itself. */
  readonly depth: number
  /** The envelope of the dispatch, frozen. */
  readonly envelope: Envelope
  /** The payload before any hook rewrote it. */
  readonly original: unknown
  /** How long the engine waits for this hook. */
  readonly timeoutMs: number
  /** Aborted when the engine stops waiting: at the deadline, when the budget is used up, or by the caller's signal. */
  readonly signal: AbortSignal
  /** Adds facts, such as an exit code or the tokens used, to the record of this hook. */
  report(facts: Readonly<Record<string, unknown>>): void
}

/**
 * Whose events count together where a session counts: those of one process in one folder, if the gateway knows them, because
 * a caller may name another session in each event.
 */
export function callerKey({ process, cwd, session }: Envelope): string | undefined {
  if (process !== undefined && cwd !== undefined) return `process ${process} in ${cwd}`
  return session === undefined ? undefined : `session ${session}`
}

/** The turn in which the caller is. */
export function callerTurn({ process, processTurn, turn = '' }: Envelope): string {
  return process === undefined ? turn : (processTurn ?? turn)
}
