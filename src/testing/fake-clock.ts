import { type Clock, nextTurn, type Ticker } from '../engine/core/time/clock.ts'

/** A clock that only moves when a test moves it. */
export interface FakeClock extends Clock {
  /** Moves the time forward, runs every timer that is due on the way, and lets pending promises continue. */
  advance(ms: number): Promise<void>
  /** Moves the time forward without running timers, like a blocked event loop. */
  stall(ms: number): void
  /** Sets the wall clock forward, or back if negative. Elapsed time and timers do not change. */
  jump(ms: number): void
}

/** Creates a clock that starts at `start` (milliseconds since 1970). */
export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let elapsed = 0
  let jumped = 0
  const entries = new Set<{ readonly ms: number; readonly tick: () => void; next: number }>()
  const due = (until: number) =>
    [...entries].filter((entry) => entry.next <= until).sort((a, b) => a.next - b.next)[0]
  return {
    now: () => start + jumped + elapsed,
    elapsed: () => elapsed,
    every(ms, tick): Ticker {
      const entry = { ms, tick, next: elapsed + ms }
      entries.add(entry)
      return { stop: () => entries.delete(entry), hold() {} }
    },
    stall(ms) {
      elapsed += ms
    },
    jump(ms) {
      jumped += ms
    },
    async advance(ms) {
      const end = elapsed + ms
      await nextTurn()
      for (let entry = due(end); entry !== undefined; entry = due(end)) {
        elapsed = Math.max(elapsed, entry.next)
        entry.next = elapsed + entry.ms
        entry.tick()
        await nextTurn()
      }
      elapsed = Math.max(elapsed, end)
    },
  }
}
