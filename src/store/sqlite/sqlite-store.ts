import { Worker } from 'node:worker_threads'
import { removeWalMarker } from '../../database/sqlite/wal-marker.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { type Clock, steadyTime, systemClock } from '../../engine/core/time/clock.ts'
import { recordingOf } from '../../history/stored/recording.ts'
import { packRawNumbers, unpackRawNumbers } from '../../safe/json.ts'
import type { Keyring } from '../../safe/secrets/secret.ts'
import type { Store, StoreMethods } from '../store.ts'
import {
  deserializeError,
  type WorkerAnswer,
  type WorkerCall,
  type WorkerMessage,
  type WorkerStart,
} from './worker-protocol.ts'

/** `.ts` when running from source, `.js` in the package. */
const workerEntry = new URL(
  import.meta.url.endsWith('.ts') ? './store-worker.ts' : './store-worker.js',
  import.meta.url,
)

/** Opens the embedded store: one file, and one worker thread that accesses it. */
export async function openSqliteStore(options: {
  readonly file: string
  readonly keyring: Keyring
  readonly log?: Log
  readonly clock?: Clock
}): Promise<Store> {
  const { file, keyring, log, clock = systemClock } = options
  // Only this process uses the file, so its own elapsed time measures windows.
  const worker = new WorkerConnection({ file, keyring }, log, steadyTime(clock))
  const names = await worker.operations
  const methods = Object.fromEntries(
    [...names, 'ping'].map((name) => [name, (...args: readonly unknown[]) => worker.call(name, args)]),
  )
  return {
    // The names are those of the operations, and their types follow from them.
    ...(methods as unknown as StoreMethods & Pick<Store, 'ping'>),
    async recordEvents(batch, deliveries, answers, now) {
      const recording = recordingOf(batch, deliveries, answers, now)
      // Transferred rather than copied.
      await worker.call('recordBytes', [recording], [recording.bytes.buffer])
    },
    dialect: 'sqlite',
    onHint: () => () => {},
    onRunHint: () => () => {},
    onApprovalHint: () => () => {},
    close: () => worker.close(),
  }
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Calls the worker. When the worker ends, all pending and later calls reject. */
class WorkerConnection {
  /** The names of the operations that the worker performs. */
  readonly operations: Promise<readonly string[]>
  readonly #worker: Worker
  readonly #pending = new Map<number, PendingCall>()
  readonly #opening = Promise.withResolvers<readonly string[]>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #log: Log | undefined
  readonly #now: () => number
  #last = 0
  #endReason: string | undefined

  constructor(start: WorkerStart, log: Log | undefined, now: () => number) {
    this.#log = log
    this.#now = now
    this.operations = this.#opening.promise
    this.#worker = new Worker(workerEntry, { workerData: start, env: {}, stdin: false, execArgv: [] })
    this.#worker.on('message', (message: WorkerMessage) => this.#receive(message))
    this.#worker.on('error', (error) => this.#end(error.message))
    // SQLite closes the file even if the thread or the process ends without `close`.
    const removeMarker = () => removeWalMarker(start.file)
    process.once('exit', removeMarker)
    this.#worker.on('exit', () => {
      process.off('exit', removeMarker)
      removeMarker()
      this.#end('the store worker has ended')
      this.#ended.resolve()
    })
  }

  call(method: string, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#endReason !== undefined) reject(serverError('store.unavailable', this.#endReason))
    else this.#post({ id: ++this.#last, method, args, sentAt: this.#now() }, transfer, { resolve, reject })
    return promise
  }

  async close(): Promise<void> {
    if (this.#endReason === undefined) {
      const closing = this.call('close', [])
      this.#endReason = 'the store was closed'
      await closing.catch((error: unknown) => this.#log?.('store.close_failed', { error: String(error) }))
    }
    await this.#ended.promise
  }

  #post(call: WorkerCall, transfer: readonly ArrayBuffer[], pending: PendingCall): void {
    try {
      this.#send(call, transfer)
    } catch (cause) {
      pending.reject(
        serverError('gateway.request', `${call.method}: the arguments are not plain data`, { cause }),
      )
      return
    }
    // Only a store with pending calls keeps the process alive.
    if (this.#pending.size === 0) this.#worker.ref()
    this.#pending.set(call.id, pending)
  }

  /** Numbers that a double cannot hold are rare, so they are looked for only when a call cannot be posted. */
  #send(call: WorkerCall, transfer: readonly ArrayBuffer[]) {
    try {
      this.#worker.postMessage(call, transfer)
    } catch {
      this.#worker.postMessage({ ...call, args: call.args.map(packRawNumbers), packed: true }, transfer)
    }
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'log') this.#log?.(message.event, message.fields)
    else if (message.kind === 'answer') this.#settle(message.answer)
    else if ('error' in message) this.#opening.reject(deserializeError(message.error))
    else {
      this.#worker.unref()
      this.#opening.resolve(message.operations)
    }
  }

  #settle(answer: WorkerAnswer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (this.#pending.size === 0 && this.#endReason === undefined) this.#worker.unref()
    if ('error' in answer) pending?.reject(deserializeError(answer.error))
    else pending?.resolve(answer.packed ? unpackRawNumbers(answer.value) : answer.value)
  }

  #end(why: string): void {
    this.#endReason ??= why
    const error = serverError('store.unavailable', this.#endReason)
    this.#opening.reject(error)
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
  }
}
