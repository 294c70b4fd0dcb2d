export type Counted = 'error' | 'timeout' | 'invalid' | 'block'

export interface BreakerSettings {
  readonly threshold: number
  readonly windowMs: number
  /** A guard that correctly blocks five times must not switch itself off, so `block` is not counted by default. */
  readonly counts: readonly Counted[]
}

export const defaultBreaker: BreakerSettings = {
  threshold: 5,
  windowMs: 60_000,
  counts: ['error', 'timeout', 'invalid'],
}

// When the failures of the current row happened: a minute that rolls needs more than the first of them.
const moments = new WeakMap<object, readonly number[]>()

/** Counts a failure; true when the hook has now failed too often in a row. */
export function countFailure(
  health: { failures: number; since: number },
  now: number,
  settings: BreakerSettings,
): boolean {
  const before = health.failures === 0 ? [] : (moments.get(health) ?? [])
  const recent = [...before.filter((moment) => now - moment <= settings.windowMs), now].slice(
    -settings.threshold,
  )
  moments.set(health, recent)
  health.failures = recent.length
  health.since = recent[0] ?? now
  return recent.length >= settings.threshold
}
