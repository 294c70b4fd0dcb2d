import { z } from 'zod'
import { HookError } from '../../engine/core/error.ts'
import { type EngineCode, isErrorCode } from '../../engine/core/error-table.ts'
import { nearest } from '../../engine/core/nearest.ts'
import type { SchemaPath } from '../../engine/core/schema.ts'
import { FIELD_HINT, type ValueProblem } from '../read/value-problem.ts'

/** Checks a value with a zod schema and reports its problems with our messages and codes, one per unknown key. */
export function checkWithZod(schema: z.ZodType, value: unknown, base: SchemaPath = []): ValueProblem[] {
  const { error } = schema.safeParse(value)
  return (error?.issues ?? []).flatMap((issue) => fromIssue(schema, value, issue, base))
}

type Issue = z.core.$ZodIssue

function fromIssue(schema: z.ZodType, value: unknown, issue: Issue, base: SchemaPath): ValueProblem[] {
  const inner = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const path = [...base, ...inner]
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, inner)
    return issue.keys.map((key) => ({ path: [...path, key], part: 'key', error: unknownKey(key, known) }))
  }
  const missing = valueAt(value, inner) === undefined
  const code = missing ? 'config.field' : codeOf(issue)
  const text = missing ? 'is required' : issueText(issue)
  const whole = issue.code === 'custom' && code !== 'config.field'
  const message = whole ? text : `${nameOf(path)} ${text}`
  return [
    {
      path,
      part: 'value',
      error: new HookError(code, message, code === 'config.field' ? { hint: FIELD_HINT } : {}),
    },
  ]
}

function nameOf(path: SchemaPath): string {
  const last = path.at(-1)
  if (last === undefined) return 'the file'
  return typeof last === 'number' ? `entry ${last + 1} of ${String(path.at(-2) ?? 'the file')}` : last
}

function unknownKey(key: string, known: readonly string[]): HookError {
  const near = nearest(key, known)
  const hint = near === undefined ? `The fields are ${known.join(', ')}.` : `Did you mean ${near}?`
  return new HookError('config.field', `there is no field ${key.slice(0, 80)}`, { hint })
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** Keeps a message that the schema declares, and replaces zod's own. */
function issueText(issue: Issue): string {
  if (!/^(Invalid|Unrecognized|Too)/.test(issue.message)) return issue.message
  if (issue.code === 'invalid_type') return `must be ${typeNames[issue.expected] ?? issue.expected}`
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
  if (issue.code === 'invalid_union' && 'discriminator' in issue) return 'is of an unknown kind'
  return 'has the wrong form'
}

function codeOf(issue: Issue): EngineCode {
  if (issue.code === 'custom') {
    const code: unknown = issue.params?.code
    return isErrorCode(code) ? code : 'config.field'
  }
  const ofNumber = issue.message.includes('whole number')
  return ofNumber ? 'config.range' : 'config.field'
}

/** The fields that an object at this path may have. */
function keysAt(schema: z.ZodType, path: SchemaPath): readonly string[] {
  let current: unknown = schema
  for (const step of path) current = childOf(unwrap(current), step)
  const found = unwrap(current)
  if (found instanceof z.ZodObject) return Object.keys(found.shape)
  return found instanceof z.ZodUnion
    ? [...new Set(found.options.flatMap((option) => (option instanceof z.ZodType ? keysAt(option, []) : [])))]
    : []
}

function childOf(schema: unknown, step: string | number): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[String(step)]
  return schema instanceof z.ZodArray ? schema.element : undefined
}

/** The schema without readonly, optional and nullable wrappers. */
function unwrap(schema: unknown): unknown {
  let current = schema
  while (
    current instanceof z.ZodReadonly ||
    current instanceof z.ZodExactOptional ||
    current instanceof z.ZodNullable
  )
    current = current.unwrap()
  return current
}

function valueAt(value: unknown, path: SchemaPath): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === 'object' && current !== null ? Reflect.get(current, step) : undefined,
    value,
  )
}
