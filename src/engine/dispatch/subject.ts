import type { EventRow } from '../core/event.ts'

interface Bag {
  readonly tool_name?: unknown
  readonly [key: string]: unknown
}

/** What name matchers look at; empty where the event has nothing of the kind. */
export function subjectOf(row: EventRow, payload: unknown): string {
  if (!isBag(payload)) return ''
  // Almost always this one, and a key that is known is read several times faster than one that is not.
  const subject = row.subject === 'tool_name' ? payload.tool_name : payload[row.subject]
  return typeof subject === 'string' ? subject : ''
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null
}
