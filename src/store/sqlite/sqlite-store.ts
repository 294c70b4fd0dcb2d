import { Worker } from 'node:worker_threads'
import { type Clock, steadyTime, systemClock } from '../../engine/core/clock.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { packRawNumbers, unpackRawNumbers } from '../../safe/json.ts'
import type { Keyring } from '../../safe/secret.ts'
import { encodeBatch, summarizeBatch } from '../sql/audit/journal.ts'
import type { Store } from '../store.ts'
import { removeWalMarker } from './wal-marker.ts'
import {
  deserializeError,
  type WorkerAnswer,
  type WorkerMessage,
  type WorkerStart,
  type WorkerStore,
  workerMethods,
} from './worker-protocol.ts'

/** `.ts` when running from source, `.js` in the package. */
const workerEntry = new URL(
  import.meta.url.endsWith('.ts') ? './store-worker.ts' : './store-worker.js',
  import.meta.url,
)

interface SqliteOptions {
  readonly file: string
  readonly keyring: Keyring
  readonly log?: Log
  readonly clock?: Clock
}

/** Opens the embedded store: one file, and one worker thread that accesses it. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, keyring, log, clock = systemClock } = options
  const worker = new WorkerConnection({ file, keyring }, log)
  await worker.ready
  // `workerMethods` lists every method of `WorkerStore`.
  const forwarded = Object.fromEntries(
    Object.keys(workerMethods).map((method) => [
      method,
      (...args: readonly unknown[]) => worker.call(method, args),
    ]),
  ) as unknown as WorkerStore
  const steadyNow = steadyTime(clock)
  return {
    ...forwarded,
    ...atSteadyTime(forwarded, steadyNow),
    recordEvents(batch, deliveries, answers, now = steadyNow()) {
      const bytes = encodeBatch(batch)
      // Transferred rather than copied.
      return worker.call(
        'recordBytes',
        [bytes, summarizeBatch(batch), deliveries, answers, now],
        [bytes.buffer],
      ) as Promise<void>
    },
    dialect: 'sqlite',
    onHint: () => () => {},
    onRunHint: () => () => {},
    onApprovalHint: () => () => {},
    close: () => worker.close(),
  }
}

/** The methods with windows. Only this process uses the file, so its own elapsed time measures them. */
function atSteadyTime(store: WorkerStore, steadyNow: () => number) {
  return {
    claimDeliveries: (claim) => store.claimDeliveries({ now: steadyNow(), ...claim }),
    endDeliveries: (ends, now = steadyNow()) => store.endDeliveries(ends, now),
    extendLeases: (leases, lease_ms, now = steadyNow()) => store.extendLeases(leases, lease_ms, now),
    replayDeliveries: (tenant, ids, now = steadyNow()) => store.replayDeliveries(tenant, ids, now),
    takeGuards: (tenant, requests, now = steadyNow()) => store.takeGuards(tenant, requests, now),
    readBudget: (tenant, total, now = steadyNow()) => store.readBudget(tenant, total, now),
    spendBudget: (tenant, tokens, total, now = steadyNow()) => store.spendBudget(tenant, tokens, total, now),
    setBudget: (tenant, total, now = steadyNow()) => store.setBudget(tenant, total, now),
    findAnswer: (tenant, key, now = steadyNow()) => store.findAnswer(tenant, key, now),
    keepSessionFolder: (tenant, session, folder, now = steadyNow()) =>
      store.keepSessionFolder(tenant, session, folder, now),
    prune: (limits, now = steadyNow()) => store.prune(limits, now),
    clampWindows: (longest, now = steadyNow()) => store.clampWindows(longest, now),
    createRun: (run, session, now = steadyNow()) => store.createRun(run, session, now),
    takeRun: (request) => store.takeRun({ now: steadyNow(), ...request }),
    extendPreparation: (tenant, run, lease, lease_ms, now = steadyNow()) =>
      store.extendPreparation(tenant, run, lease, lease_ms, now),
    endPreparation: (tenant, run, end) => store.endPreparation(tenant, run, { now: steadyNow(), ...end }),
    reportRun: (tenant, run, runner, report, now = steadyNow()) =>
      store.reportRun(tenant, run, runner, report, now),
    stopRun: (tenant, run, now = steadyNow()) => store.stopRun(tenant, run, now),
    takeUnfinishedRuns: (limit, now = steadyNow()) => store.takeUnfinishedRuns(limit, now),
    deleteRunSession: (tenant, session, now = steadyNow()) => store.deleteRunSession(tenant, session, now),
    removeRunner: (tenant, runner, now = steadyNow()) => store.removeRunner(tenant, runner, now),
    registerRunner: (runner, now = steadyNow()) => store.registerRunner(runner, now),
    findRunner: (tenant, runner, now = steadyNow()) => store.findRunner(tenant, runner, now),
    keepRunner: (tenant, runner, lease_ms, now = steadyNow()) =>
      store.keepRunner(tenant, runner, lease_ms, now),
    requestApproval: (approval, now = steadyNow()) => store.requestApproval(approval, now),
    answerApproval: (tenant, id, answer, now = steadyNow()) => store.answerApproval(tenant, id, answer, now),
    endApproval: (tenant, id, end, now = steadyNow()) => store.endApproval(tenant, id, end, now),
    useApproval: (tenant, id, now = steadyNow()) => store.useApproval(tenant, id, now),
    expireApprovals: (limit, now = steadyNow()) => store.expireApprovals(limit, now),
    listApprovals: (tenant, filter, page, now = steadyNow()) =>
      store.listApprovals(tenant, filter, page, now),
    revokeGrant: (tenant, id, now = steadyNow()) => store.revokeGrant(tenant, id, now),
    createApprovalLinks: (links, now = steadyNow()) => store.createApprovalLinks(links, now),
    listApprovalAlerts: (tenant, within_ms, now = steadyNow()) =>
      store.listApprovalAlerts(tenant, within_ms, now),
    fireRule: (firing, now = steadyNow()) => store.fireRule(firing, now),
    readWindows: (tenant, requests, now = steadyNow()) => store.readWindows(tenant, requests, now),
    expireRuns: (limits) => store.expireRuns({ now: steadyNow(), ...limits }),
  } satisfies Partial<Store>
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Calls the worker. When the worker ends, all pending and later calls reject. */
class WorkerConnection {
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #pending = new Map<number, PendingCall>()
  readonly #opening = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #log: Log | undefined
  #last = 0
  #endReason: string | undefined

  constructor(start: WorkerStart, log: Log | undefined) {
    this.#log = log
    this.ready = this.#opening.promise
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
    else this.#post({ id: ++this.#last, method, args }, transfer, { resolve, reject })
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

  #post(
    call: { id: number; method: string; args: readonly unknown[] },
    transfer: readonly ArrayBuffer[],
    pending: PendingCall,
  ): void {
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
  #send(call: { id: number; method: string; args: readonly unknown[] }, transfer: readonly ArrayBuffer[]) {
    try {
      this.#worker.postMessage(call, transfer)
    } catch {
      this.#worker.postMessage({ ...call, args: call.args.map(packRawNumbers), packed: true }, transfer)
    }
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'log') this.#log?.(message.event, message.fields)
    else if (message.kind === 'answer') this.#settle(message.answer)
    else if (message.error !== undefined) this.#opening.reject(deserializeError(message.error))
    else {
      this.#worker.unref()
      this.#opening.resolve()
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
