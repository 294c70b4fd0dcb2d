/** The only place that starts processes. */
import { type Clock, systemClock } from '../../engine/core/clock.ts'
import { HookError } from '../../engine/core/error.ts'
import { Child } from './child.ts'
import { Helper } from './helper.ts'
import type { End, Order, ProcessResult, ProcessSpec, Started } from './process-spec.ts'

const MAX_OUTPUT_BYTES = 1_048_576
const CONCURRENCY = 8

export interface ProcessesOptions {
  /** How many children may run at once; the others wait, in order. */
  readonly concurrency?: number
  readonly start?: StartPath
  readonly clock?: Clock
}

export interface Processes {
  /**
   * Settles when the process has ended, whoever still holds its pipes. An abort ends the whole group, and then
   * rejects: with the signal's own reason if that is coded, else `process.timeout`.
   */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>
  /** How many are running now. */
  readonly running: number
  readonly helperPid: number | undefined
  /** Brings up the helper before the first command needs it. */
  warm(): void
  /** Lets the helper go; children it still runs are killed. */
  close(): void
}

export function createProcesses(options: ProcessesOptions = {}): Processes {
  const { concurrency = CONCURRENCY, start = 'auto', clock = systemClock } = options
  const slots = new Slots(concurrency)
  const starter = new Starter(start)
  return {
    async run(spec, signal) {
      const begun = clock.elapsed()
      const elapsed = () => Math.round((clock.elapsed() - begun) * 10) / 10
      const turn = slots.take(signal)?.catch(() => {
        throw stopped(signal, `${nameOf(spec)} still waited for its turn after ${elapsed()} ms`)
      })
      if (turn !== undefined) await turn
      const child = starter.start(orderOf(spec))
      const stop = () => child.stop()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const end = await child.ended
        if (end.refused !== undefined) throw refused(spec, end.refused)
        if (signal.aborted) throw stopped(signal, `${nameOf(spec)} was stopped after ${elapsed()} ms`)
        return resultOf(end, elapsed())
      } finally {
        signal.removeEventListener('abort', stop)
        slots.release()
      }
    },
    get running() {
      return slots.taken
    },
    get helperPid() {
      return starter.helperPid
    },
    warm: () => starter.warm(),
    close: () => starter.close(),
  }
}

/** Shared by all who do not bring their own, so that the limit is one for the whole program. */
export const processes: Processes = createProcesses()

export function runProcess(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult> {
  return processes.run(spec, signal)
}

function orderOf({
  argv,
  cwd = process.cwd(),
  env,
  stdin = '',
  maxOutputBytes = MAX_OUTPUT_BYTES,
}: ProcessSpec): Order {
  return { argv, cwd, env, stdin: Buffer.from(stdin), maxOutputBytes }
}

function resultOf(end: End, durationMs: number): ProcessResult {
  const { exitCode, signal, stdoutBytes, stderrBytes, truncated } = end
  const stdout = end.stdout.toString('utf8')
  const stderr = end.stderr.toString('utf8')
  return { exitCode, signal, stdout, stderr, stdoutBytes, stderrBytes, durationMs, truncated }
}

function stopped(signal: AbortSignal, text: string): HookError {
  return signal.reason instanceof HookError ? signal.reason : new HookError('process.timeout', text)
}

function refused(spec: ProcessSpec, text: string): HookError {
  return new HookError('process.start', `${nameOf(spec)} could not be started: ${text.slice(0, 200)}`)
}

/** The program, not its arguments: those may carry what the agent was working on. */
function nameOf({ argv }: ProcessSpec): string {
  return (argv[0] ?? '').slice(0, 80)
}

/** Who forks: we ourselves, the helper, or whoever is better now. */
export type StartPath = 'auto' | 'direct' | 'helper'

/** A program that starts a command or two and leaves gains nothing from a helper. */
const DIRECT_STARTS = 3
/** From here on our own fork costs more than the way to the helper. */
const LARGE_RSS = 96 * 1_048_576
/** A helper that never comes up, say in a bundle without its file, is not tried for ever. */
const MAX_FAILED_HELPERS = 2

export class Starter {
  readonly #path: StartPath
  #helper: Helper | undefined
  #failedHelpers = 0
  #starts = 0

  constructor(path: StartPath) {
    this.#path = path
  }

  /** The process id of the helper, once there is one. */
  get helperPid(): number | undefined {
    return this.#helper?.pid
  }

  start(order: Order): Started {
    if (this.#path === 'direct') return new Child(order)
    const helper = this.#usable()
    if (helper !== undefined) return helper.start(order)
    this.#starts++
    if (this.#starts >= DIRECT_STARTS || process.memoryUsage.rss() > LARGE_RSS) this.warm()
    return new Child(order)
  }

  /** Starts the helper ahead of need. Best called early: this one fork still costs what our memory costs. */
  warm(): void {
    if (this.#helper?.dead) {
      if (!this.#helper.everReady) this.#failedHelpers++
      this.#helper = undefined
    }
    if (this.#path === 'direct' || this.#failedHelpers >= MAX_FAILED_HELPERS) return
    this.#helper ??= new Helper()
  }

  close(): void {
    this.#helper?.close()
    this.#helper = undefined
  }

  #usable(): Helper | undefined {
    if (this.#path === 'helper') this.warm()
    const helper = this.#helper
    if (helper === undefined || helper.dead) return undefined
    return helper.ready || this.#path === 'helper' ? helper : undefined
  }
}

/** At most so many at once; the others wait their turn, and no longer than their signal lets them. */
export class Slots {
  readonly #limit: number
  readonly #queue = new Set<() => void>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  /** Settles when there is room; rejects with the reason of the signal when it is aborted first. */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#taken < this.#limit) {
      this.#taken++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#queue.delete(enter)
        reject(signal.reason)
      }
      this.#queue.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  release(): void {
    const [next] = this.#queue
    if (next === undefined) this.#taken--
    else {
      this.#queue.delete(next)
      next()
    }
  }
}
