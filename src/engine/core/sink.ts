import type { Envelope } from './context.ts'
import type { Decision, HookId, Kind } from './decision.ts'
import type { ErrorCode } from './error-table.ts'
import type { Trace } from './trace.ts'

/** How one hook of one dispatch ended. */
export type ExecutionDecision = Kind | 'error' | 'timeout' | 'skipped' | 'late' | 'aborted'

/** The record of one hook that ran, or that a guard skipped. */
export interface Execution {
  readonly hook: HookId
  readonly decision: ExecutionDecision
  readonly shadow?: true
  /** The second run on the final input. */
  readonly recheck?: true
  readonly code?: ErrorCode
  readonly reason?: string
  /** Known when the sink asks for times or the caller for a trace. */
  readonly durationMs?: number
  /** What the handler returned or threw, for sinks that keep it. */
  readonly detail?: unknown
  /** What the handler reported about its work. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** One dispatch, handed over after the answer was found. */
export interface DispatchRecord {
  readonly event: string
  readonly id: string
  readonly time: number
  readonly payload: unknown
  readonly envelope: Envelope
  readonly decision: Decision
  /** Built on request: a sink that does not look pays nothing. */
  executions(): readonly Execution[]
  /** Likewise, and complete with the hooks that did not match. Durations only where the sink is timed. */
  trace(): Trace
}

/** What a late answer belongs to. */
export type LateMoment = Pick<DispatchRecord, 'id' | 'time' | 'payload' | 'envelope'>

/** Who wants to know. Errors a sink throws are logged and change nothing. */
export interface Sink {
  /** Measure how long each hook takes. */
  readonly timed?: boolean
  record(dispatch: DispatchRecord): void
  /** An answer that came after the deadline, and the dispatch it was for. */
  late?(execution: Execution, event: string, moment: LateMoment): void
}

/** One line of the engine's own log; names under `security.` are reserved for what an operator must see. */
export type Log = (name: string, fields: Readonly<Record<string, unknown>>) => void
