import type { Decision } from '../engine/core/decision.ts'
import type { Execution, Log, Sink } from '../engine/core/sink.ts'

export interface Recorded {
  readonly event: string
  readonly decision: Decision
  readonly executions: readonly Execution[]
}

/** A sink and a log that remember, for tests. */
export interface Recorder {
  readonly sink: Sink
  readonly log: Log
  readonly dispatches: Recorded[]
  readonly late: Execution[]
  readonly lines: { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }[]
}

export function recorder(options: { timed?: boolean } = {}): Recorder {
  const dispatches: Recorded[] = []
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
