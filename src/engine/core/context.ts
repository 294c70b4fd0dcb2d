/** What the caller knows about the moment, beside the payload. */
export interface Envelope {
  readonly id?: string
  /** Milliseconds since 1970. */
  readonly time?: number
  readonly tenant?: string
  readonly agent?: string
  readonly agentId?: string
  readonly parentAgent?: string
  readonly session?: string
  readonly run?: string
  readonly turn?: string
  /** How many dispatches caused one another before this one. */
  readonly depth?: number
  readonly toolCall?: string
  /** The sub-agent within the session that this is about; none for the agent itself. */
  readonly lane?: string
  readonly cwd?: string
  readonly host?: string
  readonly hostVersion?: string
  /** How the agent's step ended, where the payload does not say. */
  readonly outcome?: string
  /** The W3C trace the event belongs to; spans of its hooks become part of it. */
  readonly traceparent?: string
  /** What the host sent, untouched. */
  readonly raw?: unknown
}

/** What a handler gets beside the payload. */
export interface HookContext {
  readonly event: string
  readonly id: string
  readonly time: number
  readonly depth: number
  readonly envelope: Envelope
  /** The payload as it was before any hook rewrote it. */
  readonly original: unknown
  /** How long the running hook may take before nobody waits for it any more. */
  readonly timeoutMs: number
  /** Aborted when the engine stops waiting: deadline, budget, or the caller's own signal. */
  readonly signal: AbortSignal
  /** Adds facts to the record of the hook that is running: an exit code, a status, tokens used. */
  report(facts: Readonly<Record<string, unknown>>): void
}
