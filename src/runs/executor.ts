import { runnableAgents } from '../engine/core/coding-agents.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { nonEmpty } from '../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { type Edition, runsCommands } from '../engine/core/values/edition.ts'
import { pinnedFilesSchema } from '../handlers/command/command-config.ts'
import { assertPassableVariables } from '../safe/process/child-environment.ts'

const MAX_RUN_SECONDS = 86_400
const MAX_STEPS = 1_000

/** The tools that a runner offers to a model. */
export const modelTools = ['Bash', 'Read', 'Write', 'Edit', 'Agent'] as const
export type ModelToolName = (typeof modelTools)[number]

/** How the runs of an agent are executed: a field of a blueprint, or an entry in the profiles file of a runner. */
export const executorSchema = schema.object(
  schema.partial({
    type: schema.choice(
      ['command', 'model', 'cli'],
      'command: a program. model: a model with tools. cli: a coding agent. command if omitted.',
    ),
    profile: nonEmpty('The executor profile of a runner, which has the rest.'),
    timeout_seconds: schema.integer(1, MAX_RUN_SECONDS, 'How long a run may take; 3600 if omitted.'),
    command: schema.list(
      schema.text(),
      'command: program and arguments, with parameters as JSON on stdin and the result on stdout. cli: the program to start instead of the usual one.',
      { minItems: 1 },
    ),
    pinned_files: pinnedFilesSchema,
    max_steps: schema.integer(1, MAX_STEPS, 'model: after so many steps it must answer; 50 if omitted.'),
    compact_at_tokens: schema.integer(
      1_000,
      10_000_000,
      'model: a context that is larger is compacted; 100000 if omitted.',
    ),
    permission_first: schema.boolean(
      'model: ask `permission_request` before `pre_tool_use`; false if omitted.',
    ),
    agent: schema.choice(runnableAgents, 'cli: the coding agent to start.'),
    args: schema.list(schema.text(), 'cli: further arguments, in front of ours.'),
    allowed_env_vars: schema.list(
      schema.text(),
      'cli: variables of the runner that the agent gets, for example ANTHROPIC_API_KEY.',
    ),
    unconnected: schema.choice(
      ['refuse', 'allow'],
      'cli: whether an agent runs that `hookhelm connect` has not connected; refuse if omitted.',
    ),
  }),
)
export type ExecutorSettings = SchemaType<typeof executorSchema>

type ExecutorField = keyof ExecutorSettings
const fieldsOf: Readonly<Record<NonNullable<ExecutorSettings['type']>, readonly ExecutorField[]>> = {
  command: ['command', 'pinned_files'],
  model: ['max_steps', 'compact_at_tokens', 'permission_first'],
  cli: ['command', 'agent', 'args', 'allowed_env_vars', 'unconnected'],
}
const always: readonly ExecutorField[] = ['type', 'timeout_seconds']

interface AgentWithExecutor {
  readonly type: 'autonomous' | 'procedural'
  readonly executor?: ExecutorSettings
  readonly tools?: readonly string[]
}

/** An autonomous agent without an executor is executed by a model, or by any runner that registers for such agents. */
const defaultExecutor: ExecutorSettings = { type: 'model' }

export function executorOf({ executor }: Pick<AgentWithExecutor, 'executor'>): ExecutorSettings {
  return executor ?? defaultExecutor
}

/** Checks the executor of a blueprint. In the standard edition it belongs to the runner, and the blueprint names its profile. */
export function checkBlueprintExecutor(
  { type, executor: given, tools = [] }: AgentWithExecutor,
  edition: Edition,
): void {
  if (given === undefined && type === 'procedural')
    throw new HookError('config.field', 'executor is required for an agent of type procedural', {
      at: 'executor',
      hint: 'Name a `command`, or the `profile` of a runner.',
    })
  if (given === undefined && !runsCommands(edition)) return
  const executor = given ?? defaultExecutor
  if (executor.profile !== undefined) {
    const others = Object.keys(executor).filter((key) => key !== 'profile' && key !== 'timeout_seconds')
    if (others.length === 0) return
    throw executorProblem(others[0] ?? '', 'belongs into the profile of the runner, not next to its name')
  }
  if (!runsCommands(edition))
    throw handlerError(
      'handler.not_in_edition',
      'in the standard edition a blueprint names an executor profile, and its command belongs to the runner',
      { at: 'executor.profile' },
    )
  checkExecutor(executor)
  if (executor.type !== 'model') return
  if (type === 'procedural') throw executorProblem('type', 'model needs an agent of type autonomous')
  selectTools(tools)
}

/** The tools that a blueprint names, for an executor of type model. Throws `config.field` for an unknown one. */
export function selectTools(names: readonly string[]): readonly ModelToolName[] {
  return names.map((name) => {
    const found = modelTools.find((tool) => tool === name)
    if (found !== undefined) return found
    throw new HookError('config.field', `there is no tool ${JSON.stringify(name.slice(0, 80))}`, {
      at: 'tools',
      hint: `The tools of the model executor are ${modelTools.join(', ')}.`,
    })
  })
}

/** Checks an executor without a profile: each type has its own fields. Throws `config.field`. */
export function checkExecutor(executor: ExecutorSettings): void {
  const { type = 'command', command, agent, allowed_env_vars: names = [] } = executor
  const known = [...always, ...fieldsOf[type]]
  const unknown = Object.keys(executor).find((key) => !known.some((field) => field === key))
  if (unknown !== undefined) throw executorProblem(unknown, `has no meaning for an executor of type ${type}`)
  if (type === 'command' && command === undefined)
    throw executorProblem('command', 'is required: name a command, a profile, or another type')
  if (type === 'cli' && agent === undefined)
    throw executorProblem('agent', `is required: one of ${runnableAgents.join(', ')}`)
  assertPassableVariables(names, 'executor.allowed_env_vars')
}

function executorProblem(field: string, problem: string): HookError {
  return new HookError('config.field', `executor.${field} ${problem}`, { at: `executor.${field}` })
}
