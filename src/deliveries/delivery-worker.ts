import { randomUUID } from 'node:crypto'
import { errorText } from '../engine/core/errors/error.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { after } from '../engine/core/values/after.ts'
import type { Clock } from '../engine/core/values/clock.ts'
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

export interface DeliveryWorker {
  /** Looks for due deliveries now. */
  wake(): void
  /** How many deliveries are running. */
  busy(): number
  /** The error of the store, while it fails. */
  failure(): string | undefined
  /**
   * Claims nothing more, and resolves when all running deliveries have ended or the time is over. A worker claims unfinished
   * ones again once their lease has expired.
   */
  stop(graceMs: number): Promise<void>
}

const POLL_MS = 1_000
export const LEASE_MS = 30_000

/** Claims due deliveries in batches and runs them: each at least once, even after a crash. */
export function startDeliveries(options: WorkerOptions): DeliveryWorker {
  const { store, kinds, clock, log, maxAttempts = 8, width = 64, leaseMs = LEASE_MS, random } = options
  const names = Object.keys(kinds)
  const worker = randomUUID()
  const running = new Map<string, { lease: string; work: Promise<void> }>()
  let ends: DeliveryEnd[] = []
  let ending: Promise<void> | undefined
  let claiming: Promise<void> | undefined
  let again = false
  let isStopped = false
  let failure: string | undefined

  const wake = () => {
    if (isStopped) return
    if (claiming !== undefined) {
      again = true
      return
    }
    if (running.size >= width) return
    claiming = claim().finally(() => {
      claiming = undefined
      if (!again) return
      again = false
      wake()
    })
  }

  const claim = async (): Promise<void> => {
    const limit = width - running.size
    try {
      const claimed = await store.claimDeliveries({ kinds: names, limit, lease_ms: leaseMs, worker })
      failure = undefined
      for (const delivery of claimed) begin(delivery)
      if (claimed.length === limit) again = true
    } catch (thrown) {
      reportFailure(thrown)
    }
  }

  const begin = (delivery: ClaimedDelivery) => {
    const work = attempt(delivery).then((end) => {
      running.delete(delivery.id)
      ends.push(end)
      ending ??= Promise.resolve().then(finish)
      wake()
    })
    running.set(delivery.id, { lease: delivery.lease, work })
  }

  const attempt = async (delivery: ClaimedDelivery): Promise<DeliveryEnd> => {
    const { id, lease, kind, attempt: count } = delivery
    const result = await runAttempt(kinds[kind], delivery)
    if (result.end === 'done') return { id, lease, end: 'done' }
    const error = redact(result.error)
    if (result.end === 'retry' && count < maxAttempts)
      return { id, lease, end: 'retry', error, retry_ms: backoffMs(count, random) }
    log('delivery.dead', { id, kind, tenant: delivery.tenant, attempts: count, error })
    return { id, lease, end: 'dead', error }
  }

  /** Writes the ended deliveries as one group. If that fails it retries later; their leases protect them until then. */
  const finish = async (): Promise<void> => {
    const group = ends
    ends = []
    try {
      if (group.length > 0) await store.endDeliveries(group)
    } catch (thrown) {
      reportFailure(thrown)
      ends = [...group, ...ends]
      ending = undefined
      return
    }
    ending = ends.length > 0 ? finish() : undefined
    return ending
  }

  const reportFailure = (thrown: unknown) => {
    const error = errorText(thrown)
    if (failure === undefined) log('delivery.store_failed', { error })
    failure = error
  }

  const poll = clock.every(POLL_MS, () => {
    if (ends.length > 0) ending ??= finish()
    wake()
  })
  const renewal = clock.every(Math.max(1, Math.floor(leaseMs / 3)), () => {
    const leases = [...running].map(([id, { lease }]) => ({ id, lease }))
    if (leases.length > 0) store.extendLeases(leases, leaseMs).catch(reportFailure)
  })
  poll.hold(false)
  renewal.hold(false)
  wake()

  return {
    wake,
    busy: () => running.size,
    failure: () => failure,
    async stop(graceMs) {
      isStopped = true
      poll.stop()
      await claiming
      await settledWithin(
        [...running.values()].map(({ work }) => work),
        graceMs,
        clock,
      )
      await ending
      if (ends.length > 0) await finish()
      renewal.stop()
    },
  }
}

function settledWithin(work: readonly Promise<void>[], ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const callOff = after(clock, ms, resolve)
    Promise.all(work).then(() => {
      callOff()
      resolve()
    })
  })
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
