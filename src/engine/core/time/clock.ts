/** The source of time and timers. Pass your own in tests: `hookhelm/testing` has one that you move by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds since an arbitrary point, with fractions; never goes back. */
  elapsed(): number
  /** Calls `tick` every `ms` milliseconds until the ticker is stopped. */
  every(ms: number, tick: () => void): Ticker
}

/** A running interval. */
export interface Ticker {
  /** Ends the interval. */
  stop(): void
  /** With `false` the ticker does not keep the process alive. */
  hold(alive: boolean): void
}

/** The clock of the system: `Date.now`, `performance.now` and `setInterval`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms)
    return {
      stop: () => clearInterval(timer),
      hold: (alive) => {
        if (alive) timer.ref()
        else timer.unref()
      },
    }
  },
}

/** A time in milliseconds since 1970 as ISO text. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * Returns a function for the time in whole milliseconds since 1970. It reads the wall clock once and then adds the elapsed
 * time, so setting the clock of the machine does not move it.
 */
export function steadyTime(clock: Clock): () => number {
  const start = clock.now() - clock.elapsed()
  return () => Math.floor(start + clock.elapsed())
}

/** Resolves in the next turn of the event loop, so that other work can run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** The start of the month that contains a time, in UTC. */
export function monthStart(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}
