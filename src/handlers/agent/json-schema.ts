import { createRequire } from 'node:module'
import type * as AjvDraft7 from 'ajv'
import type { Options, ValidateFunction } from 'ajv'
import type * as AjvDraft2020 from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isRecord } from '../../engine/core/check.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import { redact } from '../../safe/redact.ts'

const MAX_SCHEMA = 65_536
const MAX_PATTERN = 1_000
const MAX_PROGRAM = 5_000
/** Comparing all items with one another takes the square of their number. */
const MAX_UNIQUE = 1_000

export type JsonSchema = Readonly<Record<string, unknown>>

/** Says what is wrong with a value, or nothing. */
export type SchemaCheck = (value: unknown) => string | undefined

const require = createRequire(import.meta.url)
const compiled = new WeakMap<JsonSchema, SchemaCheck>()

/** Compiles a schema that somebody else wrote; `at` is where it stands. */
export function compileSchema(schema: unknown, at: string): SchemaCheck {
  if (!isRecord(schema)) throw refused(at, 'is no object')
  const known = compiled.get(schema)
  if (known !== undefined) return known
  if (JSON.stringify(schema).length > MAX_SCHEMA) throw refused(at, `is larger than ${MAX_SCHEMA} characters`)
  if (comparesTooMuch(schema))
    throw refused(at, `has uniqueItems without a maxItems of at most ${MAX_UNIQUE}`)
  const validate = compile(schema, at)
  const check: SchemaCheck = (value) => {
    if (validate(value)) return undefined
    const [problem] = validate.errors ?? []
    return redact(`${problem?.instancePath || 'it'} ${problem?.message ?? 'does not fit'}`)
  }
  compiled.set(schema, check)
  return check
}

export function checkAnswer(answer: unknown, schema: JsonSchema | undefined): unknown {
  const problem = schema && compileSchema(schema, 'output_schema')(answer)
  if (problem === undefined) return answer
  throw new HookError('agent.output_schema', `the answer of the agent does not fit its schema: ${problem}`)
}

function compile(schema: JsonSchema, at: string): ValidateFunction {
  // A fresh one each time: what one schema calls itself must not be known to the next.
  const ajv = createAjv(String(schema.$schema ?? '').includes('2020-12'))
  try {
    return ajv.compile(schema)
  } catch (thrown) {
    throw refused(at, `cannot be used: ${redact(errorText(thrown))}`)
  }
}

/** Loads ajv with the first schema, through `require` because hooks are registered synchronously. */
function createAjv(isDraft2020: boolean) {
  if (isDraft2020) {
    const { Ajv2020 }: typeof AjvDraft2020 = require('ajv/dist/2020.js')
    return new Ajv2020(options)
  }
  const { Ajv }: typeof AjvDraft7 = require('ajv')
  return new Ajv(options)
}

/** A native pattern on 24 characters can take a second; on RE2 its time grows with the length of the text. */
const re2 = Object.assign(
  (pattern: string) => {
    if (pattern.length > MAX_PATTERN) throw new HookError('agent.schema', 'a pattern is too long')
    const regex = RE2JS.compile(RE2JS.translateRegExp(pattern))
    if (regex.programSize() > MAX_PROGRAM) throw new HookError('agent.schema', 'a pattern unrolls too far')
    return { test: (text: string) => regex.test(text) }
  },
  // Names the engine in generated modules; we generate none.
  { code: 'undefined' },
)

const options: Options = {
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

function refused(at: string, why: string): HookError {
  return new HookError('agent.schema', `${at} ${why}`, { at })
}
