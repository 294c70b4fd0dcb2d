import { after } from '../engine/core/after.ts'
import type { Clock } from '../engine/core/clock.ts'
import { serverError } from '../engine/core/server-errors.ts'
import type { RunRow, RunStore, TakenRun } from '../store/stores/run-store.ts'
import type { RunWaits } from './run-waits.ts'

/** What a runner is to do next. Empty: nothing, poll again. */
export type PollAnswer =
  | { readonly run: RunRow }
  | { readonly stop_sessions: readonly string[] }
  | { readonly deregistered: true }
  | Readonly<Record<never, never>>

export interface PollRequest {
  readonly tenant: string
  readonly runner_id: string
  readonly wait_ms: number
  /** False: the runner has no free place, and only wants to know what to stop. */
  readonly takes_runs: boolean
  /** Aborted when the runner has disconnected. */
  readonly signal?: AbortSignal
}

interface PollParts {
  readonly store: Pick<RunStore, 'keepRunner' | 'stoppingSessions' | 'takeRun'>
  readonly waits: RunWaits
  readonly clock: Clock
  readonly leaseMs: number
  /** The agents whose runs have start hooks. */
  needsHooks(tenant: string): Promise<readonly string[]>
  /** Runs the start hooks of a run, in the background. */
  prepare(taken: TakenRun): void
}

/** A runner that was asked to stop a session is asked again after this time, if the session still runs. */
const ASK_AGAIN_MS = 5_000

/** Answers long polls. A run that needs hooks is prepared while its poll goes on. */
export function createPolls(parts: PollParts): (request: PollRequest) => Promise<PollAnswer> {
  const { store, waits, clock, leaseMs } = parts
  const asked = new Map<string, number>()

  async function toStop({ tenant, runner_id }: PollRequest): Promise<readonly string[]> {
    const sessions = await store.stoppingSessions(tenant, runner_id)
    const now = clock.elapsed()
    for (const [session, at] of asked) if (now - at >= ASK_AGAIN_MS) asked.delete(session)
    const fresh = sessions.filter((session) => !asked.has(session))
    for (const session of fresh) asked.set(session, now)
    return fresh
  }

  async function next(request: PollRequest): Promise<PollAnswer | undefined> {
    const { tenant, runner_id } = request
    const runner = await store.keepRunner(tenant, runner_id, leaseMs)
    if (runner === undefined) throw unknownRunner(runner_id)
    if (runner.is_leaving) return { deregistered: true }
    const stop_sessions = await toStop(request)
    if (stop_sessions.length > 0) return { stop_sessions }
    if (!request.takes_runs) return undefined
    for (;;) {
      const needsHooks = await parts.needsHooks(tenant)
      const taken = await store.takeRun({ tenant, runner_id, needsHooks, lease_ms: leaseMs })
      if (taken === undefined) return undefined
      if (taken.next === 'start') return { run: taken.run }
      parts.prepare(taken)
    }
  }

  return async (request) => {
    const ended = new AbortController()
    const end = () => ended.abort()
    const callOff = after(clock, Math.max(1, request.wait_ms), end)
    request.signal?.addEventListener('abort', end, { once: true })
    const isOver = () => ended.signal.aborted || waits.closed.aborted || request.signal?.aborted === true
    try {
      for (;;) {
        // Waits from before the look, so that a run in between is not missed.
        const change = waits.change(request.tenant, ended.signal)
        const answer = await next(request)
        if (answer !== undefined) return answer
        if (isOver()) return {}
        await change
        if (isOver()) return {}
      }
    } finally {
      callOff()
      end()
      request.signal?.removeEventListener('abort', end)
    }
  }
}

export function unknownRunner(runnerId: string): Error {
  return serverError('runs.unknown_runner', `runner ${runnerId.slice(0, 200)} is not registered`)
}
