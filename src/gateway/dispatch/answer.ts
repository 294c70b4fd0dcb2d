import type { Decision } from '../../engine/core/decision.ts'
import type { DispatchAnswer } from './dispatcher.ts'

/** What the caller gets: what it sent itself is not sent back, unless it asked for the trace. */
export function answerOf(eventId: string, decision: Decision): DispatchAnswer {
  return { eventId, decision, json: JSON.stringify({ event_id: eventId, decision: onWire(decision) }) }
}

function onWire(decision: Decision): unknown {
  if (decision.trace !== undefined) return decision
  if (decision.steps === undefined && decision.original === undefined) return decision
  const { original: _, steps: __, ...rest } = decision
  return rest
}
