import { type Clock, systemClock } from '../../src/engine/core/time/clock.ts'

/** A real clock that runs faster, so that retries and leases take milliseconds instead of seconds. */
export interface QuickClock extends Clock {
  /** Skips time at once. Tickers notice at their next tick. */
  skip(ms: number): void
}

export function quickClock(factor: number, start = 1_700_000_000_000): QuickClock {
  const began = systemClock.elapsed()
  let skipped = 0
  const elapsed = () => (systemClock.elapsed() - began) * factor + skipped
  return {
    now: () => Math.floor(start + elapsed()),
    elapsed,
    every: (ms, tick) => systemClock.every(Math.max(1, ms / factor), tick),
    skip(ms) {
      skipped += ms
    },
  }
}
