import type { Decision } from '../engine/core/decision.ts'

export interface DispatchAnswer {
  readonly eventId: string
  readonly decision: Decision
  /** `{"event_id":…,"decision":…}`, encoded with its first use: the door of coding agents reads the decision. */
  readonly json: string
}

/** The answer to a caller. Its own input is not sent back unless it asked for the trace. */
export function answerOf(eventId: string, decision: Decision, kept?: string): DispatchAnswer {
  let json = kept
  return {
    eventId,
    decision,
    get json() {
      json ??= `{"event_id":${JSON.stringify(eventId)},"decision":${encodeDecision(decision)}}`
      return json
    },
  }
}

const ALLOW_JSON = '{"kind":"allow"}'

/** Almost every decision is a plain allow. */
function encodeDecision(decision: Decision): string {
  for (const field in decision) if (field !== 'kind') return JSON.stringify(wireDecision(decision))
  return decision.kind === 'allow' ? ALLOW_JSON : JSON.stringify(decision)
}

function wireDecision(decision: Decision): unknown {
  if (decision.trace !== undefined) return decision
  const { original, steps, granted, ...rest } = decision
  if (steps === undefined && original === undefined && granted === undefined) return decision
  return rest
}
