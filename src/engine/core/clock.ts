/** The only place that reads the time or sets a timer. Tests pass a clock they can move. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds from some fixed point, with fractions; never jumps. */
  elapsed(): number
  /** Calls `tick` again and again until stopped. */
  every(ms: number, tick: () => void): Ticker
}

export interface Ticker {
  stop(): void
  /** Whether this ticker alone keeps the process alive. */
  hold(alive: boolean): void
}

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

/** Lets whatever else is due run first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** The first moment of the month that a time lies in, UTC. */
export function monthStart(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}
