import { isRecord } from '../core/check.ts'
import type { EventRow } from '../core/event.ts'

/** What name matchers look at; empty where the event has nothing of the kind. */
export function subjectOf(row: EventRow, payload: unknown): string {
  const subject = isRecord(payload) ? payload[row.subject] : undefined
  return typeof subject === 'string' ? subject : ''
}
