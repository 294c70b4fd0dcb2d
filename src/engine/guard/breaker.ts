/** Outcomes of a hook that the breaker may count. */
export type CountedOutcome = 'error' | 'timeout' | 'invalid' | 'block'

/** When the breaker switches a hook off. */
export interface BreakerSettings {
  /** How many failures in a row; 5 by default. */
  readonly threshold: number
  /** The time in which they must happen; one minute by default. */
  readonly windowMs: number
  /** What counts as a failure. A hook that blocks correctly must not be switched off, so `block` is not a default. */
  readonly counts: readonly CountedOutcome[]
}

export const defaultBreaker: BreakerSettings = {
  threshold: 5,
  windowMs: 60_000,
  counts: ['error', 'timeout', 'invalid'],
}

/** The failures of a hook in a row. */
export interface HookHealth {
  failures: number
  /** When they happened: a sliding window needs all of them. */
  times: readonly number[]
}

/** Counts a failure and returns whether the hook must be switched off. */
export function countFailure(health: HookHealth, now: number, settings: BreakerSettings): boolean {
  const before = health.failures === 0 ? [] : health.times
  const recent = [...before.filter((time) => now - time <= settings.windowMs), now].slice(-settings.threshold)
  health.times = recent
  health.failures = recent.length
  return recent.length >= settings.threshold
}
