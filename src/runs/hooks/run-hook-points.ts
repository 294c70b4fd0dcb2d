/** The points of a run where hooks run, and the event of each, in the order of a run's life. */
export const runHookPoints = {
  on_run_start: 'run_start',
  on_tool_call: 'pre_tool_use',
  on_result: 'run_result',
  on_error: 'run_error',
  on_timeout: 'run_timeout',
  on_run_finish: 'run_finish',
} as const

export type RunHookPoint = keyof typeof runHookPoints

export const runHookPointNames: readonly RunHookPoint[] = [
  ...(['on_run_start', 'on_tool_call', 'on_result'] as const),
  ...(['on_error', 'on_timeout', 'on_run_finish'] as const),
]

/** The points whose hooks decide. At all others nothing waits for a hook. */
export const decidingPoints: readonly RunHookPoint[] = ['on_run_start', 'on_tool_call', 'on_result']

/** What a hook of a run may do. */
export const runHookTypes = ['agent', 'http'] as const

/** How an http hook of a run may be sent. */
export const runHookVerbs = ['POST', 'PUT', 'PATCH'] as const

/** The events that the coordinator sends itself. */
export type RunEventName = Exclude<(typeof runHookPoints)[RunHookPoint], 'pre_tool_use'>

/** The point whose hooks listen to this event. */
export function pointOfEvent(event: string | undefined): RunHookPoint | undefined {
  return runHookPointNames.find((point) => runHookPoints[point] === event)
}
