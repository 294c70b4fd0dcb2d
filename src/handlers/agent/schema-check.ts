import { createRequire } from 'node:module'
import type * as AjvModule from 'ajv'
import type * as Ajv2020Module from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { errorText, type HookError, isHookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { redact } from '../../safe/secrets/redact.ts'

const MAX_SCHEMA = 65_536
const MAX_PATTERN = 1_000
const MAX_PROGRAM = 5_000
/** Comparing all items with one another takes the square of their number. */
const MAX_UNIQUE = 1_000

export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns the first problem of a value, or undefined. */
export type SchemaCheck = (value: unknown) => string | undefined

/** One thing that is wrong with a value, by its JSON pointer. */
export interface SchemaViolation {
  readonly path: string
  readonly message: string
  /** The keyword of the schema that the value breaks. */
  readonly schema_path: string
}

/** Returns what is wrong with a value; empty if it fits. */
export type ViolationCheck = (value: unknown) => readonly SchemaViolation[]

const MAX_VIOLATIONS = 20

const require = createRequire(import.meta.url)
/** By text: the schema of a blueprint is read from the store again for each run. */
const validators = new LRUCache<string, AjvModule.ValidateFunction>({ max: 200 })

type Dialect = 'draft-07' | '2020-12' | 'violations'

/** Compiles a JSON Schema from the config of a hook; `at` is its path. Throws `agent.schema`. */
export function compileSchema(schema: unknown, at: string): SchemaCheck {
  const isNew = isRecord(schema) && String(schema.$schema ?? '').includes('2020-12')
  const validate = validatorOf(schema, at, isNew ? '2020-12' : 'draft-07')
  return (value) => {
    const [problem] = problemsOf(validate, value)
    if (problem === undefined) return undefined
    return redact(`${problem.instancePath || 'it'} ${problem.message ?? 'does not fit'}`)
  }
}

/** Compiles a JSON Schema 2020-12 of a blueprint, which reports every problem of a value. Throws `agent.schema`. */
export function compileViolations(schema: unknown, at: string): ViolationCheck {
  const validate = validatorOf(schema, at, 'violations')
  return (value) =>
    problemsOf(validate, value)
      .slice(0, MAX_VIOLATIONS)
      .map(({ instancePath, message, schemaPath }) => ({
        path: instancePath,
        message: redact(message ?? 'does not fit'),
        schema_path: schemaPath,
      }))
}

function validatorOf(schema: unknown, at: string, dialect: Dialect): AjvModule.ValidateFunction {
  if (!isRecord(schema)) throw jsonSchemaError(at, 'is not an object')
  const text = JSON.stringify(schema)
  const known = validators.get(`${dialect} ${text}`)
  if (known !== undefined) return known
  if (text.length > MAX_SCHEMA) throw jsonSchemaError(at, `is larger than ${MAX_SCHEMA} characters`)
  if (comparesTooMuch(schema))
    throw jsonSchemaError(at, `has uniqueItems without a maxItems of at most ${MAX_UNIQUE}`)
  // With all errors, `uniqueItems` would compare the items of a list that `maxItems` has refused.
  const allErrors = dialect === 'violations' && !text.includes('"uniqueItems"')
  const validate = compile(createAjv(dialect, { ...options, allErrors }), schema, at)
  validators.set(`${dialect} ${text}`, validate)
  return validate
}

function compile(ajv: AjvModule.Ajv, schema: JsonSchema, at: string): AjvModule.ValidateFunction {
  try {
    ajv.addKeyword({ keyword: STEP, before: '$ref', errors: false, validate: () => spend(1) })
    const validate = ajv.compile(countReferences(schema) as JsonSchema)
    // References that lead in a circle check the same value for ever, so no value fits. An empty object shows it.
    if (problemsOf(validate, {})[0]?.keyword === STEP) throw tooMuchWork()
    return validate
  } catch (thrown) {
    throw jsonSchemaError(at, `cannot be used: ${redact(errorText(thrown))}`)
  }
}

/** Set next to each reference. References can make a small schema do any amount of work. */
const STEP = 'x-hookhelm-step'
const MAX_STEPS = 200_000
/** The steps of the running check, which is synchronous. */
let steps = 0

function spend(count: number): true {
  steps += count
  if (steps > MAX_STEPS) throw tooMuchWork()
  return true
}

function tooMuchWork(): HookError {
  return handlerError('agent.schema', 'its references or patterns take too much work')
}

/** What is wrong with a value. A check that does not end in time finds that it does not fit. */
function problemsOf(validate: AjvModule.ValidateFunction, value: unknown): readonly AjvModule.ErrorObject[] {
  steps = 0
  try {
    return validate(value) ? [] : (validate.errors ?? [])
  } catch (thrown) {
    // A circle of references ends with the stack.
    if (!isHookError(thrown) && !(thrown instanceof RangeError)) throw thrown
    const message = 'cannot be checked: references or patterns of the schema take too much work'
    return [{ instancePath: '', message, schemaPath: '#', keyword: STEP, params: {} }]
  }
}

/** Values in a schema, which are no schemas. */
const values = new Set(['const', 'enum', 'default', 'examples'])

function countReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(countReferences)
  if (!isRecord(schema)) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, values.has(key) ? value : countReferences(value)]),
  )
  const refers = ['$ref', '$dynamicRef', '$recursiveRef'].some((key) => typeof schema[key] === 'string')
  return refers ? { ...copy, [STEP]: true } : copy
}

/**
 * Ajv loads with the first schema, because most hooks have none. Registering a hook is synchronous. One Ajv per schema: the
 * `$id` of one schema must not be visible to another.
 */
function createAjv(dialect: Dialect, chosen: AjvModule.Options): AjvModule.Ajv {
  if (dialect === 'draft-07') {
    const { Ajv }: typeof AjvModule = require('ajv')
    return new Ajv(chosen)
  }
  const { Ajv2020 }: typeof Ajv2020Module = require('ajv/dist/2020.js')
  return new Ajv2020(chosen)
}

/** A native pattern can take a second for 24 characters. RE2 takes linear time. */
const re2 = Object.assign(
  (pattern: string) => {
    if (pattern.length > MAX_PATTERN) throw handlerError('agent.schema', 'a pattern is too long')
    const regex = RE2JS.compile(RE2JS.translateRegExp(pattern))
    if (regex.programSize() > MAX_PROGRAM) throw handlerError('agent.schema', 'a pattern unrolls too far')
    return { test: (text: string) => spend(1 + text.length / 100) && regex.test(text) }
  },
  // Required by Ajv for generated modules, which we do not use.
  { code: 'undefined' },
)

const options: AjvModule.Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  code: { regExp: re2 },
}

function comparesTooMuch(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(comparesTooMuch)
  if (!isRecord(value)) return false
  const { uniqueItems, maxItems } = value
  if (uniqueItems === true && !(typeof maxItems === 'number' && maxItems <= MAX_UNIQUE)) return true
  return Object.values(value).some(comparesTooMuch)
}

function jsonSchemaError(at: string, why: string): HookError {
  return handlerError('agent.schema', `${at} ${why}`, { at })
}
