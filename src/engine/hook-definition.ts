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

/** Reads a hook and returns a frozen copy; throws a coded error for the first problem. */
export function readHookDefinition(given: unknown): HookDefinition {
  if (!isRecord(given)) throw new HookError('config.field', 'a hook must be an object')
  const { value, problems } = readFields(given)
  const [first = findConflict(value)] = problems
  if (first !== undefined) throw schemaError(first)
  return Object.freeze(value)
}

/** A field that throws when it is read makes a bad definition, not a crash. */
function readFields(given: object): ReturnType<typeof readSchema<HookDefinition>> {
  try {
    return readSchema(hookSchema, given)
  } catch (thrown) {
    throw new HookError('config.field', `a hook that cannot be read: ${errorText(thrown)}`)
  }
}

/** What the fields of a hook require beyond their schemas. */
function findConflict({ expires_at, scope, agent_ids }: HookDefinition): SchemaProblem | undefined {
  const problem = { part: 'value', code: 'config.field' } as const
  if (expires_at !== undefined && readExpiry(expires_at) === undefined) {
    const message = 'expires_at must be an instant such as 2026-12-31T18:00:00Z'
    return { ...problem, path: ['expires_at'], message }
  }
  if (scope !== 'agent' || agent_ids?.length) return undefined
  return { ...problem, path: ['agent_ids'], message: 'scope agent needs at least one agent in agent_ids' }
}

/** The config of a hook as its handler wants it; throws a coded error for the first problem. */
export function readHandlerConfig(handler: Handler, hook: HookDefinition): unknown {
  const { schema } = handler
  if (schema === undefined) return handler.read(hook.config, hook)
  return handler.read(readChecked(schema, hook.config ?? {}, 'config'), hook)
}
