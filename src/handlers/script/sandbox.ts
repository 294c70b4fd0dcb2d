import { Worker } from 'node:worker_threads'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { avoidWasmCrash } from '../../safe/avoid-wasm-crash.ts'
import { Semaphore } from '../../safe/semaphore.ts'

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
  readonly #all = new Set<Sandbox>()
  readonly #turns = new Semaphore(MAX_CALLS)
  readonly #tenants = new Map<string, Semaphore>()

  async run(call: SandboxCall, tenant: string, signal: AbortSignal): Promise<SandboxAnswer> {
    const turns = this.#tenants.get(tenant) ?? new Semaphore(MAX_CALLS_PER_TENANT)
    this.#tenants.set(tenant, turns)
    await takeTurn(turns, signal)
    try {
      await takeTurn(this.#turns, signal)
      return await this.#call(call, signal)
    } finally {
      turns.release()
      if (turns.taken === 0) this.#tenants.delete(tenant)
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

  async #call(call: SandboxCall, signal: AbortSignal): Promise<SandboxAnswer> {
    const sandbox = this.#idle.pop() ?? this.#start()
    try {
      return await sandbox.call(call, signal)
    } finally {
      if (sandbox.isBroken) this.#all.delete(sandbox)
      else this.#idle.push(sandbox)
      this.#turns.release()
    }
  }
}

async function takeTurn(turns: Semaphore, signal: AbortSignal): Promise<void> {
  try {
    await turns.take(signal)
  } catch {
    throw handlerError('script.error', 'no sandbox became free in time')
  }
}
