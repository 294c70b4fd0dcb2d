import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { after } from '../../engine/core/values/after.ts'
import type { Clock } from '../../engine/core/values/clock.ts'
import { createProcesses } from '../../safe/process/run-process.ts'
import type { NewSessionEvent, RunResult } from '../run-events.ts'
import type { RunnerOffer } from '../stored/run-tables.ts'
import type { RunOrder } from './execute-command.ts'
import { executeRun, type RunnerMeans } from './execute-run.ts'
import type { StoredMessages } from './model/model-history.ts'
import { createSessionLog } from './session-log.ts'

/** What a runner asks of the gateway. Errors have the codes of the gateway. */
export interface RunnerGateway {
  register(
    offer: RunnerOffer,
  ): Promise<{ readonly runner_id: string; readonly heartbeat_interval_seconds: number }>
  /** Without `takes_runs`, waits only for sessions to stop. */
  poll(runner: string, takesRuns: boolean, signal: AbortSignal): Promise<PolledOrder>
  heartbeat(runner: string): Promise<unknown>
  /** Repeated with the executor's own id of the session, once that is known. */
  started(runner: string, run: string, executorSession?: string): Promise<unknown>
  events(runner: string, run: string, events: readonly NewSessionEvent[]): Promise<unknown>
  /** The executor's own id of a session; undefined if it has none yet. */
  executorSession(session: string): Promise<string | undefined>
  /** The messages of a model that the runs of a session kept. */
  messages(session: string): Promise<readonly StoredMessages[]>
  /** Charges tokens of a run. Rejects with `prompt.budget` if nothing is left. */
  spend(runner: string, run: string, tokens: number): Promise<unknown>
  /** Stores the result, then reports the end. */
  completed(runner: string, run: string, result: RunResult): Promise<unknown>
  failed(
    runner: string,
    run: string,
    failure: { readonly error: string; readonly timed_out: boolean },
  ): Promise<unknown>
  stopped(runner: string, run: string): Promise<unknown>
  leave(runner: string): Promise<unknown>
}

export interface PolledOrder {
  readonly run?: RunOrder & { readonly blueprint: Readonly<Record<string, unknown>> }
  readonly stop_sessions?: readonly string[]
  readonly deregistered?: true
}

export interface RunnerOptions extends RunnerMeans {
  readonly gateway: RunnerGateway
  readonly offer: RunnerOffer
  readonly concurrency: number
}

export interface Runner {
  /** Resolves when the runner has stopped: by `stop`, or because the gateway removed it. */
  readonly ended: Promise<void>
  /** Takes no more runs, ends the running ones, and resolves when they are reported. */
  stop(): Promise<void>
}

const RETRY_MS = 1_000
/** The gateway takes no longer text. */
const MAX_ERROR = 10_000
/** So many attempts in a row that failed inside of the gateway, or while the runner stops, end a report. */
const MAX_ATTEMPTS = 60

/** Registers with a gateway, polls for runs and executes them. Registers again if the gateway forgot it. */
export function startRunner(options: RunnerOptions): Runner {
  const { gateway, offer, clock, log, concurrency } = options
  // The helper kills what the runs have started, if this process is killed.
  const processes = createProcesses({ concurrency, clock, start: 'helper' })
  processes.warm()
  const stopping = new AbortController()
  const active = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>()
  /** Active runs that have ended and report their result. */
  const reporting = new Set<string>()
  let freed = Promise.withResolvers<void>()
  let current: { readonly id: string; stopHeartbeat(): void } | undefined
  /** The gateway refused every report about a run. Heartbeats would keep it, so the runner registers again when it is idle. */
  let mustRegister = false

  async function register(): Promise<string> {
    current?.stopHeartbeat()
    const { runner_id: id, heartbeat_interval_seconds: seconds } = await gateway.register(offer)
    const ticker = clock.every(Math.max(1, seconds * 1_000), () => {
      gateway.heartbeat(id).catch((thrown) => log('runner.heartbeat_failed', { error: errorText(thrown) }))
    })
    current = { id, stopHeartbeat: () => ticker.stop() }
    mustRegister = false
    log('runner.registered', { runner_id: id })
    return id
  }

  async function serve(): Promise<void> {
    let id = await register()
    while (!stopping.signal.aborted) {
      try {
        const order = await pollOnce(id)
        if (order.deregistered) return
        for (const session of order.stop_sessions ?? []) active.get(session)?.stop.abort()
        if (order.run !== undefined) begin(id, order.run)
      } catch (thrown) {
        if (stopping.signal.aborted) return
        if (!isUnknownRunner(thrown)) throw thrown
        // Other runners get its runs, and the gateway refuses its reports.
        for (const { stop } of active.values()) stop.abort()
        id = await register()
      }
    }
  }

  /** A runner without a free place still learns which runs to stop, and polls for runs as soon as a place is free. */
  function pollOnce(id: string): Promise<PolledOrder> {
    const isFree = active.size - reporting.size < concurrency && !mustRegister
    if (isFree) return gateway.poll(id, true, stopping.signal)
    const place = new AbortController()
    const signal = AbortSignal.any([stopping.signal, place.signal])
    void freed.promise.then(() => place.abort())
    return gateway.poll(id, false, signal).catch((thrown: unknown): PolledOrder => {
      if (place.signal.aborted) return {}
      throw thrown
    })
  }

  function freePlace(): void {
    freed.resolve()
    freed = Promise.withResolvers()
  }

  function begin(id: string, run: NonNullable<PolledOrder['run']>): void {
    const stop = new AbortController()
    const done = execute(id, run, stop.signal)
      .catch((thrown) => {
        log('runner.report_failed', { run_id: run.run_id, error: errorText(thrown) })
        mustRegister ||= current?.id === id && !isLost(thrown)
      })
      .finally(async () => {
        active.delete(run.session_id)
        reporting.delete(run.run_id)
        if (mustRegister && active.size === 0 && !stopping.signal.aborted)
          await gateway.leave(id).catch(() => {})
        freePlace()
      })
    active.set(run.session_id, { stop, done })
  }

  async function execute(
    id: string,
    run: NonNullable<PolledOrder['run']>,
    signal: AbortSignal,
  ): Promise<void> {
    const { run_id } = run
    const session = createSessionLog((events) => repeatReport(() => gateway.events(id, run_id, events)), log)
    try {
      await repeatReport(() => gateway.started(id, run_id))
      const result = await executeRun(run, options, {
        ...{ signal, run: processes.run, emit: session.add, keep: session.keep },
        onSession: (own) => session.after(() => repeatReport(() => gateway.started(id, run_id, own))),
        findSession: () => gateway.executorSession(run.session_id),
        findMessages: () => gateway.messages(run.session_id),
        spendTokens: (count) => repeatReport(() => gateway.spend(id, run_id, count)),
      })
      await session.drain()
      // The hooks of the result may need this place for their agent.
      reporting.add(run_id)
      freePlace()
      await repeatReport(() => gateway.completed(id, run_id, result))
    } catch (thrown) {
      await session.drain()
      if (signal.aborted) await repeatReport(() => gateway.stopped(id, run_id))
      else if (!isLost(thrown)) {
        const timed_out = isHookError(thrown) && thrown.code === 'process.timeout'
        const error = errorText(thrown).slice(0, MAX_ERROR)
        await repeatReport(() => gateway.failed(id, run_id, { error, timed_out }))
      }
    }
  }

  /** Repeats a report until the gateway has it, or says that the run is no longer ours: heartbeats keep the run until then. */
  async function repeatReport(report: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await report()
        return
      } catch (thrown) {
        // What fails inside of the gateway each time is refused too.
        const isLimited = stopping.signal.aborted || isInternal(thrown)
        const isGivenUp = isLimited && attempt >= MAX_ATTEMPTS
        if (!isTransient(thrown) || isGivenUp) throw thrown
        await pause(clock, RETRY_MS)
      }
    }
  }

  async function serveUntilStopped(): Promise<void> {
    for (;;) {
      try {
        await serve()
        return
      } catch (thrown) {
        if (stopping.signal.aborted) return
        if (!isTransient(thrown)) throw thrown
        log('runner.gateway_failed', { error: errorText(thrown) })
        await pause(clock, RETRY_MS, stopping.signal)
      }
    }
  }

  async function close(): Promise<void> {
    for (const { stop } of active.values()) stop.abort()
    await Promise.all([...active.values()].map(({ done }) => done))
    current?.stopHeartbeat()
    processes.close()
    if (current !== undefined) await gateway.leave(current.id).catch(() => {})
  }

  const ended = serveUntilStopped().finally(close)
  // The caller of `stop` or `ended` gets the error; without one it must not end the process.
  ended.catch(() => {})
  return {
    ended,
    async stop() {
      stopping.abort()
      await ended.catch(() => {})
    },
  }
}

function isUnknownRunner(thrown: unknown): boolean {
  return isHookError(thrown) && thrown.code === 'runs.unknown_runner'
}

/** Whether the gateway says that the run is no longer this runner's: nothing is left to report. */
function isLost(thrown: unknown): boolean {
  return isUnknownRunner(thrown) || (isHookError(thrown) && thrown.code === 'gateway.not_found')
}

function isInternal(thrown: unknown): boolean {
  return isHookError(thrown) && thrown.code === 'gateway.internal'
}

const transient: readonly string[] = [
  ...['gateway.unreachable', 'gateway.stopping', 'gateway.busy', 'gateway.rate_limited', 'gateway.internal'],
  'store.unavailable',
]

function isTransient(thrown: unknown): boolean {
  return isHookError(thrown) && transient.includes(thrown.code)
}

function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const callOff = after(clock, ms, resolve)
    signal?.addEventListener(
      'abort',
      () => {
        callOff()
        resolve()
      },
      { once: true },
    )
  })
}
