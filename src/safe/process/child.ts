/** Runs one child from start to end. The helper and the direct path both use it, so both behave the same. */
import { type ChildProcess, spawn } from 'node:child_process'
import { errorText } from '../../engine/core/errors/error.ts'
import { type Clock, systemClock, type Ticker } from '../../engine/core/values/clock.ts'
import { killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { ChildEnd, StartedChild, StartOrder } from './process-spec.ts'

/** The time between SIGTERM and SIGKILL. */
const GRACE_MS = 500
/** How long to read output after the exit if another process keeps the pipe open. */
const DRAIN_MS = 200

export class ChildRun implements StartedChild {
  readonly ended: Promise<ChildEnd>
  readonly #clock: Clock
  readonly #stdout: CapturedOutput
  readonly #stderr: CapturedOutput
  #process: ChildProcess | undefined
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined
  #timer: Ticker | undefined
  #stopped = false
  #settle: (end: ChildEnd) => void = () => {}

  constructor(order: StartOrder, clock: Clock = systemClock) {
    this.#clock = clock
    this.#stdout = new CapturedOutput(order.maxOutputBytes)
    this.#stderr = new CapturedOutput(order.maxOutputBytes)
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
    let attempts = 0
    this.#after(GRACE_MS, () => {
      attempts++
      this.#kill('SIGKILL')
      // A process that survives SIGKILL is stuck in the kernel; stop waiting for it.
      if (attempts > 1) this.#finish()
    })
  }

  #start({ argv: [file = '', ...args], cwd, env, stdin }: StartOrder): void {
    try {
      // Its own process group, so that one signal reaches the child and its descendants.
      this.#process = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
    } catch (thrown) {
      this.#settle(notStarted(errorText(thrown)))
      return
    }
    this.#process.once('error', (error) => this.#settle(notStarted(error.message)))
    if (this.#process.pid === undefined) return
    trackGroup(this.#process.pid)
    this.#listen(this.#process)
    this.#process.stdin?.end(stdin)
  }

  #listen(child: ChildProcess): void {
    // A child need not read its stdin; its exit code still counts.
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
      // Not only `close`: a grandchild that holds stdout would delay it for ever.
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
    // A descendant that still holds our pipes belongs to the run; one that closed them is a daemon.
    const held = child.stdout?.closed === false || child.stderr?.closed === false
    if (held || this.#stopped) killGroup(child.pid, 'SIGKILL')
    releaseGroup(child.pid)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    this.#settle({
      exitCode: this.#exit?.code ?? undefined,
      signal: this.#exit?.signal ?? undefined,
      stdout: this.#stdout.contents(),
      stderr: this.#stderr.contents(),
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

function notStarted(refused: string): ChildEnd {
  const empty = Buffer.alloc(0)
  return {
    exitCode: undefined,
    signal: undefined,
    stdout: empty,
    stderr: empty,
    stdoutBytes: 0,
    stderrBytes: 0,
    truncated: false,
    refused,
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
