import { type ChildProcess, spawn } from 'node:child_process'
import { errorText } from '../../engine/core/errors/error.ts'
import { type Clock, systemClock, type Ticker } from '../../engine/core/values/clock.ts'
import { killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { ProcessSpec } from './process-spec.ts'

const GRACE_MS = 500
/** How long to read the last lines after the exit if another process keeps the pipe open. */
const DRAIN_MS = 200
const MAX_LINE = 1_048_576
const KEPT_STDERR = 4_096

/** How a long-running process ended. */
export interface LiveEnd {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** The end of its stderr. */
  readonly stderr: string
  /** It wrote a line that was too long. */
  readonly overrun: boolean
  readonly refused?: string
}

interface LineListener {
  line(text: string): void
  end(end: LiveEnd): void
}

/** A long-running process that reads and writes lines. Started directly, not by the helper, because it starts rarely. */
export class LiveProcess {
  readonly #child: ChildProcess | undefined
  readonly #on: LineListener
  readonly #clock: Clock
  readonly ended: Promise<void>
  #settle: () => void = () => {}
  #line = ''
  #stderr = ''
  #overrun = false
  #ended = false
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined
  #timer: Ticker | undefined

  constructor(
    { argv: [file = '', ...args], cwd, env }: ProcessSpec,
    on: LineListener,
    clock: Clock = systemClock,
  ) {
    this.#on = on
    this.#clock = clock
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    try {
      this.#child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio: 'pipe' })
    } catch (thrown) {
      const refused = errorText(thrown)
      queueMicrotask(() => this.#end(refused))
      return
    }
    this.#listen(this.#child)
  }

  write(line: string): void {
    this.#child?.stdin?.write(`${line}\n`)
  }

  /** Closes its stdin, for a program that reads all of it first. */
  endInput(text = ''): void {
    this.#child?.stdin?.end(text)
  }

  /** Whether this process keeps ours alive. */
  hold(alive: boolean): void {
    const change = alive ? 'ref' : 'unref'
    this.#child?.[change]()
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) {
      // The pipes of a child are sockets, which their types do not show.
      const socket = stream as unknown as { ref?(): void; unref?(): void } | undefined
      socket?.[change]?.()
    }
  }

  /** Stops the process. The listener gets its end as usual. */
  stop(): void {
    if (this.#ended || this.#timer !== undefined) return
    this.hold(true)
    this.#kill('SIGTERM')
    this.#timer = this.#clock.every(GRACE_MS, () => this.#kill('SIGKILL'))
  }

  #listen(child: ChildProcess): void {
    if (child.pid !== undefined) trackGroup(child.pid)
    child.once('error', (error) => this.#end(error.message))
    child.once('exit', (code, signal) => {
      this.#exit = { code, signal }
      this.#timer?.stop()
      this.#timer = this.#clock.every(DRAIN_MS, () => this.#end())
    })
    child.once('close', () => this.#end())
    child.stdin?.on('error', () => {})
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR)
    })
  }

  #read(text: string): void {
    if (this.#overrun) return
    const parts = (this.#line + text).split('\n')
    this.#line = parts.pop() ?? ''
    for (const line of parts) this.#on.line(line)
    if (this.#line.length <= MAX_LINE) return
    this.#overrun = true
    this.#line = ''
    this.#kill('SIGKILL')
  }

  #end(refused?: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#timer?.stop()
    this.#kill('SIGKILL')
    if (this.#child?.pid !== undefined) releaseGroup(this.#child.pid)
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy()
    this.#on.end({
      exitCode: this.#exit?.code ?? undefined,
      signal: this.#exit?.signal ?? undefined,
      stderr: this.#stderr,
      overrun: this.#overrun,
      ...(refused === undefined ? {} : { refused }),
    })
    this.#settle()
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child?.pid !== undefined) killGroup(this.#child.pid, signal)
  }
}
