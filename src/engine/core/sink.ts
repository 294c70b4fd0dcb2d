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

/** One dispatch, handed to the sink after the decision. */
export interface DispatchRecord {
  readonly event: string
  readonly id: string
  readonly time: number
  readonly payload: unknown
  readonly envelope: Envelope
  readonly decision: Decision
  /** The executions, computed on request. */
  executions(): readonly Execution[]
  /** Explains the decision, computed on request. Durations are known only if the sink is timed. */
  trace(options?: TraceOptions): Trace
}

/** Options of `DispatchRecord.trace`. */
export interface TraceOptions {
  /** With more hooks than this that do not apply to the tool name or are switched off, they are counted, not listed. */
  readonly maxMisses?: number
}

/** The dispatch that a late answer belongs to. */
export type LateDispatch = Pick<DispatchRecord, 'event' | 'id' | 'time' | 'payload' | 'envelope'>

/** Receives records of dispatches. Errors that a sink throws are logged and change nothing. */
export interface Sink {
  /** Measure how long each hook takes. */
  readonly timed?: boolean
  record(dispatch: DispatchRecord): void
  /** Receives an answer that came after its deadline. */
  late?(execution: Execution, dispatch: LateDispatch): void
}

/** Writes one line of the engine's log; names under `security.` are reserved for what an operator must see. */
export type Log = (name: string, fields: Readonly<Record<string, unknown>>) => void
