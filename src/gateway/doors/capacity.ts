import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/time/clock.ts'
import { tooSoon } from '../../engine/core/time/retry-after.ts'
import type { Settings } from '../../settings/settings.ts'

/** Limits dispatches through all doors together: per tenant by rate, in total by number in flight. */
export interface Capacity {
  /** Counts one dispatch against the tenant's rate, or throws. Doors call it before they read the body. */
  check(tenant: string): void
  /** Counts a dispatch as in flight until what it returns is called: when it is answered, or waits for a person. */
  enter(): () => void
  readonly inFlight: number
  /** Makes `check` refuse everything. */
  stop(): void
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>
}

interface Bucket {
  left: number
  at: number
}

const MAX_IN_FLIGHT = 10_000
/** A tenant that is evicted starts with a full bucket again. */
const MAX_BUCKETS = 20_000
const BUSY_MS = 1_000

export interface CapacityOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly maxInFlight?: number
}

export function createCapacity({ settings, clock, maxInFlight = MAX_IN_FLIGHT }: CapacityOptions): Capacity {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })
  const waiting: (() => void)[] = []
  let inFlight = 0
  let stopped = false

  /** Takes one token from the tenant's bucket and returns 0, or returns the milliseconds until there is one. */
  function take(tenant: string): number {
    const { per_second, burst = per_second } = settings.of(tenant).rate_limit
    const now = clock.elapsed()
    let bucket = buckets.get(tenant)
    if (bucket === undefined) {
      bucket = { left: burst, at: now }
      buckets.set(tenant, bucket)
    }
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) * per_second) / 1_000)
    bucket.at = now
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * 1_000) / per_second)
    bucket.left -= 1
    return 0
  }

  return {
    check(tenant) {
      if (stopped) throw tooSoon('gateway.stopping', 'the gateway is stopping', BUSY_MS)
      if (inFlight >= maxInFlight)
        throw tooSoon('gateway.busy', `${inFlight} dispatches are in flight`, BUSY_MS)
      const wait = take(tenant)
      if (wait > 0) throw tooSoon('gateway.rate_limited', 'the tenant exceeds its rate limit', wait)
    },
    enter() {
      let isCounted = true
      inFlight += 1
      return () => {
        if (isCounted) inFlight -= 1
        isCounted = false
        if (inFlight > 0) return
        for (const resolve of waiting.splice(0)) resolve()
      }
    },
    get inFlight() {
      return inFlight
    },
    stop() {
      stopped = true
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
