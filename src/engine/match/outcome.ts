import { isRecord } from '../core/check.ts'
import type { Match, Outcome } from '../core/hook.ts'
import type { MatchInput, MatchPart } from './matcher.ts'
import { wrongType } from './wrong-type.ts'

const outcomes: readonly Outcome[] = ['success', 'failed', 'timeout', 'unknown']

/** No outcome, or an empty list, stands for any. */
export function outcomePart(wanted: NonNullable<Match['outcome']>): MatchPart | undefined {
  const list: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (list.length === 0) return undefined
  const bad = list.findIndex((entry) => !isOutcome(entry))
  if (bad >= 0)
    wrongType(
      Array.isArray(wanted) ? `match.outcome.${bad}` : 'match.outcome',
      `one of ${outcomes.join(', ')}`,
    )
  const accepted = new Set(list)
  return { kind: 'outcome', source: list.join(', '), when: (input) => accepted.has(readOutcome(input)) }
}

function isOutcome(value: unknown): boolean {
  return outcomes.some((outcome) => outcome === value)
}

/** The payload speaks first, then the envelope; who says nothing did not say that it went well. */
export function readOutcome({ payload, envelope }: MatchInput): string {
  if (isRecord(payload) && Object.hasOwn(payload, 'outcome') && typeof payload.outcome === 'string')
    return payload.outcome
  return envelope.outcome ?? 'unknown'
}
