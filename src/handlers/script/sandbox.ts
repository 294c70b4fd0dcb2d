import { Worker } from 'node:worker_threads'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { avoidWasmCrash } from '../../safe/avoid-wasm-crash.ts'

/** What the sandbox thread receives. Only text crosses the border. */
export interface SandboxCall {
  readonly source: string
  /** The event as JSON. */
  readonly event: string
  readonly timeoutMs: number
}

export type SandboxAnswer = { readonly printed: string } & (
  | { readonly kind: 'answer'; readonly json: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'broken'; readonly text: string }
)

/** The thread's entry file, from source or compiled. */
const entry = new URL(
  import.meta.url.endsWith('.ts') ? './sandbox-worker.ts' : './sandbox-worker.js',
  import.meta.url,
)

const MAX_CALLS = 10
const MAX_CALLS_PER_TENANT = 3

/** One worker thread that answers one call at a time. */
export class Sandbox {
  readonly #worker = new Worker(entry, { env: {}, stdin: false, execArgv: [] })
  #settle: ((answer: SandboxAnswer) => void) | undefined
  isBroken = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (answer: SandboxAnswer) => {
      if (answer.kind === 'broken') this.isBroken = true
      this.#end(answer)
    })
    this.#worker.on('error', (error) => this.#break(error.message))
    this.#worker.on('exit', () => this.#break('the sandbox ended'))
  }

  /** Never rejects: a failure is an answer too. On abort the thread is terminated. */
  call(call: SandboxCall, signal: AbortSignal): Promise<SandboxAnswer> {
    const { promise, resolve } = Promise.withResolvers<SandboxAnswer>()
    const onAbort = () => this.#break('the deadline passed')
    this.#settle = (answer) => {
      signal.removeEventListener('abort', onAbort)
      this.#worker.unref()
      resolve(answer)
    }
    if (this.isBroken || signal.aborted) this.#break('the sandbox cannot be used')
    else {
      signal.addEventListener('abort', onAbort, { once: true })
      this.#worker.ref()
      this.#worker.postMessage(call)
    }
    return promise
  }

  async end(): Promise<void> {
    this.isBroken = true
    await this.#worker.terminate()
  }

  #break(text: string): void {
    this.isBroken = true
    void this.#worker.terminate()
    this.#end({ kind: 'broken', text, printed: '' })
  }

  #end(answer: SandboxAnswer): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(answer)
  }
}

/** Keeps threads for the next call and limits how many calls run at once. */
export class SandboxPool {
  readonly #idle: Sandbox[] = []
  readonly #running = new Map<string, number>()
  readonly #waiting: { readonly tenant: string; readonly start: () => void }[] = []
  readonly #all = new Set<Sandbox>()
  #busy = 0

  async run(call: SandboxCall, tenant: string, signal: AbortSignal): Promise<SandboxAnswer> {
    await this.#waitForTurn(tenant, signal)
    const sandbox = this.#idle.pop() ?? this.#start()
    try {
      return await sandbox.call(call, signal)
    } finally {
      if (sandbox.isBroken) this.#all.delete(sandbox)
      else this.#idle.push(sandbox)
      this.#releaseTurn(tenant)
    }
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#all].map((sandbox) => sandbox.end()))
    this.#all.clear()
    this.#idle.length = 0
  }

  #start(): Sandbox {
    avoidWasmCrash()
    const sandbox = new Sandbox()
    this.#all.add(sandbox)
    return sandbox
  }

  #mayStart(tenant: string): boolean {
    return this.#busy < MAX_CALLS && (this.#running.get(tenant) ?? 0) < MAX_CALLS_PER_TENANT
  }

  async #waitForTurn(tenant: string, signal: AbortSignal): Promise<void> {
    if (!this.#mayStart(tenant)) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const waiting = { tenant, start: resolve }
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(handlerError('script.error', 'no sandbox became free in time'))
      }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', onAbort))
    }
    this.#busy++
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1)
  }

  #releaseTurn(tenant: string): void {
    this.#busy--
    const left = (this.#running.get(tenant) ?? 1) - 1
    if (left > 0) this.#running.set(tenant, left)
    else this.#running.delete(tenant)
    const next = this.#waiting.findIndex((waiting) => this.#mayStart(waiting.tenant))
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.start()
  }
}
