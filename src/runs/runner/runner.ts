import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { pause } from '../../engine/core/time/after.ts'
import { createProcesses, type Processes } from '../../safe/process/run-process.ts'
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

const RETRY_MS = 1_000
/** The gateway takes no longer text. */
const MAX_ERROR = 10_000
/** So many attempts in a row that failed inside of the gateway, or while the runner stops, end a report. */
const MAX_ATTEMPTS = 60

/** Registers with a gateway, polls for runs and executes them. Registers again if the gateway forgot it. */
export class Runner {
  /** Resolves when the runner has stopped: by `stop`, or because the gateway removed it. */
  readonly ended: Promise<void>
  readonly #options: RunnerOptions
  readonly #gateway: RunnerGateway
  readonly #processes: Processes
  readonly #stopping = new AbortController()
  readonly #active = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>()
  /** Active runs that have ended and report their result. */
  readonly #reporting = new Set<string>()
  #freed = Promise.withResolvers<void>()
  #current: { readonly id: string; stopHeartbeat(): void } | undefined
  /** The gateway refused every report about a run. Heartbeats would keep it, so the runner registers again when it is idle. */
  #mustRegister = false

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#gateway = options.gateway
    const { concurrency, clock } = options
    // The helper kills what the runs have started, if this process is killed.
    this.#processes = createProcesses({ concurrency, clock, start: 'helper' })
    this.#processes.warm()
    this.ended = this.#serveUntilStopped().finally(() => this.#close())
    // The caller of `stop` or `ended` gets the error; without one it must not end the process.
    this.ended.catch(() => {})
  }

  /** Takes no more runs, ends the running ones, and resolves when they are reported. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.ended.catch(() => {})
  }

  async #register(): Promise<string> {
    this.#current?.stopHeartbeat()
    const { runner_id: id, heartbeat_interval_seconds: seconds } = await this.#gateway.register(
      this.#options.offer,
    )
    const ticker = this.#options.clock.every(Math.max(1, seconds * 1_000), () => {
      this.#gateway
        .heartbeat(id)
        .catch((thrown) => this.#options.log('runner.heartbeat_failed', { error: errorText(thrown) }))
    })
    this.#current = { id, stopHeartbeat: () => ticker.stop() }
    this.#mustRegister = false
    this.#options.log('runner.registered', { runner_id: id })
    return id
  }

  async #serve(): Promise<void> {
    let id = await this.#register()
    while (!this.#stopping.signal.aborted) {
      try {
        const order = await this.#pollOnce(id)
        if (order.deregistered) return
        for (const session of order.stop_sessions ?? []) this.#active.get(session)?.stop.abort()
        if (order.run !== undefined) this.#begin(id, order.run)
      } catch (thrown) {
        if (this.#stopping.signal.aborted) return
        if (!isUnknownRunner(thrown)) throw thrown
        // Other runners get its runs, and the gateway refuses its reports.
        for (const { stop } of this.#active.values()) stop.abort()
        id = await this.#register()
      }
    }
  }

  /** A runner without a free place still learns which runs to stop, and polls for runs as soon as a place is free. */
  #pollOnce(id: string): Promise<PolledOrder> {
    const isFree = this.#active.size - this.#reporting.size < this.#options.concurrency && !this.#mustRegister
    if (isFree) return this.#gateway.poll(id, true, this.#stopping.signal)
    const place = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, place.signal])
    void this.#freed.promise.then(() => place.abort())
    return this.#gateway.poll(id, false, signal).catch((thrown: unknown): PolledOrder => {
      if (place.signal.aborted) return {}
      throw thrown
    })
  }

  #freePlace(): void {
    this.#freed.resolve()
    this.#freed = Promise.withResolvers()
  }

  #begin(id: string, run: NonNullable<PolledOrder['run']>): void {
    const stop = new AbortController()
    const done = this.#execute(id, run, stop.signal)
      .catch((thrown) => {
        this.#options.log('runner.report_failed', { run_id: run.run_id, error: errorText(thrown) })
        this.#mustRegister ||= this.#current?.id === id && !isLost(thrown)
      })
      .finally(async () => {
        this.#active.delete(run.session_id)
        this.#reporting.delete(run.run_id)
        if (this.#mustRegister && this.#active.size === 0 && !this.#stopping.signal.aborted)
          await this.#gateway.leave(id).catch(() => {})
        this.#freePlace()
      })
    this.#active.set(run.session_id, { stop, done })
  }

  async #execute(id: string, run: NonNullable<PolledOrder['run']>, signal: AbortSignal): Promise<void> {
    const { run_id } = run
    const session = createSessionLog(
      (events) => this.#repeatReport(() => this.#gateway.events(id, run_id, events)),
      this.#options.log,
    )
    try {
      await this.#repeatReport(() => this.#gateway.started(id, run_id))
      const result = await executeRun(run, this.#options, {
        ...{ signal, run: this.#processes.run, emit: session.add, keep: session.keep },
        onSession: (own) =>
          session.after(() => this.#repeatReport(() => this.#gateway.started(id, run_id, own))),
        findSession: () => this.#gateway.executorSession(run.session_id),
        findMessages: () => this.#gateway.messages(run.session_id),
        spendTokens: (count) => this.#repeatReport(() => this.#gateway.spend(id, run_id, count)),
      })
      await session.drain()
      // The hooks of the result may need this place for their agent.
      this.#reporting.add(run_id)
      this.#freePlace()
      await this.#repeatReport(() => this.#gateway.completed(id, run_id, result))
    } catch (thrown) {
      await session.drain()
      if (signal.aborted) await this.#repeatReport(() => this.#gateway.stopped(id, run_id))
      else if (!isLost(thrown)) {
        const timed_out = isHookError(thrown) && thrown.code === 'process.timeout'
        const error = errorText(thrown).slice(0, MAX_ERROR)
        await this.#repeatReport(() => this.#gateway.failed(id, run_id, { error, timed_out }))
      }
    }
  }

  /** Repeats a report until the gateway has it, or says that the run is no longer ours: heartbeats keep the run until then. */
  async #repeatReport(report: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await report()
        return
      } catch (thrown) {
        // What fails inside of the gateway each time is refused too.
        const isLimited = this.#stopping.signal.aborted || isInternal(thrown)
        const isGivenUp = isLimited && attempt >= MAX_ATTEMPTS
        if (!isTransient(thrown) || isGivenUp) throw thrown
        await pause(this.#options.clock, RETRY_MS)
      }
    }
  }

  async #serveUntilStopped(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#serve()
        return
      } catch (thrown) {
        if (this.#stopping.signal.aborted) return
        if (!isTransient(thrown)) throw thrown
        this.#options.log('runner.gateway_failed', { error: errorText(thrown) })
        await pause(this.#options.clock, RETRY_MS, this.#stopping.signal).catch(() => {})
      }
    }
  }

  async #close(): Promise<void> {
    for (const { stop } of this.#active.values()) stop.abort()
    await Promise.all([...this.#active.values()].map(({ done }) => done))
    this.#current?.stopHeartbeat()
    this.#processes.close()
    if (this.#current !== undefined) await this.#gateway.leave(this.#current.id).catch(() => {})
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
