import { runHookPointNames } from '../../../../src/runs/run-hook-points.ts'

export interface PointText {
  readonly point: string
  readonly title: string
  readonly about: string
  /** Whether its hooks decide, so that the run must wait for them. */
  readonly isGate: boolean
}

const texts: readonly PointText[] = [
  {
    point: 'on_run_start',
    title: 'Before the run',
    about: 'Each hook may change the parameters or block the run. The first block ends the chain.',
    isGate: true,
  },
  {
    point: 'on_run_finish',
    title: 'After the run',
    about: 'Starts further agents with the result. Nothing waits for them.',
    isGate: false,
  },
  {
    point: 'on_result',
    title: 'When the result arrives',
    about: 'Each hook may change the result before it is stored and sent.',
    isGate: true,
  },
  {
    point: 'on_tool_call',
    title: 'Before a tool call',
    about: 'Each hook may change or block a tool call of the agent.',
    isGate: true,
  },
  { point: 'on_error', title: 'When the run fails', about: 'Hears about the error.', isGate: false },
  { point: 'on_timeout', title: 'When the run takes too long', about: 'Hears about it.', isGate: false },
]

/** The points that this gateway runs, in the order of a run's life. */
export const hookPoints: readonly PointText[] = texts.filter(({ point }) =>
  runHookPointNames.some((name) => name === point),
)
