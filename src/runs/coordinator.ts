import { errorText } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { AgentAnswer, StartAgentRequest } from '../engine/core/host.ts'
import { createLedger, type TokenBudget } from '../handlers/prompt/token-budget.ts'
import type { Store } from '../store/store.ts'
import { type CodingAgentRuns, createCodingAgentRuns } from './coding-agent-runs.ts'
import { createRun, type RunOrigin, type RunRequest, resumeSession } from './create-run.ts'
import { finishRun } from './finish-run.ts'
import { startHookAgent } from './hooks/hook-agents.ts'
import type { HttpRunHookParts } from './hooks/http-run-hooks.ts'
import { createResultHooks } from './hooks/result-hooks.ts'
import { createRunHookReports } from './hooks/run-hook-reports.ts'
import { createPolls, createRunnerKeeper, type PollAnswer, type PollRequest } from './poll-runs.ts'
import { prepareRun } from './prepare-run.ts'
import { createRunEvents, type NewSessionEvent, type RunEvents } from './run-events.ts'
import type { RunParts } from './run-parts.ts'
import type { RunProofs } from './run-proof.ts'
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

/** Starts, hands out, watches and ends runs. Any number of coordinators share one store. */
export interface Coordinator {
  /** `origin`: what a rule decides about a run that it starts. With a key that exists, returns that run. */
  start(request: RunRequest, origin?: RunOrigin): Promise<RunRow>
  resume(request: ResumeSessionRequest): Promise<RunRow>
  /** Undefined if there is no such run. */
  stop(tenant: string, runId: string): Promise<RunRow | undefined>
  /** Stops the runs of a session that no runner has taken yet, and resolves when what follows their end is done. */
  stopWaiting(tenant: string, sessionId: string): Promise<void>
  poll(request: PollRequest): Promise<PollAnswer>
  /** Marks a runner and its runs as alive. */
  keep(tenant: string, runnerId: string): Promise<void>
  report(report: RunnerReport): Promise<RunRow>
  /** Stores events of a runner in the session of its run. */
  addEvents(run: Omit<RunnerReport, 'report'>, events: readonly NewSessionEvent[]): Promise<void>
  /** Charges tokens of a run to its tenant. Throws `prompt.budget` if nothing is left of the budget. */
  spendTokens(run: Omit<RunnerReport, 'report'>, tokens: number): Promise<void>
  /** The `startAgent` of the host: the agent of a hook becomes a run. */
  startAgent(request: StartAgentRequest, signal: AbortSignal): Promise<AgentAnswer>
  readonly ofCodingAgents: CodingAgentRuns
  /** What the http handler needs to report its run hooks. */
  readonly httpHooks: HttpRunHookParts
  readonly onEvents: RunEvents['onAppended']
  readonly deleteSession: RunEvents['deleteSession']
  readonly times: Required<RunTimes>
  /** Ends waiting polls, so that the doors can close. Runs and hook runs continue elsewhere. */
  endPolls(): void
  close(): Promise<void>
}

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

export function createCoordinator(options: CoordinatorParts): Coordinator {
  const { store, clock, log } = options
  const times = { leaseMs: LEASE_MS, pollMs: POLL_MS, ...options.times }
  const waits = createRunWaits(clock)
  const ledger = createLedger(options.budget, log)
  const runners = createRunnerKeeper(store, clock, times.leaseMs)
  const events = createRunEvents(store, clock)
  const background = new Set<Promise<void>>()
  const reports = createRunHookReports({ store, events, clock })
  const parts: RunParts = { ...options, ...times, events, waits, reports, fail }

  const inBackground = (work: Promise<void>) => {
    const done = work
      .catch((thrown) => log('runs.failed', { error: errorText(thrown) }))
      .finally(() => background.delete(done))
    background.add(done)
    return done
  }
  const finishing = new Map<string, Promise<void>>()
  /** Announces that a run ended, and begins what follows. */
  function ended(run: RunRow): void {
    waits.announce(run.tenant_id)
    finish(run)
  }
  function finish(run: RunRow): void {
    if (finishing.has(run.run_id) || waits.closed.aborted) return
    const finished = finishRun(parts, run).finally(() => finishing.delete(run.run_id))
    finishing.set(run.run_id, inBackground(finished))
  }
  async function fail(run: RunRow, end: Parameters<RunParts['fail']>[1]) {
    const report: RunReport = { report: 'ended', status: 'failed', ...end }
    const reported = await store.reportRun(run.tenant_id, run.run_id, null, report)
    if (reported?.changed) ended(reported.run)
  }
  const passResults = createResultHooks(parts)
  const polls = createPolls(parts, runners, {
    needsHooks: options.needsHooks,
    prepare: (taken) => void inBackground(prepareRun(parts, taken)),
  })
  const forgetHints = store.onRunHint(waits.announce)
  const sweep = startSweep(parts, { ended, finish })

  return {
    async start(request, origin) {
      const run = await createRun(parts, request, origin)
      waits.announce(request.tenant)
      return run
    },
    async resume({ tenant, session_id, by_run_id, ...request }) {
      const session = await store.findRunSession(tenant, session_id)
      if (session === undefined) throw serverError('gateway.not_found', `session not found: ${session_id}`)
      const by = by_run_id === undefined ? undefined : await store.findRun(tenant, by_run_id)
      const run = await resumeSession(parts, session, { ...request, depth: by ? by.depth + 1 : 0 })
      waits.announce(tenant)
      return run
    },
    async stop(tenant, runId) {
      const stopped = await store.stopRun(tenant, runId)
      if (stopped === undefined) return undefined
      const { run, changed } = stopped
      if (changed && hasEnded(run)) ended(run)
      if (changed) await stopHookRuns(run)
      polls.expectStops()
      waits.announce(tenant)
      return run
    },
    async keep(tenant, runnerId) {
      await runners.refresh(tenant, runnerId)
    },
    async stopWaiting(tenant, sessionId) {
      const stopped = await store.stopWaitingRuns(tenant, sessionId)
      for (const run of stopped) {
        ended(run)
        await stopHookRuns(run)
      }
      await Promise.all(stopped.map(({ run_id }) => finishing.get(run_id)))
    },
    poll: polls.poll,
    async report({ tenant, run_id, runner_id, report }) {
      await runners.keep(tenant, runner_id)
      const reported = await store.reportRun(tenant, run_id, runner_id, report)
      if (reported === undefined) throw serverError('gateway.not_found', `run not found: ${run_id}`)
      const { run, changed } = reported
      if (changed && report.report === 'ended') ended(run)
      // A call that may belong to the run waits for the session of its agent.
      if (report.report === 'started' && report.executor_session_id !== undefined) waits.announce(tenant)
      if (changed && report.report === 'started')
        await events.append(run, [
          {
            event_id: `${run_id}-started-${run.attempts}`,
            event_type: 'run_started',
            data: { status: 'running' },
          },
          { event_type: 'session_updated', data: { status: 'running' } },
        ])
      return run
    },
    async addEvents(holder, added) {
      const run = await requireHeldRun(holder)
      await events.append(run, await passResults(run, added))
    },
    async spendTokens(holder, tokens) {
      await requireHeldRun(holder)
      await ledger.spend(holder.tenant, tokens)
      await ledger.check(holder.tenant)
    },
    startAgent: (request, signal) => startHookAgent(parts, request, signal),
    httpHooks: parts,
    ofCodingAgents: createCodingAgentRuns({ ...options, waits }),
    onEvents: events.onAppended,
    deleteSession: events.deleteSession,
    times,
    endPolls: () => waits.close(),
    async close() {
      waits.close()
      forgetHints()
      sweep.stop()
      await Promise.all(background)
    },
  }

  /** A runner that lost its run must not write into the session of its successor. */
  async function requireHeldRun({
    tenant,
    run_id,
    runner_id,
  }: Omit<RunnerReport, 'report'>): Promise<RunRow> {
    await runners.keep(tenant, runner_id)
    const run = await store.findRun(tenant, run_id)
    if (run !== undefined && run.runner_id === runner_id && !hasEnded(run)) return run
    throw serverError('gateway.not_found', `runner ${runner_id} has no run ${run_id}`)
  }

  /** A run that stops needs no answer of its start hooks any more. */
  async function stopHookRuns({ tenant_id: tenant, session_id, run_id }: RunRow): Promise<void> {
    const { rows } = await store.listRuns(tenant, { parent_session_id: session_id }, { limit: SWEEP_LIMIT })
    for (const { parent_run_id, hook_point, ...child } of rows)
      if (parent_run_id === run_id && hook_point !== null && !hasEnded(child))
        await store.stopRun(tenant, child.run_id)
  }
}

/** Repairs abandoned runs, and continues what followed the end of a run when its node stopped. */
function startSweep(
  { store, clock, log, leaseMs, waits }: RunParts,
  { ended, finish }: { ended(run: RunRow): void; finish(run: RunRow): void },
): { stop(): void } {
  let sweeping = false
  let cleanedAt = Number.NEGATIVE_INFINITY
  const sweep = async () => {
    const changed = await store.expireRuns({ max_attempts: MAX_ATTEMPTS, limit: SWEEP_LIMIT })
    for (const run of changed) {
      if (hasEnded(run)) ended(run)
      waits.announce(run.tenant_id)
    }
    for (const run of await store.takeUnfinishedRuns(SWEEP_LIMIT)) finish(run)
    if (clock.elapsed() - cleanedAt < leaseMs) return
    cleanedAt = clock.elapsed()
    await store.removeSilentRunners(REMOVED_AFTER_LEASES * leaseMs)
  }
  const ticker = clock.every(SWEEP_MS, () => {
    if (sweeping) return
    sweeping = true
    sweep()
      .catch((thrown) => log('runs.sweep_failed', { error: errorText(thrown) }))
      .finally(() => {
        sweeping = false
      })
  })
  ticker.hold(false)
  return { stop: () => ticker.stop() }
}
