/** Runs one child from start to end. The helper and the direct path both use it, so both behave the same. */
import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { DRAIN_MS, GRACE_MS, GroupProcess } from './process-groups.ts'
import type { ChildEnd, StartedChild, StartOrder } from './process-spec.ts'

export class ChildRun extends GroupProcess implements StartedChild {
  readonly #settled = Promise.withResolvers<ChildEnd>()
  readonly ended = this.#settled.promise
  readonly #stdout: CapturedOutput
  readonly #stderr: CapturedOutput
  #stopped = false

  constructor(order: StartOrder, clock: Clock = systemClock) {
    super(order, clock)
    this.#stdout = this.#capture(this.child?.stdout, order.maxOutputBytes)
    this.#stderr = this.#capture(this.child?.stderr, order.maxOutputBytes)
    this.child?.stdin?.end(order.stdin)
  }

  get pid(): number | undefined {
    return this.child?.pid
  }

  stop(): void {
    if (this.#stopped || this.isOver || this.pid === undefined) return
    this.#stopped = true
    if (this.exit !== undefined) return this.finish()
    this.kill('SIGTERM')
    let attempts = 0
    this.repeat(GRACE_MS, () => {
      attempts++
      this.kill('SIGKILL')
      // A process that survives SIGKILL is stuck in the kernel; stop waiting for it.
      if (attempts > 1) this.finish()
    })
  }

  #capture(stream: Readable | null | undefined, limit: number): CapturedOutput {
    const output = new CapturedOutput(limit)
    stream?.on('data', (chunk: Buffer) => {
      if (output.push(chunk)) return
      this.#stopped = true
      this.kill('SIGKILL')
    })
    return output
  }

  protected onExit(): void {
    if (this.#stopped) this.finish()
    else this.repeat(DRAIN_MS, () => this.finish())
  }

  protected finish(refused?: string): void {
    // A descendant that still holds our pipes belongs to the run; one that closed them is a daemon.
    const isHeld = this.child?.stdout?.closed === false || this.child?.stderr?.closed === false
    if (!this.endGroup(isHeld || this.#stopped)) return
    this.#settled.resolve({
      exitCode: this.exit?.exitCode,
      signal: this.exit?.signal,
      stdout: this.#stdout.contents(),
      stderr: this.#stderr.contents(),
      stdoutBytes: this.#stdout.bytes,
      stderrBytes: this.#stderr.bytes,
      truncated: this.#stdout.overrun || this.#stderr.overrun,
      ...(refused === undefined ? {} : { refused }),
    })
  }
}

const KEPT_BYTES = 4_096

/** One output stream of a child: everything up to the limit, or the start of it once it exceeds the limit. */
class CapturedOutput {
  readonly #limit: number
  #chunks: Buffer[] = []
  bytes = 0
  overrun = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns false if the limit is exceeded. */
  push(chunk: Buffer): boolean {
    if (this.overrun) return false
    this.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.bytes <= this.#limit) return true
    this.overrun = true
    this.#chunks = [Buffer.concat(this.#chunks).subarray(0, KEPT_BYTES)]
    return false
  }

  contents(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks)
  }
}
