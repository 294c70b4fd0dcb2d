import type { Clock, Ticker } from '../engine/core/clock.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  /** Moves time on, ticking on the way, and lets everything that became due run. */
  advance(ms: number): Promise<void>
  /** Moves time on without a tick: what a blocked event loop looks like. */
  stall(ms: number): void
}

interface Entry {
  readonly ms: number
  readonly tick: () => void
  next: number
}

export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let elapsed = 0
  const entries = new Set<Entry>()
  const due = (until: number) =>
    [...entries].filter((entry) => entry.next <= until).sort((a, b) => a.next - b.next)[0]
  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    every(ms, tick): Ticker {
      const entry = { ms, tick, next: elapsed + ms }
      entries.add(entry)
      return { stop: () => entries.delete(entry), hold() {} }
    },
    stall(ms) {
      elapsed += ms
    },
    async advance(ms) {
      const end = elapsed + ms
      await settle()
      for (let entry = due(end); entry !== undefined; entry = due(end)) {
        elapsed = Math.max(elapsed, entry.next)
        entry.next = elapsed + entry.ms
        entry.tick()
        await settle()
      }
      elapsed = Math.max(elapsed, end)
    },
  }
}

/** A turn of the real event loop, so that every promise that can go on has done so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
