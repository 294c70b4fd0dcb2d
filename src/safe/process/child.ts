/** One child from start to end. The helper and the direct path share it, so that both keep the same promises. */
import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, systemClock, type Ticker } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import { killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { End, Order, Started } from './process-spec.ts'

/** From the request to end to the order. */
const GRACE_MS = 500
/** How long output may trickle in after the exit while somebody still holds the pipe. */
const DRAIN_MS = 200

export class Child implements Started {
  readonly ended: Promise<End>
  readonly #clock: Clock
  readonly #stdout: Output
  readonly #stderr: Output
  #process: ChildProcess | undefined
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined
  #timer: Ticker | undefined
  #stopped = false
  #settle: (end: End) => void = () => {}

  constructor(order: Order, clock: Clock = systemClock) {
    this.#clock = clock
    this.#stdout = new Output(order.maxOutputBytes)
    this.#stderr = new Output(order.maxOutputBytes)
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#start(order)
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  stop(): void {
    if (this.#stopped || this.#process === undefined) return
    this.#stopped = true
    if (this.#exit !== undefined) return this.#finish()
    this.#kill('SIGTERM')
    let asked = 0
    this.#after(GRACE_MS, () => {
      asked++
      this.#kill('SIGKILL')
      // A process that not even this ends is stuck in the kernel; nobody is helped by waiting for it.
      if (asked > 1) this.#finish()
    })
  }

  #start({ argv: [file = '', ...args], cwd, env, stdin }: Order): void {
    try {
      // A group of its own, so that one signal reaches the child and all it started.
      this.#process = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
    } catch (thrown) {
      this.#settle(refusal(errorText(thrown)))
      return
    }
    this.#process.once('error', (error) => this.#settle(refusal(error.message)))
    if (this.#process.pid === undefined) return
    trackGroup(this.#process.pid)
    this.#listen(this.#process)
    this.#process.stdin?.end(stdin)
  }

  #listen(child: ChildProcess): void {
    // A child need not read what it is given; its exit code decides all the same.
    child.stdin?.on('error', () => {})
    for (const [stream, output] of [
      [child.stdout, this.#stdout],
      [child.stderr, this.#stderr],
    ] as const) {
      stream?.on('data', (chunk: Buffer) => {
        if (!output.push(chunk)) this.#overrun()
      })
      stream?.on('error', () => {})
    }
    child.once('exit', (code, signal) => {
      this.#exit = { code, signal }
      if (this.#stopped) return this.#finish()
      // Not `close` alone: a grandchild that holds stdout would keep us waiting for ever.
      this.#after(DRAIN_MS, () => this.#finish())
    })
    child.once('close', () => this.#finish())
  }

  #overrun(): void {
    this.#stopped = true
    this.#kill('SIGKILL')
  }

  #finish(): void {
    const child = this.#process
    if (child?.pid === undefined) return
    this.#process = undefined
    this.#timer?.stop()
    // Who still holds our pipes belongs to us; who let go of them went its own way.
    const held = child.stdout?.closed === false || child.stderr?.closed === false
    if (held || this.#stopped) killGroup(child.pid, 'SIGKILL')
    releaseGroup(child.pid)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    this.#settle({
      exitCode: this.#exit?.code ?? undefined,
      signal: this.#exit?.signal ?? undefined,
      stdout: this.#stdout.whole(),
      stderr: this.#stderr.whole(),
      stdoutBytes: this.#stdout.bytes,
      stderrBytes: this.#stderr.bytes,
      truncated: this.#stdout.overrun || this.#stderr.overrun,
    })
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#process?.pid !== undefined) killGroup(this.#process.pid, signal)
  }

  #after(ms: number, tick: () => void): void {
    this.#timer?.stop()
    this.#timer = this.#clock.every(ms, tick)
  }
}

function refusal(refused: string): End {
  const nothing = Buffer.alloc(0)
  return {
    exitCode: undefined,
    signal: undefined,
    stdout: nothing,
    stderr: nothing,
    stdoutBytes: 0,
    stderrBytes: 0,
    truncated: false,
    refused,
  }
}

const KEPT_BYTES = 4_096

/** One output stream of a child: everything up to the limit, beyond it only the beginning. */
export class Output {
  readonly #limit: number
  #chunks: Buffer[] = []
  bytes = 0
  overrun = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Answers whether there is still room. */
  push(chunk: Buffer): boolean {
    if (this.overrun) return false
    this.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.bytes <= this.#limit) return true
    this.overrun = true
    this.#chunks = [Buffer.concat(this.#chunks).subarray(0, KEPT_BYTES)]
    return false
  }

  whole(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks)
  }
}
