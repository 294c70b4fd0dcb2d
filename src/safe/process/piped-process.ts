import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { errorText } from '../../engine/core/errors/error.ts'
import { type Clock, systemClock, type Ticker } from '../../engine/core/values/clock.ts'
import { killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { ProcessSpec } from './process-spec.ts'

/** The time between the end of its stdin and SIGTERM, so that it can finish its work. */
const CLOSE_MS = 2_000
/** The time between SIGTERM and SIGKILL. */
const GRACE_MS = 500
/** How long to read output after the exit if another process keeps the pipe open. */
const DRAIN_MS = 200

export interface PipedEnd {
  readonly exitCode: number | undefined
  readonly signal: NodeJS.Signals | undefined
  /** Why the process could not be started. */
  readonly refused?: string
}

/** A process whose stdin and stdout the caller streams. Its stderr goes to ours. */
export class PipedProcess {
  readonly stdin: Writable | undefined
  readonly stdout: Readable | undefined
  /** Settles when the process has ended and the caller has read all its output. */
  readonly ended: Promise<PipedEnd>
  readonly #child: ChildProcess | undefined
  readonly #clock: Clock
  #settle: (end: PipedEnd) => void = () => {}
  #exit: PipedEnd | undefined
  #timer: Ticker | undefined
  #isStopping = false

  constructor({ argv: [file = '', ...args], cwd, env }: ProcessSpec, clock: Clock = systemClock) {
    this.#clock = clock
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    try {
      const stdio = ['pipe', 'pipe', 'inherit'] as const
      this.#child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio: [...stdio] })
    } catch (thrown) {
      this.#settle({ exitCode: undefined, signal: undefined, refused: errorText(thrown) })
      return
    }
    this.stdin = this.#child.stdin ?? undefined
    this.stdout = this.#child.stdout ?? undefined
    this.#listen(this.#child)
  }

  /** Ends its stdin, and stops the process if it does not exit by itself. */
  close(): void {
    this.stdin?.end()
    if (this.#exit === undefined && this.#timer === undefined) this.#next(CLOSE_MS, () => this.stop())
  }

  /** Sends SIGTERM to the whole group, and SIGKILL half a second later. */
  stop(): void {
    if (this.#isStopping || this.#exit !== undefined) return
    this.#isStopping = true
    this.stdin?.end()
    this.#kill('SIGTERM')
    this.#next(GRACE_MS, () => this.#kill('SIGKILL'))
  }

  #listen(child: ChildProcess): void {
    if (child.pid !== undefined) trackGroup(child.pid)
    child.once('error', (error) => {
      this.#finish({ exitCode: undefined, signal: undefined, refused: error.message })
    })
    child.stdin?.on('error', () => {})
    child.stdout?.on('error', () => {})
    child.once('exit', (code, signal) => {
      this.#exit = { exitCode: code ?? undefined, signal: signal ?? undefined }
      this.#drain()
    })
    child.once('close', () => this.#finish(this.#exit ?? { exitCode: undefined, signal: undefined }))
  }

  /** The caller may read the remaining output slowly, but surviving descendants must not keep the pipe open. */
  #drain(): void {
    let seen = 0
    let before = -1
    this.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.length
    })
    this.#next(DRAIN_MS, () => {
      this.#kill('SIGKILL')
      const isRead = this.stdout?.isPaused() === false
      if (isRead && seen === before) this.stdout?.destroy()
      before = seen
    })
  }

  #finish(end: PipedEnd): void {
    this.#timer?.stop()
    this.#kill('SIGKILL')
    if (this.#child?.pid !== undefined) releaseGroup(this.#child.pid)
    this.stdin?.destroy()
    this.stdout?.destroy()
    this.#settle(end)
  }

  #next(ms: number, tick: () => void): void {
    this.#timer?.stop()
    this.#timer = this.#clock.every(ms, tick)
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child?.pid !== undefined) killGroup(this.#child.pid, signal)
  }
}
