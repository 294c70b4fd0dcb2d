import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { findDefinition, GENERAL_PURPOSE } from '../../runs/blueprints/builtin-blueprints.ts'
import type { RunRow } from '../../runs/stored/run-tables.ts'
import { actionKey, type RuleActionCall, type RuleActionParts, type RuleActionResult } from './rule-action.ts'
import { executed, type FallbackAgent, failed, skipped } from './run-action.ts'

/** Starts an agent that takes over: a run of its own, one level deeper, with no more tools than the failed one had. */
export async function startFallback(
  call: RuleActionCall,
  parts: RuleActionParts,
  { agentType: agent_name = GENERAL_PURPOSE, model, ...parameters }: FallbackAgent,
): Promise<RuleActionResult> {
  const { tenant, envelope } = call
  const definition = await findDefinition(parts.store, { tenant, name: agent_name })
  if (definition === undefined)
    return failed(`There is no agent ${JSON.stringify(agent_name)} that can be started`)
  const run = await failedRun(call, parts)
  const { modelAliases } = parts.settingsOf(tenant)
  const tools = await allowedTools(call, { run, definition }, parts)
  const wanted = model === undefined ? {} : { model: modelAliases[model] ?? model }
  const project_dir = run?.project_dir ?? envelope.cwd
  return startRun(call, parts, {
    ...{ run, agent_name, parameters, overrides: { tools, ...wanted }, done: 'Fallback agent launched' },
    ...definedFields({ project_dir }),
  })
}

/** Repeats the failed run with the parameters that it was given. */
export async function retryRun(
  call: RuleActionCall<'retry_run'>,
  parts: RuleActionParts,
): Promise<RuleActionResult> {
  const { maxRetries = 1 } = call.action
  const run = await failedRun(call, parts)
  if (run === undefined) return skipped('No run context is available for retry_run action')
  if (run.agent_name === null || run.type !== 'start_session')
    return skipped('Only a run that starts a session can be repeated')
  const parameters = run.original_parameters ?? run.parameters
  if (parameters === null)
    return failed('The parameters of the run cannot be read: the key that sealed them is gone')
  const retries = await countRetries(run, call, parts)
  if (retries >= maxRetries) return skipped(`retry limit reached (${retries}/${maxRetries})`)
  return startRun(call, parts, {
    ...{ run, agent_name: run.agent_name, parameters, done: 'Run repeated' },
    ...definedFields({ overrides: run.overrides }),
    ...(run.project_dir === null ? {} : { project_dir: run.project_dir }),
  })
}

/** How many runs before this one were repetitions by the same rule. */
async function countRetries(run: RunRow, { tenant, rule }: RuleActionCall, { store }: RuleActionParts) {
  let count = 0
  const isRetry = (of: RunRow | undefined) => of?.origin === 'retry' && of.created_by === `rule:${rule.id}`
  for (let current: RunRow | undefined = run; current !== undefined && isRetry(current); count++)
    current = current.parent_run_id === null ? undefined : await store.findRun(tenant, current.parent_run_id)
  return count
}

interface StartedRun {
  /** The run that failed. */
  readonly run: RunRow | undefined
  readonly agent_name: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly project_dir?: string
  readonly overrides?: NonNullable<RunRow['overrides']>
  readonly done: string
}

async function startRun(
  call: RuleActionCall,
  { runs }: RuleActionParts,
  { run, agent_name, parameters, project_dir, overrides, done }: StartedRun,
): Promise<RuleActionResult> {
  const { tenant, envelope, rule, action } = call
  const created_by = `rule:${rule.id}`
  const isRetry = action.type === 'retry_run'
  try {
    const started = await runs().start(
      {
        ...{ tenant, agent_name, parameters, created_by, execution_mode: 'async_poll' },
        ...definedFields({ project_dir }),
        ...(run === undefined ? {} : { parent_session_id: run.session_id }),
        ...(isRetry && run !== undefined ? { demands: run.demands } : {}),
      },
      {
        key: actionKey(call),
        origin: isRetry ? 'retry' : 'rule',
        depth: (envelope.depth ?? 0) + 1,
        parent_run_id: run?.run_id ?? null,
        ...definedFields({ overrides }),
      },
    )
    return { ...executed(`${done}: ${started.run_id}`), runId: started.run_id }
  } catch (thrown) {
    if (isUnavailable(thrown)) throw thrown
    return failed(`The agent ${JSON.stringify(agent_name)} was not started: ${errorText(thrown)}`)
  }
}

/** The store may answer again, and the key of the run starts it once. */
function isUnavailable(thrown: unknown): boolean {
  return isRecord(thrown) || thrown instanceof Error
    ? 'code' in thrown && (thrown.code === 'store.unavailable' || thrown.code === 'gateway.stopping')
    : false
}

function failedRun(
  { envelope, tenant }: RuleActionCall,
  { store }: RuleActionParts,
): Promise<RunRow | undefined> {
  return envelope.run === undefined ? Promise.resolve(undefined) : store.findRun(tenant, envelope.run)
}

/** The tools that both agents have. Without a failed run, or if its blueprint names none, the configured ones count. */
async function allowedTools(
  { tenant }: RuleActionCall,
  {
    run,
    definition,
  }: { readonly run: RunRow | undefined; readonly definition: Readonly<Record<string, unknown>> },
  { store, settingsOf }: RuleActionParts,
): Promise<readonly string[]> {
  const name = run?.agent_name
  const of = name == null ? undefined : await findDefinition(store, { tenant, name })
  const ceiling = run?.overrides?.tools ?? toolsIn(of) ?? settingsOf(tenant).fallbackTools
  return (toolsIn(definition) ?? []).filter((tool) => ceiling.includes(tool))
}

function toolsIn(definition: Readonly<Record<string, unknown>> | undefined): readonly string[] | undefined {
  const tools = definition?.tools
  return Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : undefined
}
