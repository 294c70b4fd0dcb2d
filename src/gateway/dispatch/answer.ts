import type { Decision } from '../../engine/core/decision.ts'
import type { DispatchAnswer } from './dispatcher.ts'

/** What the caller gets: what it sent itself is not sent back, unless it asked for the trace. */
export function answerOf(eventId: string, decision: Decision): DispatchAnswer {
  return {
    eventId,
    decision,
    json: `{"event_id":${JSON.stringify(eventId)},"decision":${written(decision)}}`,
  }
}

const ALLOWED = '{"kind":"allow"}'

/** Almost every answer is a plain allow. */
function written(decision: Decision): string {
  for (const field in decision) if (field !== 'kind') return JSON.stringify(onWire(decision))
  return decision.kind === 'allow' ? ALLOWED : JSON.stringify(decision)
}

function onWire(decision: Decision): unknown {
  if (decision.trace !== undefined) return decision
  if (decision.steps === undefined && decision.original === undefined) return decision
  const { original: _, steps: __, ...rest } = decision
  return rest
}
