import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { RunHookPoint } from './hooks/run-hook-points.ts'

/** The times of a run that its timeline shows. */
export interface TimelineRun {
  readonly run_id: string
  readonly created_at: number
  readonly started_at: number | null
  readonly completed_at: number | null
}

/** An event of a session, as the gateway returns it. */
export interface TimelineEvent {
  readonly event_type: string
  readonly run_id: string | null
  readonly timestamp: string
  readonly [field: string]: unknown
}

export type RunHookState = 'running' | 'continued' | 'changed' | 'blocked' | 'failed'

/** One execution of a run hook. */
export interface RunHookCall {
  readonly point: string
  readonly targetType: string
  readonly target: string
  readonly state: RunHookState
  /** Why it blocked or failed. */
  readonly reason?: string
  /** What its failure means for the run. */
  readonly onError?: string
  /** The session of the agent that it started. */
  readonly session?: string
  /** What it changed. Of a result only the names of the fields are kept. */
  readonly change?: RunHookChange
}

/** What one hook changed: the fields, what it got, and what it made of it. */
export interface RunHookChange {
  readonly fields: readonly string[]
  readonly original?: unknown
  readonly changed?: unknown
}

/** One bar of a timeline. */
export interface RunPhase {
  readonly kind: 'queued' | 'hook' | 'waiting' | 'running'
  readonly start: number
  /** Null while it lasts. */
  readonly end: number | null
  readonly hook?: RunHookCall
}

interface HookPhase extends RunPhase {
  readonly hook: RunHookCall
}

/** What a run spent its time on, in order: queue, start hooks, waiting for a runner, execution, all other hooks. */
export function readRunPhases(run: TimelineRun, events: readonly TimelineEvent[]): readonly RunPhase[] {
  const hooks = readHookPhases(run, events)
  const before = hooks.filter(({ hook }) => hook.point === 'on_run_start')
  const after = hooks.filter(({ hook }) => hook.point !== 'on_run_start')
  const firstHook = before[0]?.start
  const lastHook = before.some(({ end }) => end === null) ? null : before.at(-1)?.end
  const { created_at, started_at, completed_at } = run
  const queued = { kind: 'queued', start: created_at, end: firstHook ?? started_at ?? completed_at } as const
  const waitEnd = started_at ?? completed_at
  const isRefused = before.some(({ hook }) => refusesRun(hook))
  const isWaiting = !isRefused && typeof lastHook === 'number' && (waitEnd === null || waitEnd > lastHook)
  return [
    queued,
    ...before,
    ...(isWaiting ? [{ kind: 'waiting', start: lastHook, end: waitEnd } as const] : []),
    ...(started_at === null ? [] : [{ kind: 'running', start: started_at, end: completed_at } as const]),
    ...after,
  ]
}

const refusing: readonly string[] = ['on_run_start', 'on_result'] satisfies readonly RunHookPoint[]

/** Whether the hook is a reason why its run did not start, or why its result was refused. */
export function refusesRun({ point, state, onError }: RunHookCall): boolean {
  return refusing.includes(point) && (state === 'blocked' || (state === 'failed' && onError === 'block'))
}

function readHookPhases(run: TimelineRun, events: readonly TimelineEvent[]): readonly HookPhase[] {
  const phases: HookPhase[] = []
  const ofRun = events.filter(({ run_id }) => run_id === run.run_id)
  for (const event of ofRun) {
    if (event.event_type === 'hook_start') phases.push({ ...readPhase(event, 'running'), end: null })
    const state = endStates[event.event_type]
    if (state === undefined) continue
    const ended = readPhase(event, state)
    const index = phases.findIndex((phase) => isSameCall(phase, ended))
    const begun = phases[index]
    if (begun === undefined) phases.push(ended)
    else phases[index] = { ...ended, start: begun.start, hook: { ...begun.hook, ...ended.hook } }
  }
  return phases
}

const endStates: Readonly<Record<string, RunHookState>> = {
  hook_complete: 'continued',
  hook_failed: 'failed',
  hook_blocked: 'blocked',
}

/** A hook that only reports its end took the time that it names. */
function readPhase(event: TimelineEvent, state: RunHookState): HookPhase {
  const at = Date.parse(event.timestamp)
  const { duration_ms } = event
  const reason = textOf(event.block_reason) ?? textOf(event.error)
  const onError = textOf(event.on_error_behavior)
  const session = textOf(event.hook_session_id)
  const change = readChange(event)
  return {
    kind: 'hook',
    start: at - (typeof duration_ms === 'number' ? duration_ms : 0),
    end: at,
    hook: {
      state: state === 'continued' && change !== undefined ? 'changed' : state,
      point: textOf(event.hook_type) ?? 'hook',
      targetType: textOf(event.target_type) ?? 'hook',
      target: textOf(event.target_name) ?? '',
      ...definedFields({ reason, onError, session, change }),
    },
  }
}

function readChange({ changed_fields, original, changed }: TimelineEvent): RunHookChange | undefined {
  if (!Array.isArray(changed_fields) || changed_fields.length === 0) return undefined
  const fields = changed_fields.filter((field) => typeof field === 'string')
  return changed === undefined ? { fields } : { fields, original, changed }
}

function isSameCall({ end, hook }: HookPhase, { hook: ended }: HookPhase): boolean {
  if (end !== null || hook.point !== ended.point || hook.target !== ended.target) return false
  return hook.session === undefined || ended.session === undefined || hook.session === ended.session
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
