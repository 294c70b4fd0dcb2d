import { HookError, isHookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { nonEmpty } from '../../engine/core/schema/more-schemas.ts'
import { readChecked } from '../../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import { compileViolations, type SchemaViolation } from '../../handlers/agent/schema-check.ts'
import { readHttpConfig } from '../../handlers/http/http-config.ts'
import { checkBlueprintExecutor, executorOf, executorSchema } from '../executor.ts'
import { type RunHookPoint, runHookPointNames, runHookTypes, runHookVerbs } from '../hooks/run-hook-points.ts'

const MAX_HOOK_SECONDS = 600

const common = {
  on_error: schema.choice(['block', 'continue', 'ignore'], 'What a failing hook means for the run.'),
  ...schema.partial({
    timeout_seconds: schema.integer(1, MAX_HOOK_SECONDS, 'How long the run waits; 300 if omitted.'),
    mode: schema.choice(['sync', 'async'], 'async: nothing waits for it. Not for on_run_start.'),
  }),
}
const agentHook = schema.object({
  type: schema.choice(['agent'], 'Start an agent.'),
  agent_name: schema.text('The agent to start.', { minLength: 1, maxLength: 200 }),
  ...common,
})
const httpHook = schema.object({
  type: schema.choice(['http'], 'Call an address.'),
  url: schema.url('Where the input is sent.'),
  ...schema.partial({
    method: schema.choice(runHookVerbs, 'POST if omitted.'),
    headers: schema.map(
      schema.text(),
      `Headers to send. \`\${NAME}\` is a variable of the gateway that an administrator allows, \`secret:NAME\` a stored secret.`,
    ),
  }),
  ...common,
})
const hookReference = schema.object({ $ref: nonEmpty('The name of a run hook.') })

/** A hook of a blueprint, or a named one, after it was checked. */
export type RunHook = SchemaType<typeof agentHook> | HttpRunHook
export type HttpRunHook = SchemaType<typeof httpHook>
export type RunHookReference = SchemaType<typeof hookReference>

const demands = schema.object(
  schema.partial({
    hostname: schema.text('The host name of the runner.'),
    project_dir: schema.text('The project folder of the runner.'),
    tags: schema.list(schema.text(), 'Tags that the runner must have.'),
  }),
)

const fields = {
  name: schema.text('The name of the agent, unique in its tenant.', { minLength: 1, maxLength: 100 }),
  type: schema.choice(['autonomous', 'procedural'], 'Whether the agent decides its steps itself.'),
  ...schema.partial({
    description: schema.text('What the agent does.'),
    parameters_schema: schema.any('A JSON Schema 2020-12 for the parameters of a run.'),
    output_schema: schema.any('A JSON Schema 2020-12 for the result of a run.'),
    system_prompt: schema.text('The instruction of an autonomous agent.'),
    model: schema.text('The model of an autonomous agent.'),
    tools: schema.list(schema.text(), 'The tools of an autonomous agent.'),
    executor: executorSchema,
    demands,
  }),
} as const
const blueprintSchema = schema.object(fields)

/** An agent that can be started: the checked part of its definition. */
export interface Blueprint extends SchemaType<typeof blueprintSchema> {
  readonly hooks: Readonly<Partial<Record<RunHookPoint, readonly (RunHook | RunHookReference)[]>>>
}

export interface BlueprintReading {
  readonly blueprint: Blueprint
  /** What is kept and has no effect. */
  readonly warnings: readonly string[]
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u
const modelOnly = ['system_prompt', 'model', 'tools'] as const

/** Checks a blueprint as it is saved. Throws a coded error that names the first problem. */
export function readBlueprint(given: unknown, edition: Edition): BlueprintReading {
  if (!isRecord(given)) throw new HookError('config.field', 'a blueprint must be an object')
  const { hooks, ...rest } = given
  const known = Object.entries(rest).filter(([key, value]) => Object.hasOwn(fields, key) && value !== null)
  const read = readChecked(blueprintSchema, Object.fromEntries(known), '')
  if (!NAME.test(read.name))
    throw new HookError('config.field', 'name may have letters, digits, dots, dashes and underscores', {
      at: 'name',
    })
  checkBlueprintExecutor(read, edition)
  for (const key of ['parameters_schema', 'output_schema'] as const)
    if (read[key] !== undefined) compileViolations(read[key], key)
  const unknown = Object.keys(rest).filter((key) => !Object.hasOwn(fields, key))
  const { type: executorType = 'command', profile } = executorOf(read)
  const usesNone = executorType === 'command' && profile === undefined
  const unused = modelOnly.filter((key) => usesNone && read[key] !== undefined)
  const runHooks = readHooks(hooks)
  return {
    blueprint: { ...read, hooks: runHooks },
    warnings: [
      ...unknown.map((key) => `${key} is kept and has no effect`),
      ...unused.map((key) => `${key} is kept; the command of the executor has to use it`),
      ...(usesNone && runHooks.on_tool_call !== undefined
        ? ['hooks.on_tool_call never fires: a command makes no tool calls that Hookhelm sees']
        : []),
    ],
  }
}

/** Checks `hooks`. Here an unknown key may be a gate that would not run, so it is refused. */
function readHooks(given: unknown): Blueprint['hooks'] {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) throw new HookError('config.field', 'hooks must be an object', { at: 'hooks' })
  const read = Object.entries(given).flatMap(([key, value]) => {
    const point = readPoint(key)
    if (value === null) return []
    const list = Array.isArray(value) ? value : [value]
    const at = (index: number) => (Array.isArray(value) ? `hooks.${key}.${index}` : `hooks.${key}`)
    return [[point, list.map((entry, index) => readEntry(entry, point, at(index)))] as const]
  })
  return Object.fromEntries(read)
}

function readPoint(key: string): RunHookPoint {
  const point = runHookPointNames.find((name) => name === key)
  if (point !== undefined) return point
  const at = `hooks.${key.slice(0, 80)}`
  const near = nearest(key, runHookPointNames)
  const hint =
    near === undefined ? `The points are ${runHookPointNames.join(', ')}.` : `Did you mean ${near}?`
  throw new HookError('config.field', `there is no hook point ${key.slice(0, 80)}`, { at, hint })
}

function readEntry(given: unknown, point: RunHookPoint, at: string): RunHook | RunHookReference {
  if (isRecord(given) && Object.hasOwn(given, '$ref')) {
    if (Object.keys(given).length > 1)
      throw new HookError('config.field', '$ref takes no other keys beside it', {
        at,
        hint: 'Change the named hook, or write the hook here.',
      })
    return readChecked(hookReference, given, at)
  }
  const hook = readRunHook(given, at)
  assertPointAllows(hook, point, at)
  return hook
}

/** Checks one hook, in a blueprint or under a name of its own. */
export function readRunHook(given: unknown, at: string): RunHook {
  const type = isRecord(given) ? given.type : undefined
  if (type === 'http') return readHttpHook(given, at)
  if (type === 'agent' || !isRecord(given)) return readChecked(agentHook, given, at)
  const what = type === undefined ? 'is required' : 'is unknown'
  throw new HookError('config.field', `type ${what}: ${runHookTypes.join(' or ')}`, {
    at: inside(at, 'type'),
  })
}

/** The http handler refuses a bad address or header when the hook fires, so it is asked now. */
function readHttpHook(given: unknown, at: string): HttpRunHook {
  const hook = readChecked(httpHook, given, at)
  const { url, headers = {} } = hook
  try {
    readHttpConfig({ url, headers, format: 'run_hook' }, () => {})
  } catch (thrown) {
    if (!isHookError(thrown)) throw thrown
    const field = (thrown.at ?? 'url').replace(/^config\./, '')
    throw new HookError('config.field', thrown.message.replace(/^config\./, ''), { at: inside(at, field) })
  }
  return hook
}

/** A hook that decides whether a run starts must be waited for. */
export function assertPointAllows({ mode }: RunHook, point: RunHookPoint, at: string): void {
  if (mode === 'async' && point === 'on_run_start')
    throw new HookError(
      'config.field',
      'on_run_start decides whether the run starts, so it cannot be async',
      {
        at: inside(at, 'mode'),
      },
    )
}

function inside(base: string, path: string): string {
  return [base, path].filter((part) => part !== '').join('.')
}

/** What is wrong with the parameters of a run; empty if they fit or the agent has no schema. */
export function checkParameters(
  { parameters_schema: given }: Pick<Blueprint, 'parameters_schema'>,
  parameters: unknown,
): readonly SchemaViolation[] {
  return given === undefined ? [] : compileViolations(given, 'parameters_schema')(parameters)
}

/** What is wrong with the result of a run. */
export function checkOutput(
  { output_schema: given }: Pick<Blueprint, 'output_schema'>,
  result: unknown,
): readonly SchemaViolation[] {
  return given === undefined ? [] : compileViolations(given, 'output_schema')(result)
}

/** Autonomous agents without a schema answer with text; all others with data. */
export function answersWithText({ type, output_schema }: Pick<Blueprint, 'type' | 'output_schema'>): boolean {
  return type === 'autonomous' && output_schema === undefined
}
