import {
  decidingPoints,
  type RunHookPoint,
  runHookPointNames,
} from '../../../../src/runs/hooks/run-hook-points.ts'

export interface PointText {
  readonly point: RunHookPoint
  readonly title: string
  readonly about: string
  /** Whether its hooks decide, so that something waits for them. */
  readonly isGate: boolean
  /** Whether a hook may run without anything waiting for it. */
  readonly mayBeAsync: boolean
}

const texts: Readonly<Record<RunHookPoint, readonly [title: string, about: string]>> = {
  on_run_start: [
    'Before the run',
    'Each hook may change the parameters or block the run. The first block ends the chain.',
  ],
  on_tool_call: [
    'Before a tool call',
    'Each hook may change or block a tool call of the agent: of a model, or of a connected coding agent.',
  ],
  on_result: [
    'When the result arrives',
    'Each hook may change the result before it is stored and shown, or refuse it: the run fails then.',
  ],
  on_error: ['When the run fails', 'Each hook receives the error. The run does not wait for it.'],
  on_timeout: [
    'When the run takes too long',
    'Each hook receives the timeout, which does not count as an error.',
  ],
  on_run_finish: [
    'After the run',
    'Each hook may start another agent with the result. The run does not wait for it.',
  ],
}

/** Every point, in the order of a run's life. */
export const hookPoints: readonly PointText[] = runHookPointNames.map((point) => {
  const [title, about] = texts[point]
  return { point, title, about, isGate: decidingPoints.includes(point), mayBeAsync: point !== 'on_run_start' }
})
