import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/clock.ts'

interface Count {
  failures: number
  since: number
}

/** Counts bad tokens and logins by whom they came from, and says how long to wait. */
export interface Failures {
  /** Milliseconds until another try is looked at; nought when one may be made now. */
  wait(from: string): number
  count(from: string): void
}

const WINDOW_MS = 60_000
/** Bounded: an attacker with many addresses must not fill the memory, and pushes out only other attackers. */
const MAX_PLACES = 10_000

export function createFailures(clock: Clock, most = 20): Failures {
  const counts = new LRUCache<string, Count>({ max: MAX_PLACES })
  const current = (from: string): Count | undefined => {
    const count = counts.get(from)
    return count !== undefined && clock.elapsed() - count.since < WINDOW_MS ? count : undefined
  }
  return {
    wait(from) {
      const count = current(from)
      if (count === undefined || count.failures < most) return 0
      return Math.ceil(count.since + WINDOW_MS - clock.elapsed())
    },
    count(from) {
      const count = current(from)
      if (count === undefined) counts.set(from, { failures: 1, since: clock.elapsed() })
      else count.failures += 1
    },
  }
}
