import { isRecord } from '../core/check.ts'
import type { Match } from '../core/hook.ts'
import type { MatchPart } from './matcher.ts'
import { wrongType } from './wrong-type.ts'

type Expected = string | number | boolean | null
interface Condition {
  readonly path: string
  readonly segments: readonly string[]
  readonly expected: Expected
}

/** Dot path → the exact value; nothing is converted, so `1` is not `"1"`. */
export function fieldsPart(fields: NonNullable<Match['fields']>): MatchPart | undefined {
  const conditions = readConditions(fields)
  if (conditions.length === 0) return undefined
  return {
    kind: 'fields',
    source: JSON.stringify(fields),
    when: ({ payload }) => conditions.every((condition) => holds(condition, payload)),
  }
}

/** The first condition that does not hold, for an explanation. */
export function failingField(
  fields: unknown,
  payload: unknown,
): { readonly path: string; readonly expected: Expected; readonly actual: unknown } | undefined {
  const failing = readConditions(fields).find((condition) => !holds(condition, payload))
  return failing && { ...failing, actual: valueAt(payload, failing.segments) }
}

function readConditions(fields: unknown): Condition[] {
  if (!isRecord(fields)) wrongType('match.fields', 'an object of dot paths and values')
  return Object.entries(fields).map(([path, expected]) => {
    if (!isExpected(expected))
      wrongType(`match.fields.${path}`, 'a string, a finite number, true, false or null')
    return { path, expected, segments: path.split('.').filter((segment) => segment !== '') }
  })
}

function isExpected(value: unknown): value is Expected {
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
}

function holds({ segments, expected }: Condition, payload: unknown): boolean {
  return valueAt(payload, segments) === expected
}

/** Own properties only: a path never climbs to `__proto__` or `constructor`. */
function valueAt(payload: unknown, segments: readonly string[]): unknown {
  let current: unknown = payload
  for (const segment of segments) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}
