import type { Decision } from '../engine/core/decision.ts'
import type { Execution, Log, Sink } from '../engine/core/records/sink.ts'

/** One recorded dispatch. */
export interface RecordedDispatch {
  readonly event: string
  readonly decision: Decision
  readonly executions: readonly Execution[]
}

/** A sink and a log for `createHooks` that keep everything they receive. */
export interface Recorder {
  readonly sink: Sink
  readonly log: Log
  /** Every dispatch, in order. */
  readonly dispatches: RecordedDispatch[]
  /** Executions that ended after their dispatch was answered. */
  readonly late: Execution[]
  /** Every log line, in order. */
  readonly lines: { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }[]
}

/** Creates a recorder. With `timed` the sink asks for durations. */
export function recorder(options: { timed?: boolean } = {}): Recorder {
  const dispatches: RecordedDispatch[] = []
  const late: Execution[] = []
  const lines: Recorder['lines'] = []
  return {
    dispatches,
    late,
    lines,
    log: (name, fields) => lines.push({ name, fields }),
    sink: {
      timed: options.timed ?? false,
      record: (dispatch) =>
        dispatches.push({
          event: dispatch.event,
          decision: dispatch.decision,
          executions: dispatch.executions(),
        }),
      late: (execution) => late.push(execution),
    },
  }
}
