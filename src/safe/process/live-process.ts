import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { DRAIN_MS, GRACE_MS, GroupProcess } from './process-groups.ts'
import type { ProcessExit, ProcessSpec } from './process-spec.ts'

const MAX_LINE = 1_048_576
const KEPT_STDERR = 4_096

/** How a long-running process ended. */
export interface LiveEnd extends ProcessExit {
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
export class LiveProcess extends GroupProcess {
  readonly #on: LineListener
  readonly #settled = Promise.withResolvers<void>()
  readonly ended = this.#settled.promise
  #line = ''
  #stderr = ''
  #overrun = false
  #stopping = false

  constructor(spec: ProcessSpec, on: LineListener, clock: Clock = systemClock) {
    super(spec, clock)
    this.#on = on
    this.child?.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    this.child?.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR)
    })
  }

  write(line: string): void {
    this.child?.stdin?.write(`${line}\n`)
  }

  /** Closes its stdin, for a program that reads all of it first. */
  endInput(text = ''): void {
    this.child?.stdin?.end(text)
  }

  /** Whether this process keeps ours alive. */
  hold(alive: boolean): void {
    const change = alive ? 'ref' : 'unref'
    this.child?.[change]()
    for (const stream of this.child?.stdio ?? []) {
      // The pipes of a child are sockets, which their types do not show.
      const socket = stream as unknown as { ref?(): void; unref?(): void } | undefined
      socket?.[change]?.()
    }
  }

  /** Stops the process. The listener gets its end as usual. */
  stop(): void {
    if (this.#stopping || this.isOver || this.exit !== undefined) return
    this.#stopping = true
    this.hold(true)
    this.kill('SIGTERM')
    this.repeat(GRACE_MS, () => this.kill('SIGKILL'))
  }

  protected onExit(): void {
    this.repeat(DRAIN_MS, () => this.finish())
  }

  #read(text: string): void {
    if (this.#overrun) return
    const parts = (this.#line + text).split('\n')
    this.#line = parts.pop() ?? ''
    for (const line of parts) this.#on.line(line)
    if (this.#line.length <= MAX_LINE) return
    this.#overrun = true
    this.#line = ''
    this.kill('SIGKILL')
  }

  protected finish(refused?: string): void {
    if (!this.endGroup()) return
    this.#on.end({
      exitCode: this.exit?.exitCode,
      signal: this.exit?.signal,
      stderr: this.#stderr,
      overrun: this.#overrun,
      ...(refused === undefined ? {} : { refused }),
    })
    this.#settled.resolve()
  }
}
