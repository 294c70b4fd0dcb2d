import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type Clock, systemClock, type Ticker } from '../../engine/core/time/clock.ts'
import { parseJsonIfValid } from '../../safe/json.ts'
import { childEnvironment, resolveDirectory } from '../../safe/process/child-environment.ts'
import { type LiveEnd, LiveProcess } from '../../safe/process/live-process.ts'
import type { ProcessSpec } from '../../safe/process/process-spec.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { Semaphore } from '../../safe/semaphore.ts'
import type { HookAnswer } from '../answer-dialects.ts'
import type { WireEvent } from '../wire-event.ts'
import { Backoff } from './backoff.ts'
import type { CommandConfig } from './command-config.ts'
import { InFlight } from './in-flight.ts'

export interface WorkerOptions {
  readonly clock?: Clock
  /** After this time without an event the process is stopped. */
  readonly idleMs?: number
  readonly maxInFlight?: number
}

/**
 * A command that keeps running: one JSON line in per event, one JSON line out. It starts with the first event and starts
 * again after it has died.
 */
export class Worker {
  readonly #spec: ProcessSpec
  readonly #clock: Clock
  readonly #slots: Semaphore
  readonly #backoff: Backoff
  readonly #inFlight = new InFlight()
  readonly #idle: Ticker
  /** Processes that are stopping. */
  readonly #stopping = new Map<LiveProcess, Promise<void>>()
  #process: LiveProcess | undefined
  #usedSinceTick = false

  constructor(spec: ProcessSpec, options: WorkerOptions = {}) {
    const { clock = systemClock, idleMs = 300_000, maxInFlight = 64 } = options
    this.#spec = spec
    this.#clock = clock
    this.#slots = new Semaphore(maxInFlight)
    this.#backoff = new Backoff(clock)
    this.#idle = clock.every(idleMs, () => this.#stopIfIdle())
    this.#idle.hold(false)
  }

  async ask(event: WireEvent, signal: AbortSignal): Promise<HookAnswer> {
    try {
      await this.#slots.take(signal)
    } catch {
      throw timeoutError(signal)
    }
    try {
      while (this.#process === undefined) {
        await this.#backoff.wait(signal)
        this.#process ??= this.#start()
      }
      return await this.#send(this.#process, event, signal)
    } catch (thrown) {
      throw thrown instanceof HookError ? thrown : timeoutError(signal)
    } finally {
      this.#slots.release()
    }
  }

  /** Settles when the process is gone. */
  async dispose(): Promise<void> {
    this.#idle.stop()
    this.#stop(handlerError('process.signal', 'the worker was closed'))
    await Promise.all(this.#stopping.values())
  }

  #send(live: LiveProcess, event: WireEvent, signal: AbortSignal): Promise<HookAnswer> {
    this.#usedSinceTick = true
    return new Promise((resolve, reject) => {
      const abandon = () => {
        reject(signal.reason)
        // A worker that wrote nothing since this event hangs, and the next events would wait for it too.
        if (this.#inFlight.abandon(id) && live === this.#process) {
          this.#backoff.failed()
          this.#stop(handlerError('process.timeout', 'the worker stopped answering and is restarted'))
        }
      }
      const settled = () => signal.removeEventListener('abort', abandon)
      const id = this.#inFlight.add({
        answer: (answer) => {
          settled()
          resolve(answer)
        },
        fail: (error) => {
          settled()
          reject(error)
        },
      })
      signal.addEventListener('abort', abandon, { once: true })
      live.hold(true)
      live.write(JSON.stringify({ ...event, id }))
    })
  }

  #start(): LiveProcess {
    const live: LiveProcess = new LiveProcess(
      this.#spec,
      {
        line: (text) => {
          if (live === this.#process) this.#read(text, live)
        },
        end: (end) => this.#ended(live, end),
      },
      this.#clock,
    )
    return live
  }

  #read(text: string, live: LiveProcess): void {
    if (text.trim() === '') return
    const answer = parseJsonIfValid(text)
    if (!isRecord(answer) || !this.#inFlight.settle(answer)) {
      // After an answer that belongs to no event, all later answers could reach the wrong events.
      this.#backoff.failed()
      this.#stop(handlerError('process.worker', 'the worker wrote a line that answers no event'))
      return
    }
    this.#backoff.succeeded()
    if (this.#inFlight.size === 0) live.hold(false)
  }

  #ended(live: LiveProcess, end: LiveEnd): void {
    if (live !== this.#process) return
    this.#process = undefined
    this.#backoff.failed()
    this.#inFlight.failAll(exitError(end))
  }

  /** Stops the process. Events without an answer fail with the error, whose code decides which policy applies. */
  #stop(error: HookError): void {
    const live = this.#process
    this.#process = undefined
    this.#inFlight.failAll(error)
    if (live === undefined) return
    const end = live.ended.then(() => {
      this.#stopping.delete(live)
    })
    this.#stopping.set(live, end)
    live.stop()
  }

  #stopIfIdle(): void {
    if (!this.#usedSinceTick && this.#inFlight.size === 0)
      this.#stop(handlerError('process.signal', 'the worker was idle'))
    this.#usedSinceTick = false
  }
}

/** The workers of all hooks of one handler. */
export class Workers {
  readonly #workers = new Map<string, Worker>()
  readonly #root: string | undefined
  readonly #options: WorkerOptions | undefined

  constructor(root: string | undefined, options: WorkerOptions | undefined) {
    this.#root = root
    this.#options = options
  }

  async get({ argv, cwd, allowedEnv, pinnedFiles }: CommandConfig, { id }: BaseHook): Promise<Worker> {
    // The key is the content, so a hook that was reloaded unchanged keeps its worker.
    const key = JSON.stringify([id, argv, cwd, allowedEnv, pinnedFiles])
    const known = this.#workers.get(key)
    if (known !== undefined) return known
    const directory = cwd === undefined ? {} : { cwd: await resolveDirectory(cwd, this.#root) }
    const env = childEnvironment(allowedEnv, { HOOKHELM_WORKER: '1' })
    const worker = this.#workers.get(key) ?? new Worker({ argv, env, ...directory }, this.#options)
    this.#workers.set(key, worker)
    return worker
  }

  async dispose(): Promise<void> {
    const all = [...this.#workers.values()]
    this.#workers.clear()
    await Promise.all(all.map((worker) => worker.dispose()))
  }
}

function timeoutError(signal: AbortSignal): HookError {
  if (signal.reason instanceof HookError) return signal.reason
  return handlerError('process.timeout', 'the worker did not answer in time')
}

/** Why a worker ended, with the end of its stderr. */
function exitError({ exitCode, signal, stderr, overrun, refused }: LiveEnd): HookError {
  if (refused !== undefined)
    return handlerError('process.start', `the worker could not be started: ${refused.slice(0, 200)}`)
  if (overrun) return handlerError('process.output_limit', 'the worker wrote a line that is too long')
  const output = redact(stderr.slice(-1_000))
  const how = signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`
  const code = signal === undefined ? 'process.exit' : 'process.signal'
  return handlerError(code, `the worker ${how}${output === '' ? '' : `: ${output}`}`)
}
