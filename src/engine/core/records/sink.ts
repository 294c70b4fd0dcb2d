import type { Envelope } from '../context.ts'
import { type Decision, decisionKinds, type HookId } from '../decision.ts'
import type { ErrorCode } from '../errors/error-table.ts'
import type { Trace } from './trace.ts'

export const executionDecisions = [
  ...decisionKinds,
  ...(['error', 'timeout', 'skipped', 'late', 'aborted'] as const),
] as const
/** How one hook of one dispatch ended. */
export type ExecutionDecision = (typeof executionDecisions)[number]

/** The record of one hook that ran, or that a guard skipped. */
export interface Execution {
  readonly hook: HookId
  readonly decision: ExecutionDecision
  /** The hook is a shadow hook: its result was not applied. */
  readonly shadow?: true
  /** The second run, on the final input. */
  readonly recheck?: true
  /** Set if the hook failed or was skipped. */
  readonly code?: ErrorCode
  readonly reason?: string
  /** Set if the sink is `timed` or the caller asked for a trace. */
  readonly durationMs?: number
  /** What the handler returned or threw. */
  readonly detail?: unknown
  /** What the handler reported with `context.report`. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** The record of one dispatch. The sink receives it after the decision. */
export interface DispatchRecord {
  readonly event: string
  readonly id: string
  readonly time: number
  readonly payload: unknown
  readonly envelope: Envelope
  readonly decision: Decision
  /** The hooks that ran or were skipped, computed on request. Call it as a method of the record. */
  executions(): readonly Execution[]
  /** How the decision came about, computed on request. Durations are known only if the sink is timed. */
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
  /** Whether to measure how long each hook takes. */
  readonly timed?: boolean
  /** Receives a dispatch after its decision. */
  record(dispatch: DispatchRecord): void
  /** Receives an answer that came after its deadline. */
  late?(execution: Execution, dispatch: LateDispatch): void
}

/** Writes one line of the engine's log. Names that begin with `security.` mark what an operator must see. */
export type Log = (name: string, fields: Readonly<Record<string, unknown>>) => void
