import { Worker } from 'node:worker_threads'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Keyring } from '../../safe/secret.ts'
import { aboutBatch, encodeBatch } from '../sql/audit/journal.ts'
import type { Store } from '../store.ts'
import { unmarkOpen } from './wal-marker.ts'
import {
  type Answer,
  type Remote,
  receiveError,
  remoteMethods,
  type Said,
  type WorkerStart,
} from './worker-protocol.ts'

/** The same file beside this one, whether it runs from source or was compiled. */
const entry = new URL(
  import.meta.url.endsWith('.ts') ? './store-worker.ts' : './store-worker.js',
  import.meta.url,
)

interface SqliteOptions {
  readonly file: string
  readonly keyring: Keyring
  readonly log?: Log
}

/** The embedded store: one file, and one thread that alone touches it. */
export async function openSqliteStore({ file, keyring, log }: SqliteOptions): Promise<Store> {
  const line = new Line({ file, keyring }, log)
  await line.ready
  // Each method is posted as it was called; the table names every one that `Remote` has.
  const remote = Object.fromEntries(
    Object.keys(remoteMethods).map((method) => [
      method,
      (...args: readonly unknown[]) => line.call(method, args),
    ]),
  ) as unknown as Remote
  return {
    ...remote,
    recordEvents(batch, deliveries, answers) {
      const bytes = encodeBatch(batch)
      // Given away rather than copied.
      return line.call(
        'recordBytes',
        [bytes, aboutBatch(batch), deliveries, answers],
        [bytes.buffer],
      ) as Promise<void>
    },
    dialect: 'sqlite',
    onHint: () => () => {},
    close: () => line.close(),
  }
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The line to the worker. When the worker ends, everybody who waits is told so, and so is whoever calls later. */
class Line {
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #opening = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #log: Log | undefined
  #last = 0
  #why: string | undefined

  constructor(start: WorkerStart, log: Log | undefined) {
    this.#log = log
    this.ready = this.#opening.promise
    this.#worker = new Worker(entry, { workerData: start, env: {}, stdin: false, execArgv: [] })
    this.#worker.on('message', (said: Said) => this.#hear(said))
    this.#worker.on('error', (error) => this.#end(error.message))
    // A thread that ends without closing closes the file all the same, and so does a process.
    const unmark = () => unmarkOpen(start.file)
    process.once('exit', unmark)
    this.#worker.on('exit', () => {
      process.off('exit', unmark)
      unmark()
      this.#end('the store has ended')
      this.#ended.resolve()
    })
  }

  call(method: string, args: readonly unknown[], given: readonly ArrayBuffer[] = []): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#why !== undefined) reject(serverError('store.unavailable', this.#why))
    else this.#post({ id: ++this.#last, method, args }, given, { resolve, reject })
    return promise
  }

  async close(): Promise<void> {
    if (this.#why === undefined) {
      const closing = this.call('close', [])
      this.#why = 'the store was closed'
      await closing.catch((error: unknown) => this.#log?.('store.close_failed', { error: String(error) }))
    }
    await this.#ended.promise
  }

  #post(
    call: { id: number; method: string; args: readonly unknown[] },
    given: readonly ArrayBuffer[],
    waiting: Waiting,
  ): void {
    try {
      this.#worker.postMessage(call, given)
    } catch (cause) {
      waiting.reject(serverError('gateway.request', `${call.method}: not plain data`, { cause }))
      return
    }
    // An idle store does not keep the process alive; one that is asked something does.
    if (this.#waiting.size === 0) this.#worker.ref()
    this.#waiting.set(call.id, waiting)
  }

  #hear(said: Said): void {
    if (said.kind === 'log') this.#log?.(said.event, said.fields)
    else if (said.kind === 'answer') this.#settle(said.answer)
    else if (said.error !== undefined) this.#opening.reject(receiveError(said.error))
    else {
      this.#worker.unref()
      this.#opening.resolve()
    }
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0 && this.#why === undefined) this.#worker.unref()
    if ('error' in answer) waiting?.reject(receiveError(answer.error))
    else waiting?.resolve(answer.value)
  }

  #end(why: string): void {
    this.#why ??= why
    const error = serverError('store.unavailable', this.#why)
    this.#opening.reject(error)
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}
