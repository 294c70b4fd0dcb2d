import type { Pass } from '../core/guard-state.ts'

const PASS: Pass = { pass: true }

/** Dispatches that cause one another stop somewhere. */
export function depth(current: number, max: number): Pass {
  if (current <= max) return PASS
  return { pass: false, code: 'guard.depth', skip: `depth ${current} is over the limit of ${max}` }
}
