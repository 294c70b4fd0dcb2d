import type { Envelope } from '../core/context.ts'
import { explainMatch } from '../match/explain.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Plan } from './plan.ts'
import { subjectOf } from './subject.ts'

/** Those that match, and those whose condition cannot be evaluated: running them is what records that. */
export function observersOf(plan: Plan, payload: unknown, envelope: Envelope): readonly CompiledHook[] {
  const { observers } = plan.chainOf(payload)
  if (observers.length === 0) return observers
  const input = { event: plan.event, name: subjectOf(plan.row, payload), payload, envelope }
  return observers.filter(({ matcher }) => explainMatch(matcher, input).result !== 'missed')
}
