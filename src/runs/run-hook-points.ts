/** The points of a run where hooks run, and the event of each. */
export const runHookPoints = { on_run_start: 'run_start', on_run_finish: 'run_finish' } as const

export type RunHookPoint = keyof typeof runHookPoints

export const runHookPointNames: readonly RunHookPoint[] = ['on_run_start', 'on_run_finish']

/** What a hook of a run may do. */
export const runHookTypes: readonly ('agent' | 'http')[] = ['agent']
