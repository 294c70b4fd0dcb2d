import { isRecord } from '../core/check.ts'
import { errorText, HookError } from '../core/error.ts'
import type { HookDefinition } from '../core/hook.ts'
import { nearest } from '../core/nearest.ts'

type Rule = (value: unknown) => string | undefined

const is =
  (type: 'string' | 'boolean', expected: string): Rule =>
  (value) =>
    typeof value === type ? undefined : `must be ${expected}`
const text = is('string', 'text')
const flag = is('boolean', 'true or false')
const oneOf =
  (...values: readonly string[]): Rule =>
  (value) =>
    values.some((known) => known === value) ? undefined : `must be one of ${values.join(', ')}`
const texts: Rule = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? undefined
    : 'must be a list of texts'
const policy = oneOf('block', 'allow')
const outcome = oneOf('success', 'failed', 'timeout', 'unknown')
const outcomes: Rule = (value) =>
  Array.isArray(value) ? value.map(outcome).find((problem) => problem !== undefined) : outcome(value)
const equals: Rule = (value) => {
  if (!isRecord(value)) return 'must be an object'
  const fits = (item: unknown) => item === null || ['string', 'number', 'boolean'].includes(typeof item)
  return Object.values(value).every(fits)
    ? undefined
    : 'can only compare with text, numbers, true, false and null'
}
const positive: Rule = (value) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number'

/** An object with exactly these fields; none is required unless its rule refuses `undefined`. */
const fields =
  (known: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule =>
  (value) => {
    if (!isRecord(value)) return 'must be an object'
    const missing = required.find((field) => value[field] === undefined)
    if (missing !== undefined) return `needs ${missing}`
    for (const [field, item] of Object.entries(value)) {
      const problem = Object.hasOwn(known, field)
        ? known[field]?.(item)
        : unknownField(field, Object.keys(known))
      if (problem !== undefined && item !== undefined) return `${field} ${problem}`
    }
    return undefined
  }

const rules: Readonly<Record<keyof HookDefinition, Rule>> = {
  id: (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be text that is not empty'),
  event: text,
  handler_type: text,
  config: () => undefined,
  name: text,
  description: text,
  scope: oneOf('global', 'tenant', 'agent'),
  agent_ids: texts,
  matcher: text,
  if_expr: text,
  match: fields({ glob: text, names: texts, fields: equals, outcome: outcomes }),
  timeout_ms: () => undefined,
  on_error: policy,
  on_timeout: policy,
  on_invalid: policy,
  priority: () => undefined,
  enabled: flag,
  disabled_reason: text,
  locked: flag,
  recheck: flag,
  shadow: flag,
  transform: flag,
  cooldown_ms: () => undefined,
  dedup_window_ms: () => undefined,
  max_invocations_per_turn: () => undefined,
  version: positive,
  budget: fields({ name: text, cost: positive, limit: positive }, ['name', 'limit']),
}

/** Field → smallest and largest whole number. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  timeout_ms: [1, 600_000],
  priority: [-1_000_000, 1_000_000],
  cooldown_ms: [0, 86_400_000],
  dedup_window_ms: [0, 86_400_000],
  max_invocations_per_turn: [1, 1_000_000],
}

/** Other harnesses say `continue` or `ignore` where we say `allow`. */
const policies = ['on_error', 'on_timeout', 'on_invalid'] as const
const spellings: Readonly<Record<string, 'allow'>> = { continue: 'allow', ignore: 'allow' }

/** Refuses what is not a hook, with the field and the nearest name; answers a frozen copy without empty fields. */
export function readDefinition(given: unknown): HookDefinition {
  if (!isRecord(given)) throw new HookError('config.field', 'a hook must be an object')
  const definition: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(copied(given))) {
    if (value === undefined) continue
    definition[field] = readField(field, value)
  }
  for (const field of ['event', 'handler_type']) {
    if (definition[field] === undefined)
      throw new HookError('config.field', `${field} is required`, { at: field })
  }
  if (
    definition.scope === 'agent' &&
    !(Array.isArray(definition.agent_ids) && definition.agent_ids.length > 0)
  ) {
    throw new HookError('config.field', 'scope agent needs at least one agent in agent_ids', {
      at: 'agent_ids',
    })
  }
  // Every field was checked against its rule, and the required ones are there.
  return Object.freeze(definition) as unknown as HookDefinition
}

/** Each field is read once, and one that throws is a bad definition, not a crash. */
function copied(given: object): Record<string, unknown> {
  try {
    return { ...given }
  } catch (thrown) {
    throw new HookError('config.field', `a hook that cannot be read: ${errorText(thrown)}`)
  }
}

function readField(field: string, given: unknown): unknown {
  const rule = Object.hasOwn(rules, field) ? rules[field as keyof HookDefinition] : undefined
  if (rule === undefined) {
    throw new HookError('config.field', `${field.slice(0, 80)} ${unknownField(field, Object.keys(rules))}`, {
      at: field,
    })
  }
  const value =
    policies.some((name) => name === field) && typeof given === 'string' ? (spellings[given] ?? given) : given
  const range = ranges[field]
  if (
    range !== undefined &&
    !(Number.isInteger(value) && Number(value) >= range[0] && Number(value) <= range[1])
  ) {
    throw new HookError('config.range', `${field} must be a whole number from ${range[0]} to ${range[1]}`, {
      at: field,
    })
  }
  const problem = rule(value)
  if (problem !== undefined) throw new HookError('config.field', `${field} ${problem}`, { at: field })
  return value
}

function unknownField(field: string, known: readonly string[]): string {
  const near = nearest(field, known)
  return near === undefined ? 'is not a field of a hook' : `is not a field of a hook; did you mean ${near}?`
}
