import { randomUUID } from 'node:crypto'
import { after } from '../engine/core/after.ts'
import type { Clock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import type { Log } from '../engine/core/sink.ts'
import { redact } from '../safe/redact.ts'
import type { Store } from '../store/store.ts'
import type { ClaimedDelivery, DeliveryEnd } from '../store/stores/delivery-store.ts'

/** How one attempt ended. `retry` is tried again later, as often as it may; `dead` is laid aside at once. */
export type Attempt = { readonly end: 'done' } | { readonly end: 'retry' | 'dead'; readonly error: string }

/** Does the work of one kind. What it throws is a reason to try again. */
export type Deliver = (delivery: ClaimedDelivery) => Promise<Attempt>

type DeliveryStore = Pick<Store, 'claimDeliveries' | 'endDeliveries' | 'extendLeases'>

interface WorkerOptions {
  readonly store: DeliveryStore
  /** Kind → who does it. */
  readonly kinds: Readonly<Record<string, Deliver>>
  readonly clock: Clock
  readonly log: Log
  readonly maxAttempts?: number
  /** How many are worked on at once. */
  readonly width?: number
  readonly leaseMs?: number
  readonly random?: () => number
}

export interface DeliveryWorker {
  /** Something may be due. */
  wake(): void
  /** How many are being worked on. */
  busy(): number
  /** Why the store could not be asked, while it cannot. */
  failure(): string | undefined
  /**
   * Takes nothing new, and resolves when what was begun has ended or so much time has passed: the lease protects what is still
   * under way, and somebody takes it up again when it has run out.
   */
  stop(graceMs: number): Promise<void>
}

const IDLE_MS = 1_000

/** Claims what is due, in batches, and works on it: at least once, whatever crashes. */
export function startDeliveries(options: WorkerOptions): DeliveryWorker {
  const { store, kinds, clock, log, maxAttempts = 8, width = 64, leaseMs = 30_000, random } = options
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
    const now = clock.now()
    try {
      const claimed = await store.claimDeliveries({
        kinds: names,
        limit,
        now,
        lease_until: now + leaseMs,
        worker,
      })
      failure = undefined
      for (const delivery of claimed) begin(delivery)
      if (claimed.length === limit) again = true
    } catch (thrown) {
      tell(thrown)
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
    const result = await outcome(kinds[kind], delivery)
    if (result.end === 'done') return { id, lease, end: 'done' }
    const error = redact(result.error)
    if (result.end === 'retry' && count < maxAttempts)
      return { id, lease, end: 'retry', error, due_at: clock.now() + backoffMs(count, random) }
    log('delivery.dead', { id, kind, tenant: delivery.tenant, attempts: count, error })
    return { id, lease, end: 'dead', error }
  }

  /** Ends what has ended since, together. What cannot be written now is tried again: the lease protects it until then. */
  const finish = async (): Promise<void> => {
    const group = ends
    ends = []
    try {
      if (group.length > 0) await store.endDeliveries(group, clock.now())
    } catch (thrown) {
      tell(thrown)
      ends = [...group, ...ends]
      ending = undefined
      return
    }
    ending = ends.length > 0 ? finish() : undefined
    return ending
  }

  const tell = (thrown: unknown) => {
    const error = errorText(thrown)
    if (failure === undefined) log('delivery.store_failed', { error })
    failure = error
  }

  const poll = clock.every(IDLE_MS, () => {
    if (ends.length > 0) ending ??= finish()
    wake()
  })
  const renewal = clock.every(Math.max(1, Math.floor(leaseMs / 3)), () => {
    const leases = [...running].map(([id, { lease }]) => ({ id, lease }))
    if (leases.length > 0) store.extendLeases(leases, clock.now() + leaseMs).catch(tell)
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
      await withinTime(
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

function withinTime(work: readonly Promise<void>[], ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const callOff = after(clock, ms, resolve)
    Promise.all(work).then(() => {
      callOff()
      resolve()
    })
  })
}

async function outcome(deliver: Deliver | undefined, delivery: ClaimedDelivery): Promise<Attempt> {
  if (deliver === undefined) return { end: 'retry', error: `nobody does ${delivery.kind}` }
  try {
    return await deliver(delivery)
  } catch (thrown) {
    return { end: 'retry', error: errorText(thrown) }
  }
}

const FIRST_MS = 1_000
const FACTOR = 4
const LONGEST_MS = 3_600_000

/** How long to wait after so many failed attempts. Half of it is chance, so that what failed together does not return together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1))
  return Math.round(full / 2 + (full / 2) * random())
}
