import { Worker } from 'node:worker_threads'
import { HookError } from '../../engine/core/error.ts'
import type { SandboxAnswer, SandboxCall } from './sandbox-call.ts'

/** The same file beside this one, whether it runs from source or was compiled. */
const entry = new URL(
  import.meta.url.endsWith('.ts') ? './sandbox-worker.ts' : './sandbox-worker.js',
  import.meta.url,
)

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
    this.#worker.on('error', (error) => this.#die(error.message))
    this.#worker.on('exit', () => this.#die('the sandbox ended'))
  }

  /** Rejects never: what goes wrong is an answer too. On abort the thread is ended, whatever it does. */
  call(call: SandboxCall, signal: AbortSignal): Promise<SandboxAnswer> {
    const { promise, resolve } = Promise.withResolvers<SandboxAnswer>()
    const onAbort = () => this.#die('the deadline passed')
    this.#settle = (answer) => {
      signal.removeEventListener('abort', onAbort)
      this.#worker.unref()
      resolve(answer)
    }
    if (this.isBroken || signal.aborted) this.#die('the sandbox cannot be used')
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

  #die(text: string): void {
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

/** Threads are kept for the next call, and so many calls at once as they are allowed to be. */
export class SandboxPool {
  readonly #idle: Sandbox[] = []
  readonly #running = new Map<string, number>()
  readonly #waiting: { readonly tenant: string; readonly start: () => void }[] = []
  readonly #all = new Set<Sandbox>()
  readonly #limit: number
  readonly #perTenant: number
  #busy = 0

  constructor(limits: { concurrency?: number; perTenant?: number } = {}) {
    this.#limit = limits.concurrency ?? 10
    this.#perTenant = limits.perTenant ?? 3
  }

  async run(call: SandboxCall, tenant: string, signal: AbortSignal): Promise<SandboxAnswer> {
    await this.#turn(tenant, signal)
    const sandbox = this.#idle.pop() ?? this.#start()
    try {
      return await sandbox.call(call, signal)
    } finally {
      if (sandbox.isBroken) this.#all.delete(sandbox)
      else this.#idle.push(sandbox)
      this.#leave(tenant)
    }
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#all].map((sandbox) => sandbox.end()))
    this.#all.clear()
    this.#idle.length = 0
  }

  #start(): Sandbox {
    const sandbox = new Sandbox()
    this.#all.add(sandbox)
    return sandbox
  }

  #mayStart(tenant: string): boolean {
    return this.#busy < this.#limit && (this.#running.get(tenant) ?? 0) < this.#perTenant
  }

  async #turn(tenant: string, signal: AbortSignal): Promise<void> {
    if (!this.#mayStart(tenant)) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const waiting = { tenant, start: resolve }
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new HookError('script.error', 'no sandbox became free in time'))
      }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', onAbort))
    }
    this.#busy++
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1)
  }

  #leave(tenant: string): void {
    this.#busy--
    const left = (this.#running.get(tenant) ?? 1) - 1
    if (left > 0) this.#running.set(tenant, left)
    else this.#running.delete(tenant)
    const next = this.#waiting.findIndex((waiting) => this.#mayStart(waiting.tenant))
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.start()
  }
}
