import { decisionKinds, type Kind } from './decision.ts'
import type { EventRow } from './event.ts'
import { isRecord } from './schema/check.ts'

/** What one handler returned, checked. */
export interface HandlerResult {
  readonly kind: Kind
  readonly reason?: string
  readonly message?: string
  readonly grant?: true
  readonly input?: unknown
  readonly context?: readonly string[] | undefined
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

/** A result, or the reason why the returned value cannot be read. */
type ResultOrReason = HandlerResult | string

const NO_OBJECTION: HandlerResult = Object.freeze({ kind: 'allow' })
const texts = new Set(['reason', 'message'])
const kinds: readonly unknown[] = decisionKinds

/**
 * Reads what a handler returned. Strict on purpose: an unknown key may be a block that would not be applied. Each
 * property is read once, so that a getter cannot return two different values.
 */
export function readResult(row: EventRow, value: unknown): ResultOrReason {
  if (value === undefined) return NO_OBJECTION
  if (value === null && row.mode !== 'gate') return NO_OBJECTION
  if (!isRecord(value)) return `answered ${describeType(value)} instead of an object`
  const copy: Record<string, unknown> = { ...value }
  return 'kind' in copy ? readVerdict(row, copy) : readFields(row, copy)
}

function readVerdict(row: EventRow, answer: Record<string, unknown>): ResultOrReason {
  const { kind, reason, message, grant, input, context, ...rest } = answer
  if (!isKind(kind)) return `answered an unknown kind ${describeType(kind)}`
  for (const key of texts) {
    const text = answer[key]
    if (text !== undefined && typeof text !== 'string') return `${key} is ${describeType(text)}, not text`
  }
  if (kind !== 'allow' && !reason) return `${kind} without a reason`
  if (grant !== undefined && grant !== true) return 'grant can only be true'
  if (grant && kind !== 'allow') return `${kind} cannot grant`
  const rewrites = input !== undefined && input !== null
  if (rewrites && row.rewrites === undefined) return 'this event has no input to rewrite'
  if (rewrites && kind === 'block') return 'a block cannot change the input'
  const notes = readContext(context)
  if (typeof notes === 'string') return notes
  const fields = checkFields(row, rest)
  if (typeof fields === 'string') return fields
  return {
    kind,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(grant === true ? { grant } : {}),
    ...(rewrites ? { input } : {}),
    ...(notes.length > 0 ? { context: notes } : {}),
    ...(Object.keys(fields).length > 0 ? { fields } : {}),
  }
}

/** Reads a result that has the fields of the event and no `kind`. */
function readFields(row: EventRow, answer: Record<string, unknown>): ResultOrReason {
  const fields = checkFields(row, answer)
  if (typeof fields === 'string') return fields
  const verdict = row.verdict?.(fields) ?? { kind: 'allow' }
  if (verdict === 'invalid') return 'answered an invalid decision'
  if (row.mode === 'gate' && row.verdict === undefined) return 'answered an object without a kind'
  if (Object.keys(fields).length === 0) return NO_OBJECTION
  const { kind, reason, message } = verdict
  // A result field with the name of the input rewrites the input.
  const input = row.rewrites === undefined || kind === 'block' ? undefined : fields[row.rewrites]
  return {
    kind,
    fields,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(input === undefined || input === null ? {} : { input }),
  }
}

function checkFields(row: EventRow, answer: Record<string, unknown>): Record<string, unknown> | string {
  for (const [key, value] of Object.entries(answer)) {
    const field = row.fields[key]
    if (field === undefined || !Object.hasOwn(row.fields, key))
      return `answered an unknown field ${JSON.stringify(key.slice(0, 40))}`
    if (value === undefined || value === null) continue
    const problem = field.check(value)
    if (problem) return `${problem.path ? `${key}.${problem.path}` : key} is not ${problem.expected}`
  }
  return answer
}

function readContext(context: unknown): readonly string[] | string {
  if (context === undefined || context === null) return []
  if (typeof context === 'string') return context === '' ? [] : [context]
  if (Array.isArray(context) && context.every((item) => typeof item === 'string'))
    return context.filter(Boolean)
  return 'context is not text'
}

function isKind(value: unknown): value is Kind {
  return kinds.includes(value)
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}
