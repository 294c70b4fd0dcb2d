import { serverError } from '../engine/core/errors/server-errors.ts'
import { after } from '../engine/core/values/after.ts'
import type { Clock } from '../engine/core/values/clock.ts'
import type { RunParts } from './run-parts.ts'
import type { RunnerRow, RunRow, RunStore, TakenRun } from './stored/run-tables.ts'

/** What a runner is to do next. Empty: nothing, poll again. */
export type PollAnswer =
  | { readonly run: RunRow }
  | { readonly stop_sessions: readonly string[] }
  | { readonly deregistered: true }
  | Readonly<Record<never, never>>

export interface PollRequest {
  readonly tenant: string
  readonly runner_id: string
  /** False: the runner has no free place, and only wants to know what to stop. */
  readonly takes_runs: boolean
  /** Aborted when the runner has disconnected. */
  readonly signal?: AbortSignal
}

interface StartHooks {
  /** The agents whose runs have start hooks. */
  needsHooks(tenant: string): Promise<readonly string[]>
  /** Runs the start hooks of a run, in the background. */
  prepare(taken: TakenRun): void
}

/** A runner that was asked to stop a session is asked again after this time, if the session still runs. */
const ASK_AGAIN_MS = 5_000

/** A runner that polls again within this time gets a run before a stop that came to another node in between. */
const LOOKED_MS = 100

export interface Polls {
  poll(request: PollRequest): Promise<PollAnswer>
  /** A run stops: every runner is asked to stop sessions before it gets a run. */
  expectStops(): void
}

/** Answers long polls. A run that needs hooks is prepared while its poll goes on. */
export function createPolls(
  { store, waits, clock, leaseMs, pollMs }: RunParts,
  runners: RunnerKeeper,
  hooks: StartHooks,
): Polls {
  const asked = new Map<string, number>()
  /** When each runner last had nothing to stop. */
  const looked = new Map<string, number>()

  async function toStop({ tenant, runner_id }: PollRequest): Promise<readonly string[]> {
    const now = clock.elapsed()
    for (const [runner, at] of looked) if (now - at >= LOOKED_MS) looked.delete(runner)
    looked.set(`${tenant} ${runner_id}`, now)
    const sessions = await store.stoppingSessions(tenant, runner_id)
    for (const [session, at] of asked) if (now - at >= ASK_AGAIN_MS) asked.delete(session)
    const fresh = sessions.filter((session) => !asked.has(session))
    for (const session of fresh) asked.set(session, now)
    return fresh
  }

  async function take({ tenant, runner_id, signal }: PollRequest): Promise<PollAnswer | undefined> {
    for (;;) {
      const needsHooks = await hooks.needsHooks(tenant)
      // A run for a runner that has disconnected would wait for the end of its lease.
      if (signal?.aborted) return undefined
      const taken = await store.takeRun({ tenant, runner_id, needsHooks, lease_ms: leaseMs })
      if (taken === undefined) return undefined
      if (taken.next === 'start') return { run: taken.run }
      hooks.prepare(taken)
    }
  }

  async function next(request: PollRequest): Promise<PollAnswer | undefined> {
    const { tenant, runner_id } = request
    if ((await runners.keep(tenant, runner_id)).is_leaving) return { deregistered: true }
    const at = looked.get(`${tenant} ${runner_id}`)
    const hasLooked = at !== undefined && clock.elapsed() - at < LOOKED_MS
    return (
      (hasLooked ? undefined : await stops(request)) ??
      (request.takes_runs ? await take(request) : undefined) ??
      (hasLooked ? await stops(request) : undefined)
    )
  }

  async function stops(request: PollRequest): Promise<PollAnswer | undefined> {
    const stop_sessions = await toStop(request)
    return stop_sessions.length > 0 ? { stop_sessions } : undefined
  }

  return { poll, expectStops: () => looked.clear() }

  async function poll(request: PollRequest): Promise<PollAnswer> {
    const ended = new AbortController()
    const end = () => ended.abort()
    const callOff = after(clock, Math.max(1, pollMs), end)
    request.signal?.addEventListener('abort', end, { once: true })
    const isOver = () => ended.signal.aborted || waits.closed.aborted || request.signal?.aborted === true
    try {
      for (let look = 1; ; look++) {
        // Waits from before the look, so that a run in between is not missed.
        const change = waits.change(request.tenant, ended.signal)
        const answer = await next(request)
        if (answer !== undefined) return answer
        // A runner that another node removed must not wait for a run that it cannot take.
        if (look === 1) await runners.refresh(request.tenant, request.runner_id)
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

/** Keeps runners alive without a write for each of their calls. */
export interface RunnerKeeper {
  /** The runner as it was when it was last marked as alive. Throws `runs.unknown_runner` if it is not registered. */
  keep(tenant: string, runnerId: string): Promise<RunnerRow>
  /** Marks it as alive now. */
  refresh(tenant: string, runnerId: string): Promise<RunnerRow>
}

/** Fractions of a lease: heartbeats come every third. */
const FRESH = 1 / 6

export function createRunnerKeeper(
  store: Pick<RunStore, 'keepRunner'>,
  clock: Clock,
  leaseMs: number,
): RunnerKeeper {
  const kept = new Map<string, { readonly at: number; readonly row: RunnerRow }>()
  const isFresh = ({ at }: { readonly at: number }) => clock.elapsed() - at < leaseMs * FRESH
  const refresh: RunnerKeeper['refresh'] = async (tenant, runnerId) => {
    const key = `${tenant} ${runnerId}`
    const at = clock.elapsed()
    const row = await store.keepRunner(tenant, runnerId, leaseMs)
    for (const [other, known] of kept) if (!isFresh(known)) kept.delete(other)
    if (row === undefined) {
      kept.delete(key)
      throw serverError('runs.unknown_runner', `runner ${runnerId.slice(0, 200)} is not registered`)
    }
    kept.set(key, { at, row })
    return row
  }
  return {
    refresh,
    async keep(tenant, runnerId) {
      const known = kept.get(`${tenant} ${runnerId}`)
      return known !== undefined && isFresh(known) ? known.row : refresh(tenant, runnerId)
    },
  }
}
