import type { EventRow } from '../core/event.ts'
import { bothNames } from '../match/both-names.ts'

interface Bag {
  readonly tool_name?: unknown
  readonly native_tool_name?: unknown
  readonly [key: string]: unknown
}

/** What name matchers look at; empty where the event has nothing of the kind. */
export function subjectOf(row: EventRow, payload: unknown): string {
  if (!isBag(payload)) return ''
  // Almost always this one, and a key that is known is read several times faster than one that is not.
  if (row.subject !== 'tool_name') return text(payload[row.subject])
  const { tool_name, native_tool_name } = payload
  return native_tool_name === undefined ? text(tool_name) : bothNames(text(tool_name), native_tool_name)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null
}
