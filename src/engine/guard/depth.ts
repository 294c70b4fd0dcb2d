import type { Pass } from '../core/guard-state.ts'

const PASS: Pass = { pass: true }

/** Limits how many dispatches may cause one another. */
export function checkDepth(current: number, max: number): Pass {
  if (current <= max) return PASS
  return { pass: false, code: 'guard.depth', skip: `depth ${current} is over the limit of ${max}` }
}
