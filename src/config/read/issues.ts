import { z } from 'zod'
import { HookError } from '../../engine/core/error.ts'
import { type EngineCode, isErrorCode } from '../../engine/core/error-table.ts'
import { nearest } from '../../engine/core/nearest.ts'
import type { SchemaProblem } from '../../engine/core/schema.ts'
import type { Path } from '../problem.ts'

/** A problem of a value that has no file yet. */
export interface Found {
  readonly path: Path
  /** Whether the key is wrong or what stands behind it. */
  readonly part: 'key' | 'value'
  readonly error: HookError
}

/** A problem that one of our own schemas found. */
export function foundProblem(
  { path, part, code, message, hint: own }: SchemaProblem,
  base: Path = [],
): Found {
  const advice = own ?? (code === 'config.field' ? hint : undefined)
  const error = new HookError(code, message, advice === undefined ? {} : { hint: advice })
  return { path: [...base, ...path], part, error }
}

/** What a schema says about a value, in our words and codes; an unknown key is a problem of its own. */
export function checkAgainst(schema: z.ZodType, value: unknown, base: Path = []): Found[] {
  const { error } = schema.safeParse(value)
  return (error?.issues ?? []).flatMap((issue) => foundIn(schema, value, issue, base))
}

type Issue = z.core.$ZodIssue

function foundIn(schema: z.ZodType, value: unknown, issue: Issue, base: Path): Found[] {
  const inner = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const path = [...base, ...inner]
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, inner)
    return issue.keys.map((key) => ({ path: [...path, key], part: 'key', error: unknownKey(key, known) }))
  }
  const missing = valueAt(value, inner) === undefined
  const code = missing ? 'config.field' : codeOf(issue)
  const text = missing ? 'is required' : words(issue)
  const whole = issue.code === 'custom' && code !== 'config.field'
  const message = whole ? text : `${nameOf(path)} ${text}`
  return [
    { path, part: 'value', error: new HookError(code, message, code === 'config.field' ? { hint } : {}) },
  ]
}

const hint = '`docs/hook-files.md` lists the fields and what they hold.'

function nameOf(path: Path): string {
  const last = path.at(-1)
  if (last === undefined) return 'the file'
  return typeof last === 'number' ? `entry ${last + 1} of ${String(path.at(-2) ?? 'the file')}` : last
}

function unknownKey(key: string, known: readonly string[]): HookError {
  const near = nearest(key, known)
  const hint = near === undefined ? `The fields are ${known.join(', ')}.` : `Did you mean ${near}?`
  return new HookError('config.field', `there is no field ${key.slice(0, 80)}`, { hint })
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** A message that a schema gave for itself stands; the library's own are put in our words. */
function words(issue: Issue): string {
  if (!/^(Invalid|Unrecognized|Too)/.test(issue.message)) return issue.message
  if (issue.code === 'invalid_type') return `must be ${kinds[issue.expected] ?? issue.expected}`
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
function keysAt(schema: z.ZodType, path: Path): readonly string[] {
  let current: unknown = schema
  for (const step of path) current = childOf(bare(current), step)
  const found = bare(current)
  if (found instanceof z.ZodObject) return Object.keys(found.shape)
  return found instanceof z.ZodUnion
    ? [...new Set(found.options.flatMap((option) => (option instanceof z.ZodType ? keysAt(option, []) : [])))]
    : []
}

function childOf(schema: unknown, step: string | number): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[String(step)]
  return schema instanceof z.ZodArray ? schema.element : undefined
}

function bare(schema: unknown): unknown {
  let current = schema
  while (
    current instanceof z.ZodReadonly ||
    current instanceof z.ZodExactOptional ||
    current instanceof z.ZodNullable
  )
    current = current.unwrap()
  return current
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === 'object' && current !== null ? Reflect.get(current, step) : undefined,
    value,
  )
}
