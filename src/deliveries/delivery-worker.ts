import { randomUUID } from 'node:crypto'
import { errorText } from '../engine/core/errors/error.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { endedWithin } from '../engine/core/time/after.ts'
import type { Clock, Ticker } from '../engine/core/time/clock.ts'
import { rerun } from '../engine/core/time/rerun.ts'
import { redact } from '../safe/secrets/redact.ts'
import type { Store } from '../store/store.ts'
import type { ClaimedDelivery, DeliveryEnd } from './delivery-table.ts'

/** The gateway wrote the payload around an event that it had checked. */
export const TRUSTED_LIMITS = { maxBytes: 64 * 1_048_576, maxDepth: 256, maxKeys: 1_000_000 }

/** How one attempt ended. `retry` runs again later, up to the maximum; `dead` gives up at once. */
export type DeliveryAttempt =
  | { readonly end: 'done' }
  | { readonly end: 'retry' | 'dead'; readonly error: string }

/** Does the work of one kind of delivery. An error counts as `retry`. */
export type DeliverWork = (delivery: ClaimedDelivery) => Promise<DeliveryAttempt>

type WorkerStorePart = Pick<Store, 'claimDeliveries' | 'endDeliveries' | 'extendLeases'>

interface WorkerOptions {
  readonly store: WorkerStorePart
  /** Kind → the function that does the work. */
  readonly kinds: Readonly<Record<string, DeliverWork>>
  readonly clock: Clock
  readonly log: Log
  readonly maxAttempts?: number
  /** How many deliveries run at once. */
  readonly width?: number
  readonly leaseMs?: number
  readonly random?: () => number
}

const POLL_MS = 1_000
export const LEASE_MS = 30_000

/** Claims due deliveries in batches and runs them: each at least once, even after a crash. */
export class DeliveryWorker {
  /** Looks for due deliveries now. */
  readonly wake = rerun(() => this.#claim())
  readonly #options: WorkerOptions
  readonly #width: number
  readonly #leaseMs: number
  readonly #worker = randomUUID()
  readonly #running = new Map<string, { lease: string; work: Promise<void> }>()
  readonly #poll: Ticker
  readonly #renewal: Ticker
  #ends: DeliveryEnd[] = []
  #ending: Promise<void> | undefined
  #isStopped = false
  #failure: string | undefined

  constructor(options: WorkerOptions) {
    const { store, clock, width = 64, leaseMs = LEASE_MS } = options
    this.#options = options
    this.#width = width
    this.#leaseMs = leaseMs
    this.#poll = clock.every(POLL_MS, () => {
      if (this.#ends.length > 0) this.#ending ??= this.#finish()
      void this.wake()
    })
    this.#renewal = clock.every(Math.max(1, Math.floor(leaseMs / 3)), () => {
      const leases = [...this.#running].map(([id, { lease }]) => ({ id, lease }))
      if (leases.length > 0)
        store.extendLeases(leases, leaseMs).catch((thrown) => this.#reportFailure(thrown))
    })
    this.#poll.hold(false)
    this.#renewal.hold(false)
    void this.wake()
  }

  /** How many deliveries are running. */
  busy(): number {
    return this.#running.size
  }

  /** The error of the store, while it fails. */
  failure(): string | undefined {
    return this.#failure
  }

  /**
   * Claims nothing more, and resolves when all running deliveries have ended or the time is over. A worker claims unfinished
   * ones again once their lease has expired.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    this.#poll.stop()
    await this.wake()
    const running = [...this.#running.values()].map(({ work }) => work)
    await endedWithin(this.#options.clock, graceMs, Promise.all(running))
    await this.#ending
    if (this.#ends.length > 0) await this.#finish()
    this.#renewal.stop()
  }

  async #claim(): Promise<void> {
    const limit = this.#width - this.#running.size
    if (this.#isStopped || limit <= 0) return
    const { store, kinds } = this.#options
    const request = { kinds: Object.keys(kinds), limit, lease_ms: this.#leaseMs, worker: this.#worker }
    try {
      const claimed = await store.claimDeliveries(request)
      this.#failure = undefined
      for (const delivery of claimed) this.#begin(delivery)
      if (claimed.length === limit) void this.wake()
    } catch (thrown) {
      this.#reportFailure(thrown)
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const work = attempt(this.#options, delivery).then((end) => {
      this.#running.delete(delivery.id)
      this.#ends.push(end)
      this.#ending ??= Promise.resolve().then(() => this.#finish())
      void this.wake()
    })
    this.#running.set(delivery.id, { lease: delivery.lease, work })
  }

  /** Writes the ended deliveries as one group. If that fails it retries later; their leases protect them until then. */
  async #finish(): Promise<void> {
    const group = this.#ends
    this.#ends = []
    try {
      if (group.length > 0) await this.#options.store.endDeliveries(group)
    } catch (thrown) {
      this.#reportFailure(thrown)
      this.#ends = [...group, ...this.#ends]
      this.#ending = undefined
      return
    }
    this.#ending = this.#ends.length > 0 ? this.#finish() : undefined
    return this.#ending
  }

  #reportFailure(thrown: unknown): void {
    const error = errorText(thrown)
    if (this.#failure === undefined) this.#options.log('delivery.store_failed', { error })
    this.#failure = error
  }
}

async function attempt(
  { kinds, log, maxAttempts = 8, random }: WorkerOptions,
  delivery: ClaimedDelivery,
): Promise<DeliveryEnd> {
  const { id, lease, kind, attempt: count } = delivery
  const result = await runAttempt(kinds[kind], delivery)
  if (result.end === 'done') return { id, lease, end: 'done' }
  const error = redact(result.error)
  if (result.end === 'retry' && count < maxAttempts)
    return { id, lease, end: 'retry', error, retry_ms: backoffMs(count, random) }
  log('delivery.dead', { id, kind, tenant: delivery.tenant, attempts: count, error })
  return { id, lease, end: 'dead', error }
}

async function runAttempt(
  deliver: DeliverWork | undefined,
  delivery: ClaimedDelivery,
): Promise<DeliveryAttempt> {
  if (deliver === undefined) return { end: 'retry', error: `no worker for the kind ${delivery.kind}` }
  try {
    return await deliver(delivery)
  } catch (thrown) {
    return { end: 'retry', error: errorText(thrown) }
  }
}

const FIRST_RETRY_MS = 1_000
const FACTOR = 4
export const LONGEST_RETRY_MS = 3_600_000

/** The delay after a failed attempt. Half of it is random, so that deliveries that fail together do not retry together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * FACTOR ** (attempt - 1))
  return Math.round(full / 2 + (full / 2) * random())
}
