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

/** Counts a failure; true when the hook has now failed too often in a row. */
export function countFailure(
  health: { failures: number; since: number },
  now: number,
  settings: BreakerSettings,
): boolean {
  if (health.failures === 0 || now - health.since > settings.windowMs) {
    health.failures = 0
    health.since = now
  }
  health.failures++
  return health.failures >= settings.threshold
}
