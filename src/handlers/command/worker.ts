import { type Clock, systemClock, type Ticker } from '../../engine/core/clock.ts'
import { HookError } from '../../engine/core/error.ts'
import { type LiveEnd, LiveProcess } from '../../safe/process/live-process.ts'
import type { ProcessSpec } from '../../safe/process/process-spec.ts'
import { Semaphore } from '../../safe/semaphore.ts'
import type { Reply } from '../answer-dialects.ts'
import type { WireEvent } from '../wire-event.ts'
import { Backoff } from './backoff.ts'
import { InFlight } from './in-flight.ts'
import { deathOf, expired } from './worker-errors.ts'
import { parseLine } from './worker-line.ts'

export interface WorkerOptions {
  readonly clock?: Clock
  /** Without an event for so long the process is let go. */
  readonly idleMs?: number
  readonly maxInFlight?: number
}

/** A command that stays: one JSON line per event in, one out. Started when asked, and again when it died. */
export class Worker {
  readonly #spec: ProcessSpec
  readonly #clock: Clock
  readonly #slots: Semaphore
  readonly #backoff: Backoff
  readonly #inFlight = new InFlight()
  readonly #idle: Ticker
  /** Ends of processes that were told to stop. */
  readonly #ends = new Map<LiveProcess, Promise<void>>()
  #process: LiveProcess | undefined
  #busy = false

  constructor(spec: ProcessSpec, options: WorkerOptions = {}) {
    const { clock = systemClock, idleMs = 300_000, maxInFlight = 64 } = options
    this.#spec = spec
    this.#clock = clock
    this.#slots = new Semaphore(maxInFlight)
    this.#backoff = new Backoff(clock)
    this.#idle = clock.every(idleMs, () => this.#rest())
    this.#idle.hold(false)
  }

  async ask(event: WireEvent, signal: AbortSignal): Promise<Reply> {
    try {
      await this.#slots.take(signal)
    } catch {
      throw expired(signal)
    }
    try {
      while (this.#process === undefined) {
        await this.#backoff.wait(signal)
        this.#process ??= this.#start()
      }
      return await this.#send(this.#process, event, signal)
    } catch (thrown) {
      throw thrown instanceof HookError ? thrown : expired(signal)
    } finally {
      this.#slots.release()
    }
  }

  /** Settles when the process is gone. */
  async dispose(): Promise<void> {
    this.#idle.stop()
    this.#stop('the worker was closed')
    await Promise.all(this.#ends.values())
  }

  #send(live: LiveProcess, event: WireEvent, signal: AbortSignal): Promise<Reply> {
    this.#busy = true
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason)
        // Nothing at all since this event was sent: it hangs, and would keep the next ones waiting too.
        if (this.#inFlight.abandon(id) && live === this.#process) {
          this.#backoff.failed()
          this.#stop('the worker no longer answered and is restarted')
        }
      }
      const settled = () => signal.removeEventListener('abort', leave)
      const id = this.#inFlight.add({
        answer: (reply) => {
          settled()
          resolve(reply)
        },
        fail: (error) => {
          settled()
          reject(error)
        },
      })
      signal.addEventListener('abort', leave, { once: true })
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
    const reply = parseLine(text)
    if (reply === undefined || !this.#inFlight.settle(reply)) {
      // An answer that belongs to nobody would shift all that follow to the wrong events.
      this.#backoff.failed()
      this.#stop('the worker wrote a line that answers no event')
      return
    }
    this.#backoff.succeeded()
    if (this.#inFlight.size === 0) live.hold(false)
  }

  #ended(live: LiveProcess, end: LiveEnd): void {
    if (live !== this.#process) return
    this.#process = undefined
    this.#backoff.failed()
    this.#inFlight.failAll(deathOf(end))
  }

  #stop(why: string): void {
    const live = this.#process
    this.#process = undefined
    this.#inFlight.failAll(new HookError('process.worker', why))
    if (live === undefined) return
    const end = live.ended.then(() => {
      this.#ends.delete(live)
    })
    this.#ends.set(live, end)
    live.stop()
  }

  #rest(): void {
    if (!this.#busy && this.#inFlight.size === 0) this.#stop('the worker was idle')
    this.#busy = false
  }
}
