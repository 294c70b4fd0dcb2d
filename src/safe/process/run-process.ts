/** Starts commands, directly or through the helper, a few at a time. */

import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { Semaphore } from '../semaphore.ts'
import { ChildRun } from './child.ts'
import { Helper } from './helper.ts'
import type { ChildEnd, ProcessResult, ProcessSpec, StartedChild, StartOrder } from './process-spec.ts'

const MAX_OUTPUT_BYTES = 1_048_576
const CONCURRENCY = 8

export interface ProcessesOptions {
  /** How many children may run at once; others wait in order. */
  readonly concurrency?: number
  readonly start?: StartPath
  readonly clock?: Clock
}

export interface Processes {
  /**
   * Settles when the process has ended, even if descendants hold its pipes. Rejects with `process.start` if it cannot
   * start. An abort kills the whole group and rejects with the signal's reason if that is coded, else `process.timeout`.
   */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>
  /** How many children are running. */
  readonly running: number
  readonly helperPid: number | undefined
  /** Starts the helper before the first command needs it. */
  warm(): void
  /** Ends the helper, which kills its running children. */
  close(): void
}

export function createProcesses(options: ProcessesOptions = {}): Processes {
  const { concurrency = CONCURRENCY, start = 'auto', clock = systemClock } = options
  const semaphore = new Semaphore(concurrency)
  const starter = new ProcessStarter(start)
  return {
    async run(spec, signal) {
      const begun = clock.elapsed()
      const elapsed = () => Math.round((clock.elapsed() - begun) * 10) / 10
      const turn = semaphore.take(signal)?.catch(() => {
        throw abortError(signal, `${nameOf(spec)} was still waiting to start after ${elapsed()} ms`)
      })
      if (turn !== undefined) await turn
      const child = starter.start(orderOf(spec))
      const stop = () => child.stop()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const end = await child.ended
        if (end.refused !== undefined)
          throw handlerError(
            'process.start',
            `${nameOf(spec)} could not be started: ${end.refused.slice(0, 200)}`,
          )
        if (signal.aborted) throw abortError(signal, `${nameOf(spec)} was stopped after ${elapsed()} ms`)
        return resultOf(end, elapsed())
      } finally {
        signal.removeEventListener('abort', stop)
        semaphore.release()
      }
    },
    get running() {
      return semaphore.taken
    },
    get helperPid() {
      return starter.helperPid
    },
    warm: () => starter.warm(),
    close: () => starter.close(),
  }
}

function orderOf({
  argv,
  cwd = process.cwd(),
  env,
  stdin = '',
  maxOutputBytes = MAX_OUTPUT_BYTES,
}: ProcessSpec): StartOrder {
  return { argv, cwd, env, stdin: Buffer.from(stdin), maxOutputBytes }
}

function resultOf(end: ChildEnd, durationMs: number): ProcessResult {
  const { exitCode, signal, stdoutBytes, stderrBytes, truncated } = end
  const stdout = end.stdout.toString('utf8')
  const stderr = end.stderr.toString('utf8')
  return { exitCode, signal, stdout, stderr, stdoutBytes, stderrBytes, durationMs, truncated }
}

function abortError(signal: AbortSignal, text: string): HookError {
  return signal.reason instanceof HookError ? signal.reason : handlerError('process.timeout', text)
}

/** Only the program: its arguments may contain data of the agent. */
function nameOf({ argv }: ProcessSpec): string {
  return (argv[0] ?? '').slice(0, 80)
}

/** Which process forks: this one, the helper, or the faster one (`auto`). */
export type StartPath = 'auto' | 'direct' | 'helper'

/** A program that starts only a command or two gains nothing from a helper. */
const DIRECT_STARTS = 3
/** Above this memory size our own fork costs more than a message to the helper. */
const LARGE_RSS = 96 * 1_048_576
/** Stop trying after this many helpers that never got ready, as in a bundle without its file. */
const MAX_FAILED_HELPERS = 2

class ProcessStarter {
  readonly #path: StartPath
  #helper: Helper | undefined
  #failedHelpers = 0
  #starts = 0

  constructor(path: StartPath) {
    this.#path = path
  }

  /** The process id of the helper, if it runs. */
  get helperPid(): number | undefined {
    return this.#helper?.pid
  }

  start(order: StartOrder): StartedChild {
    if (this.#path === 'direct') return new ChildRun(order)
    const helper = this.#usable()
    if (helper !== undefined) return helper.start(order)
    this.#starts++
    if (this.#starts >= DIRECT_STARTS || process.memoryUsage.rss() > LARGE_RSS) this.warm()
    return new ChildRun(order)
  }

  /** Starts the helper. Best called early, because this fork costs more as our memory grows. */
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

/** The default instance, so that one limit applies to the whole program. */
export const processes: Processes = createProcesses()

export function runProcess(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult> {
  return processes.run(spec, signal)
}
