import { serverError } from '../engine/core/errors/server-errors.ts'
import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
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

interface PollParts extends Pick<RunParts, 'store' | 'waits' | 'clock' | 'leaseMs' | 'pollMs'> {
  readonly runners: RunnerKeeper
  /** The agents whose runs have start hooks. */
  needsHooks(tenant: string): Promise<readonly string[]>
  /** Runs the start hooks of a run, in the background. */
  prepare(taken: TakenRun): void
}

/** A runner that was asked to stop a session is asked again after this time, if the session still runs. */
const ASK_AGAIN_MS = 5_000

/** A runner that polls again within this time gets a run before a stop that came to another node in between. */
const LOOKED_MS = 100

/** Answers long polls. A run that needs hooks is prepared while its poll goes on. */
export class Polls {
  readonly #parts: PollParts
  readonly #asked = new Map<string, number>()
  /** When each runner last had nothing to stop. */
  readonly #looked = new Map<string, number>()

  constructor(parts: PollParts) {
    this.#parts = parts
  }

  async poll(request: PollRequest): Promise<PollAnswer> {
    const { clock, pollMs, waits } = this.#parts
    const ended = new AbortController()
    const end = () => ended.abort()
    const callOff = after(clock, Math.max(1, pollMs), end)
    request.signal?.addEventListener('abort', end, { once: true })
    const isOver = () => ended.signal.aborted || waits.closed.aborted || request.signal?.aborted === true
    try {
      for (let look = 1; ; look++) {
        // Waits from before the look, so that a run in between is not missed.
        const change = waits.change(request.tenant, ended.signal)
        const answer = await this.#next(request)
        if (answer !== undefined) return answer
        // A runner that another node removed must not wait for a run that it cannot take.
        if (look === 1) await this.#parts.runners.refresh(request.tenant, request.runner_id)
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

  /** A run stops: every runner is asked to stop sessions before it gets a run. */
  expectStops(): void {
    this.#looked.clear()
  }

  async #next(request: PollRequest): Promise<PollAnswer | undefined> {
    const { tenant, runner_id } = request
    if ((await this.#parts.runners.keep(tenant, runner_id)).is_leaving) return { deregistered: true }
    const at = this.#looked.get(`${tenant} ${runner_id}`)
    const hasLooked = at !== undefined && this.#parts.clock.elapsed() - at < LOOKED_MS
    return (
      (hasLooked ? undefined : await this.#stops(request)) ??
      (request.takes_runs ? await this.#take(request) : undefined) ??
      (hasLooked ? await this.#stops(request) : undefined)
    )
  }

  async #stops({ tenant, runner_id }: PollRequest): Promise<PollAnswer | undefined> {
    const { store, clock } = this.#parts
    const now = clock.elapsed()
    for (const [runner, at] of this.#looked) if (now - at >= LOOKED_MS) this.#looked.delete(runner)
    this.#looked.set(`${tenant} ${runner_id}`, now)
    const sessions = await store.stoppingSessions(tenant, runner_id)
    for (const [session, at] of this.#asked) if (now - at >= ASK_AGAIN_MS) this.#asked.delete(session)
    const stop_sessions = sessions.filter((session) => !this.#asked.has(session))
    for (const session of stop_sessions) this.#asked.set(session, now)
    return stop_sessions.length > 0 ? { stop_sessions } : undefined
  }

  async #take({ tenant, runner_id, signal }: PollRequest): Promise<PollAnswer | undefined> {
    const { store, leaseMs } = this.#parts
    for (;;) {
      const needsHooks = await this.#parts.needsHooks(tenant)
      // A run for a runner that has disconnected would wait for the end of its lease.
      if (signal?.aborted) return undefined
      const taken = await store.takeRun({ tenant, runner_id, needsHooks, lease_ms: leaseMs })
      if (taken === undefined) return undefined
      if (taken.next === 'start') return { run: taken.run }
      this.#parts.prepare(taken)
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
