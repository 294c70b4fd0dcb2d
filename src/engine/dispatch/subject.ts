import { isRecord } from '../core/check.ts'
import type { EventRow } from '../core/event.ts'

/** What name matchers look at; empty where the event has nothing of the kind. */
export function subjectOf(row: EventRow, payload: unknown): string {
  if (!isRecord(payload)) return ''
  // Almost always this one, and a key that is known is read several times faster than one that is not.
  const subject = row.subject === 'tool_name' ? payload.tool_name : payload[row.subject]
  return typeof subject === 'string' ? subject : ''
}
