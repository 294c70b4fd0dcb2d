import { type Match, outcomes } from '../core/hook.ts'
import { isRecord } from '../core/schema/check.ts'
import { assertTexts, formatValue, type MatchInput, type MatchPart, throwWrongType } from './match-part.ts'

/** `agent_ids`: ids or names of agents; an empty list matches every agent. */
export function agentIdsPart(ids: readonly string[]): MatchPart | undefined {
  assertTexts(ids, 'agent_ids')
  if (ids.length === 0) return undefined
  const known = new Set<string | undefined>(ids)
  return {
    kind: 'agent_ids',
    source: ids.join(', '),
    // A sub-agent within a run acts for the agent of the run.
    when: ({ envelope: { agentId, agent, run, parentAgent } }) =>
      known.has(agentId) || known.has(agent) || known.has(run && parentAgent),
    explain({ envelope: { agentId, agent } }) {
      const who = agentId ?? agent
      return who === undefined ? 'the event names no agent' : `agent ${formatValue(who)} is not in agent_ids`
    },
  }
}

const allOutcomes: ReadonlySet<unknown> = new Set(outcomes)

/** `match.outcome`: one outcome or several; an empty list matches any. */
export function outcomePart(wanted: NonNullable<Match['outcome']>): MatchPart | undefined {
  const list: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (list.length === 0) return undefined
  const wrong = list.findIndex((entry) => !allOutcomes.has(entry))
  if (wrong >= 0) {
    const at = Array.isArray(wanted) ? `match.outcome.${wrong}` : 'match.outcome'
    throwWrongType(at, `one of ${outcomes.join(', ')}`)
  }
  const accepted = new Set(list)
  const source = list.join(', ')
  return {
    kind: 'outcome',
    source,
    when: (input) => accepted.has(readOutcome(input)),
    explain: (input) => `outcome is ${formatValue(readOutcome(input))}, not ${source}`,
  }
}

/** The outcome in the payload, else in the envelope, else `unknown`. */
export function readOutcome({ payload, envelope }: MatchInput): string {
  if (isRecord(payload) && Object.hasOwn(payload, 'outcome') && typeof payload.outcome === 'string')
    return payload.outcome
  return envelope.outcome ?? 'unknown'
}

type Expected = string | number | boolean | null
interface FieldCondition {
  readonly path: string
  readonly segments: readonly string[]
  readonly expected: Expected
}

/** `match.fields`: dot path → the exact value. Values are not converted: `1` does not equal `"1"`. */
export function fieldsPart(fields: NonNullable<Match['fields']>): MatchPart | undefined {
  const conditions = readConditions(fields)
  if (conditions.length === 0) return undefined
  return {
    kind: 'fields',
    source: JSON.stringify(fields),
    when: ({ payload }) => conditions.every((condition) => holds(condition, payload)),
    explain: ({ payload }) => explainFields(conditions, payload),
  }
}

/** Names the first field that does not have its value. */
function explainFields(conditions: readonly FieldCondition[], payload: unknown): string {
  const failing = conditions.find((condition) => !holds(condition, payload))
  if (failing === undefined) return 'fields do not match'
  const actual = valueAt(payload, failing.segments)
  const found = actual === undefined ? 'is missing' : `is ${formatValue(actual)}`
  return `fields ${failing.path} ${found}, not ${formatValue(failing.expected)}`
}

function readConditions(fields: unknown): FieldCondition[] {
  if (!isRecord(fields)) throwWrongType('match.fields', 'an object')
  return Object.entries(fields).map(([path, expected]) => {
    if (!isExpected(expected)) throwWrongType(`match.fields.${path}`, 'text, a number, true, false or null')
    return { path, expected, segments: path.split('.').filter((segment) => segment !== '') }
  })
}

function isExpected(value: unknown): value is Expected {
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
}

function holds({ segments, expected }: FieldCondition, payload: unknown): boolean {
  return valueAt(payload, segments) === expected
}

/** Reads own properties only, so that a path cannot reach `__proto__` or `constructor`. */
function valueAt(payload: unknown, segments: readonly string[]): unknown {
  let current: unknown = payload
  for (const segment of segments) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}
