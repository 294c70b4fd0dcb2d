import { tellingArgument } from '../../agents/translate/telling-argument.ts'
import type { EventRows } from '../../engine/core/event.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { EventTexts } from '../audit-tables.ts'

/** One field of the input that a hook changed. */
export interface InputChange {
  readonly hook: string
  readonly field: string
  readonly before: string
  readonly after: string
}

/** What an event was about, from its decrypted texts: redacted, on one line, clipped. */
export interface TimelineDetails {
  readonly argument?: string
  readonly reason?: string
  readonly changes?: readonly InputChange[]
}

const MAX_TEXT = 256
const MAX_CHANGES = 20

export function timelineDetails(
  event: string,
  { request, answer }: Omit<EventTexts, 'event_id'>,
): TimelineDetails {
  const { payload } = readFields(request)
  const { decision } = readFields(answer)
  const { reason, steps } = isRecord(decision) ? decision : {}
  const argument = isRecord(payload) ? tellingArgument(event, asAsked(event, payload, steps)) : undefined
  const changes = Array.isArray(steps) ? steps.flatMap(changesOf).slice(0, MAX_CHANGES) : []
  return {
    ...(argument === undefined ? {} : { argument: redact(argument, MAX_TEXT) }),
    ...(typeof reason === 'string' ? { reason: redact(reason, MAX_TEXT) } : {}),
    ...(changes.length === 0 ? {} : { changes }),
  }
}

/** The payload with the input that the agent asked for: a record may hold the input that the hooks made of it. */
function asAsked(event: string, payload: Readonly<Record<string, unknown>>, steps: unknown) {
  const rows: EventRows = catalogue
  const key = rows[event]?.rewrites
  const [first]: readonly unknown[] = Array.isArray(steps) ? steps : []
  return key === undefined || !isRecord(first) ? payload : { ...payload, [key]: first.before }
}

function readFields(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** The fields that differ between the input before a hook and after it. */
function changesOf(step: unknown): InputChange[] {
  if (!isRecord(step)) return []
  const { hook, before, after } = step
  const was = isRecord(before) ? before : { input: before }
  const is = isRecord(after) ? after : { input: after }
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((field) => JSON.stringify(was[field]) !== JSON.stringify(is[field]))
    .map((field) => ({
      hook: String(hook),
      field,
      before: valueText(was[field]),
      after: valueText(is[field]),
    }))
}

function valueText(value: unknown): string {
  if (value === undefined) return ''
  return redact(typeof value === 'string' ? value : JSON.stringify(value), MAX_TEXT)
}
