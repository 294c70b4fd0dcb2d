import { errorText } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { AgentAnswer, StartAgentRequest } from '../engine/core/host.ts'
import { repeat } from '../engine/core/time/after.ts'
import type { Ticker } from '../engine/core/time/clock.ts'
import { createLedger, type TokenBudget, type TokenLedger } from '../handlers/prompt/token-budget.ts'
import type { Store } from '../store/store.ts'
import { type CodingAgentRuns, createCodingAgentRuns } from './coding-agents/coding-agent-runs.ts'
import type { RunProofs } from './coding-agents/run-proof.ts'
import { createRun, type RunOrigin, type RunRequest, resumeSession } from './create-run.ts'
import { finishRun } from './finish-run.ts'
import { startHookAgent } from './hooks/hook-agents.ts'
import type { HttpRunHookParts } from './hooks/http-run-hooks.ts'
import { createResultHooks } from './hooks/result-hooks.ts'
import { createRunHookReports } from './hooks/run-hook-reports.ts'
import {
  createRunnerKeeper,
  type PollAnswer,
  type PollRequest,
  Polls,
  type RunnerKeeper,
} from './poll-runs.ts'
import { prepareRun, type RunRefusal } from './prepare-run.ts'
import { createRunEvents, type NewSessionEvent, type RunEvents } from './run-events.ts'
import type { RunParts } from './run-parts.ts'
import { createRunWaits, hasEnded } from './run-waits.ts'
import type { RunReport, RunRow } from './stored/run-tables.ts'

/** Times of the coordinator, in milliseconds. */
export interface RunTimes {
  /** A runner that is silent for this long loses its runs; 45 000 by default. */
  readonly leaseMs?: number
  /** How long a poll waits for a run; 30 000 by default. */
  readonly pollMs?: number
}

export interface CoordinatorParts
  extends Pick<RunParts, 'edition' | 'clock' | 'log' | 'dispatch' | 'hasHooks'> {
  readonly store: RunParts['store'] & Pick<Store, 'onRunHint'>
  readonly times?: RunTimes
  readonly proofs: RunProofs
  /** The tokens of each tenant, for runs of models. */
  readonly budget: TokenBudget
  needsHooks(tenant: string): Promise<readonly string[]>
  /** The agents whose blueprints have `on_tool_call` hooks. */
  toolCallAgents(tenant: string): Promise<readonly string[]>
}

/** A report of a runner about a run that it holds. */
export interface RunnerReport {
  readonly tenant: string
  readonly run_id: string
  readonly runner_id: string
  readonly report: RunReport
}

type HeldRun = Omit<RunnerReport, 'report'>

export interface ResumeSessionRequest {
  readonly tenant: string
  readonly session_id: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly created_by: string
  /** The run that asks, so that chains of runs end. */
  readonly by_run_id?: string
}

const LEASE_MS = 45_000
const POLL_MS = 30_000
const SWEEP_MS = 1_000
const SWEEP_LIMIT = 100
/** A runner that is silent for so many leases is no longer listed. */
const REMOVED_AFTER_LEASES = 10
/** A run that so many runners lost fails. */
const MAX_ATTEMPTS = 3

/** Starts, hands out, watches and ends runs. Any number of coordinators share one store. */
export class Coordinator {
  readonly times: Required<RunTimes>
  readonly ofCodingAgents: CodingAgentRuns
  readonly events: RunEvents
  readonly #parts: RunParts
  readonly #runners: RunnerKeeper
  readonly #polls: Polls
  readonly #ledger: TokenLedger
  readonly #passResults: ReturnType<typeof createResultHooks>
  readonly #background = new Set<Promise<void>>()
  readonly #finishing = new Map<string, Promise<void>>()
  readonly #forgetHints: () => void
  readonly #sweeps: Ticker
  #cleanedAt = Number.NEGATIVE_INFINITY

  constructor(options: CoordinatorParts) {
    const { store, clock, log } = options
    this.times = { leaseMs: LEASE_MS, pollMs: POLL_MS, ...options.times }
    const waits = createRunWaits(clock)
    this.events = createRunEvents(store, clock)
    const reports = createRunHookReports({ store, events: this.events, clock })
    const fail: RunParts['fail'] = (run, end) => this.#fail(run, end)
    this.#parts = { ...options, ...this.times, events: this.events, waits, reports, fail }
    this.ofCodingAgents = createCodingAgentRuns({ ...options, waits })
    this.#ledger = createLedger(options.budget, log)
    this.#runners = createRunnerKeeper(store, clock, this.times.leaseMs)
    this.#passResults = createResultHooks(this.#parts)
    this.#polls = new Polls({
      ...this.#parts,
      runners: this.#runners,
      needsHooks: options.needsHooks,
      prepare: (taken) => void this.#inBackground(prepareRun(this.#parts, taken)),
    })
    this.#forgetHints = store.onRunHint(waits.announce)
    const sweepFailed = (thrown: unknown) => log('runs.sweep_failed', { error: errorText(thrown) })
    this.#sweeps = repeat(clock, SWEEP_MS, () => this.#sweep(), sweepFailed)
  }

  /** `origin`: what a rule decides about a run that it starts. With a key that exists, returns that run. */
  async start(request: RunRequest, origin?: RunOrigin): Promise<RunRow> {
    const run = await createRun(this.#parts, request, origin)
    this.#parts.waits.announce(request.tenant)
    return run
  }

  async resume({ tenant, session_id, by_run_id, ...request }: ResumeSessionRequest): Promise<RunRow> {
    const { store, waits } = this.#parts
    const session = await store.findRunSession(tenant, session_id)
    if (session === undefined) throw serverError('gateway.not_found', `session not found: ${session_id}`)
    const by = by_run_id === undefined ? undefined : await store.findRun(tenant, by_run_id)
    const run = await resumeSession(this.#parts, session, { ...request, depth: by ? by.depth + 1 : 0 })
    waits.announce(tenant)
    return run
  }

  /** Undefined if there is no such run. */
  async stop(tenant: string, runId: string): Promise<RunRow | undefined> {
    const stopped = await this.#parts.store.stopRun(tenant, runId)
    if (stopped === undefined) return undefined
    const { run, changed } = stopped
    if (changed && hasEnded(run)) this.#ended(run)
    if (changed) await stopHookRuns(this.#parts, run)
    this.#polls.expectStops()
    this.#parts.waits.announce(tenant)
    return run
  }

  /** Stops the runs of a session that no runner has taken yet, and resolves when what follows their end is done. */
  async stopWaiting(tenant: string, sessionId: string): Promise<void> {
    const stopped = await this.#parts.store.stopWaitingRuns(tenant, sessionId)
    for (const run of stopped) {
      this.#ended(run)
      await stopHookRuns(this.#parts, run)
    }
    await Promise.all(stopped.map(({ run_id }) => this.#finishing.get(run_id)))
  }

  poll(request: PollRequest): Promise<PollAnswer> {
    return this.#polls.poll(request)
  }

  /** Marks a runner and its runs as alive. */
  async keep(tenant: string, runnerId: string): Promise<void> {
    await this.#runners.refresh(tenant, runnerId)
  }

  async report({ tenant, run_id, runner_id, report }: RunnerReport): Promise<RunRow> {
    const { store, waits } = this.#parts
    await this.#runners.keep(tenant, runner_id)
    const reported = await store.reportRun(tenant, run_id, runner_id, report)
    if (reported === undefined) throw serverError('gateway.not_found', `run not found: ${run_id}`)
    const { run, changed } = reported
    if (changed && report.report === 'ended') this.#ended(run)
    // A call that may belong to the run waits for the session of its agent.
    if (report.report === 'started' && report.executor_session_id !== undefined) waits.announce(tenant)
    if (changed && report.report === 'started')
      await this.events.append(run, [
        {
          event_id: `${run_id}-started-${run.attempts}`,
          event_type: 'run_started',
          data: { status: 'running' },
        },
        { event_type: 'session_updated', data: { status: 'running' } },
      ])
    return run
  }

  /** Stores events of a runner in the session of its run. */
  async addEvents(holder: HeldRun, added: readonly NewSessionEvent[]): Promise<void> {
    const run = await this.#requireHeldRun(holder)
    await this.events.append(run, await this.#passResults(run, added))
  }

  /** Charges tokens of a run to its tenant. Throws `prompt.budget` if nothing is left of the budget. */
  async spendTokens(holder: HeldRun, tokens: number): Promise<void> {
    await this.#requireHeldRun(holder)
    await this.#ledger.spend(holder.tenant, tokens)
    await this.#ledger.check(holder.tenant)
  }

  /** The `startAgent` of the host: the agent of a hook becomes a run. */
  startAgent(request: StartAgentRequest, signal: AbortSignal): Promise<AgentAnswer> {
    return startHookAgent(this.#parts, request, signal)
  }

  /** What the http handler needs to report its run hooks. */
  get httpHooks(): HttpRunHookParts {
    return this.#parts
  }

  /** Ends waiting polls, so that the doors can close. Runs and hook runs continue elsewhere. */
  endPolls(): void {
    this.#parts.waits.close()
  }

  async close(): Promise<void> {
    this.endPolls()
    this.#forgetHints()
    this.#sweeps.stop()
    await Promise.all(this.#background)
  }

  #inBackground(work: Promise<void>): Promise<void> {
    const done = work
      .catch((thrown) => this.#parts.log('runs.failed', { error: errorText(thrown) }))
      .finally(() => this.#background.delete(done))
    this.#background.add(done)
    return done
  }

  /** Announces that a run ended, and begins what follows. */
  #ended(run: RunRow): void {
    this.#parts.waits.announce(run.tenant_id)
    this.#finish(run)
  }

  #finish(run: RunRow): void {
    if (this.#finishing.has(run.run_id) || this.#parts.waits.closed.aborted) return
    const finished = finishRun(this.#parts, run).finally(() => this.#finishing.delete(run.run_id))
    this.#finishing.set(run.run_id, this.#inBackground(finished))
  }

  async #fail(run: RunRow, end: RunRefusal): Promise<void> {
    const report: RunReport = { report: 'ended', status: 'failed', ...end }
    const reported = await this.#parts.store.reportRun(run.tenant_id, run.run_id, null, report)
    if (reported?.changed) this.#ended(reported.run)
  }

  /** Repairs abandoned runs, and continues what followed the end of a run when its node stopped. */
  async #sweep(): Promise<void> {
    const { store, clock, leaseMs, waits } = this.#parts
    const changed = await store.expireRuns({ max_attempts: MAX_ATTEMPTS, limit: SWEEP_LIMIT })
    for (const run of changed) {
      if (hasEnded(run)) this.#ended(run)
      waits.announce(run.tenant_id)
    }
    for (const run of await store.takeUnfinishedRuns(SWEEP_LIMIT)) this.#finish(run)
    if (clock.elapsed() - this.#cleanedAt < leaseMs) return
    this.#cleanedAt = clock.elapsed()
    await store.removeSilentRunners(REMOVED_AFTER_LEASES * leaseMs)
  }

  /** A runner that lost its run must not write into the session of its successor. */
  async #requireHeldRun({ tenant, run_id, runner_id }: HeldRun): Promise<RunRow> {
    await this.#runners.keep(tenant, runner_id)
    const run = await this.#parts.store.findRun(tenant, run_id)
    if (run !== undefined && run.runner_id === runner_id && !hasEnded(run)) return run
    throw serverError('gateway.not_found', `runner ${runner_id} has no run ${run_id}`)
  }
}

/** A run that stops needs no answer of its start hooks any more. */
async function stopHookRuns(
  { store }: RunParts,
  { tenant_id: tenant, session_id, run_id }: RunRow,
): Promise<void> {
  const { rows } = await store.listRuns(tenant, { parent_session_id: session_id }, { limit: SWEEP_LIMIT })
  for (const { parent_run_id, hook_point, ...child } of rows)
    if (parent_run_id === run_id && hook_point !== null && !hasEnded(child))
      await store.stopRun(tenant, child.run_id)
}
