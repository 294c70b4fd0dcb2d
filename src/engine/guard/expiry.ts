import type { Pass } from '../core/guard-state.ts'
import { schema } from '../core/schema/schema.ts'
import { isoTime } from '../core/time/clock.ts'

const PASS: Pass = { pass: true }
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

export const expiryFields = {
  expires_at: schema.text('From this instant on the hook is skipped: `2026-12-31T18:00:00Z`.'),
} as const

/** Milliseconds since 1970, or undefined for a text that is no instant. */
export function readExpiry(text: string): number | undefined {
  const time = INSTANT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Ends hooks that apply for a time only. */
export function checkExpiry(expiresAt: number, now: number): Pass {
  if (now < expiresAt) return PASS
  return { pass: false, code: 'guard.expired', skip: `the hook expired at ${isoTime(expiresAt)}` }
}
