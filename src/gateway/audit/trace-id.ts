import { createHash } from 'node:crypto'

/** The W3C trace id of an event: the caller's, or one derived from the event's id. */
export function traceIdOf(traceparent: string | undefined, eventId: string): string {
  const given = traceparent === undefined ? undefined : /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent)?.[1]
  if (given !== undefined && !/^0+$/.test(given)) return given
  const hex = eventId.replaceAll('-', '').toLowerCase()
  if (/^[\da-f]{32}$/.test(hex)) return hex
  return createHash('sha256').update(eventId).digest('hex').slice(0, 32)
}
