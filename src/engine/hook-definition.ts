import { errorText, HookError } from './core/errors/error.ts'
import type { Handler } from './core/handler.ts'
import { baseHookFields } from './core/hook.ts'
import { isRecord } from './core/schema/check.ts'
import { readChecked, schemaError } from './core/schema/read-checked.ts'
import { type FieldsType, readSchema, type SchemaProblem, schema } from './core/schema/schema.ts'
import { readExpiry } from './guard/expiry.ts'
import { guardFields } from './guard/guards.ts'

/** Every field of a hook, in a file, over the API, in the database and in the web app. */
const hookFields = { ...baseHookFields, ...guardFields }

/** The one declaration of a hook. */
export const hookSchema = schema.object(hookFields)

/** A hook as data. `docs/hook-files.md` describes every field. */
export interface HookDefinition extends FieldsType<typeof hookFields> {}

/** Everything about a hook except its event and its handler: the options of `hooks.on`. */
export interface HookOptions extends Omit<HookDefinition, 'event' | 'handler_type' | 'config'> {}

/** Every problem of a hook: its fields, and what they require of one another. */
function checkHookDefinition(given: unknown): {
  readonly definition: HookDefinition
  readonly problems: readonly SchemaProblem[]
} {
  const { value, problems } = readSchema(hookSchema, given)
  const { expires_at } = value
  if (problems.length === 0 && expires_at !== undefined && readExpiry(expires_at) === undefined)
    return {
      definition: value,
      problems: [problemOf('expires_at', 'an instant such as 2026-12-31T18:00:00Z')],
    }
  if (problems.length > 0 || value.scope !== 'agent' || value.agent_ids?.length)
    return { definition: value, problems }
  const message = 'scope agent needs at least one agent in agent_ids'
  return {
    definition: value,
    problems: [{ path: ['agent_ids'], part: 'value', code: 'config.field', message }],
  }
}

function problemOf(field: string, expected: string): SchemaProblem {
  return { path: [field], part: 'value', code: 'config.field', message: `${field} must be ${expected}` }
}

/** Reads a hook and returns a frozen copy; throws a coded error for the first problem. */
export function readHookDefinition(given: unknown): HookDefinition {
  if (!isRecord(given)) throw new HookError('config.field', 'a hook must be an object')
  const { definition, problems } = read(given)
  const [first] = problems
  if (first !== undefined) throw schemaError(first)
  return Object.freeze(definition)
}

/** A field that throws when it is read makes a bad definition, not a crash. */
function read(given: object): ReturnType<typeof checkHookDefinition> {
  try {
    return checkHookDefinition(given)
  } catch (thrown) {
    throw new HookError('config.field', `a hook that cannot be read: ${errorText(thrown)}`)
  }
}

/** The config of a hook as its handler wants it; throws a coded error for the first problem. */
export function readHandlerConfig(handler: Handler, hook: HookDefinition): unknown {
  const { schema } = handler
  if (schema === undefined) return handler.read(hook.config, hook)
  return handler.read(readChecked(schema, hook.config ?? {}, 'config'), hook)
}
