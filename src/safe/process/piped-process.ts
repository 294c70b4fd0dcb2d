import type { Readable, Writable } from 'node:stream'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { DRAIN_MS, GRACE_MS, GroupProcess } from './process-groups.ts'
import type { ProcessExit, ProcessSpec } from './process-spec.ts'

/** The time between the end of its stdin and SIGTERM, so that it can finish its work. */
const CLOSE_MS = 2_000

export interface PipedEnd extends ProcessExit {
  /** Why the process could not be started. */
  readonly refused?: string
}

/** A process whose stdin and stdout the caller streams. Its stderr goes to ours. */
export class PipedProcess extends GroupProcess {
  readonly #settled = Promise.withResolvers<PipedEnd>()
  /** Settles when the process has ended and the caller has read all its output. */
  readonly ended = this.#settled.promise
  #isClosing = false
  #isStopping = false

  constructor(spec: ProcessSpec, clock: Clock = systemClock) {
    super(spec, clock, 'inherit')
  }

  get stdin(): Writable | undefined {
    return this.child?.stdin ?? undefined
  }

  get stdout(): Readable | undefined {
    return this.child?.stdout ?? undefined
  }

  /** Ends its stdin, and stops the process if it does not exit by itself. */
  close(): void {
    this.stdin?.end()
    if (this.#isClosing || this.#isStopping || this.exit !== undefined) return
    this.#isClosing = true
    this.repeat(CLOSE_MS, () => this.stop())
  }

  /** Sends SIGTERM to the whole group, and SIGKILL half a second later. */
  stop(): void {
    if (this.#isStopping || this.exit !== undefined) return
    this.#isStopping = true
    this.stdin?.end()
    this.kill('SIGTERM')
    this.repeat(GRACE_MS, () => this.kill('SIGKILL'))
  }

  /** The caller may read the remaining output slowly, but surviving descendants must not keep the pipe open. */
  protected onExit(): void {
    let seen = 0
    let before = -1
    this.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.length
    })
    this.repeat(DRAIN_MS, () => {
      this.kill('SIGKILL')
      const isRead = this.stdout?.isPaused() === false
      if (isRead && seen === before) this.stdout?.destroy()
      before = seen
    })
  }

  protected finish(refused?: string): void {
    if (!this.endGroup()) return
    const { exitCode, signal } = this.exit ?? { exitCode: undefined, signal: undefined }
    this.#settled.resolve({ exitCode, signal, ...(refused === undefined ? {} : { refused }) })
  }
}
