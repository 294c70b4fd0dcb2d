import { randomBytes } from 'node:crypto'
import { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { SchemaViolation } from '../handlers/agent/schema-check.ts'
import { type Blueprint, checkParameters, readBlueprint } from './blueprints/blueprint.ts'
import { findDefinition } from './blueprints/builtin-blueprints.ts'
import type { CreateRunParts } from './run-parts.ts'
import type { NewRun, RunDemands, RunRow, RunSessionRow } from './stored/run-tables.ts'

/** Without a runner by then, a run fails. */
const CLAIM_WITHIN_MS = 300_000

/** `run_`, `ses_` or `hook_` with twelve hexadecimal digits. */
export function newRunId(kind: 'run' | 'ses' | 'hook'): string {
  return `${kind}_${randomBytes(6).toString('hex')}`
}

/** What a caller asks for. */
export interface RunRequest {
  readonly tenant: string
  readonly agent_name: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly project_dir?: string
  readonly parent_session_id?: string
  readonly execution_mode?: NewRun['execution_mode']
  readonly demands?: RunDemands
  readonly created_by: string
}

/** What only the coordinator decides about a run. */
export interface RunOrigin
  extends Partial<Pick<NewRun, 'key' | 'hook_point' | 'depth' | 'parent_run_id' | 'overrides' | 'origin'>> {
  readonly session_id?: string
}

/** The blueprint of an agent; throws if there is none, or if this gateway cannot use it. */
export async function requireBlueprint(
  { store, edition }: Pick<CreateRunParts, 'store' | 'edition'>,
  tenant: string,
  name: string,
): Promise<Blueprint> {
  const definition = await findDefinition(store, { tenant, name })
  if (definition === undefined)
    throw serverError('gateway.not_found', `agent not found: ${name.slice(0, 200)}`)
  return readBlueprint(definition, edition).blueprint
}

/** Creates a run in a new session. Throws `runs.parameter_validation_failed` for parameters that its agent refuses. */
export async function createRun(
  parts: CreateRunParts,
  request: RunRequest,
  origin: RunOrigin = {},
): Promise<RunRow> {
  const { tenant, agent_name, parameters, parent_session_id = null } = request
  const blueprint = await requireBlueprint(parts, tenant, agent_name)
  const violations = checkParameters(blueprint, parameters)
  if (violations.length > 0) throw parametersError(agent_name, violations)
  // The session of the run that caused this one may be deleted by now.
  const mustExist = parent_session_id !== null && (origin.parent_run_id ?? null) === null
  if (mustExist && (await parts.store.findRunSession(tenant, parent_session_id)) === undefined)
    throw serverError('gateway.not_found', `session not found: ${parent_session_id}`)
  const session_id = origin.session_id ?? newRunId('ses')
  const run = await parts.store.createRun(
    {
      ...{ run_id: newRunId('run'), tenant_id: tenant, session_id, type: 'start_session' },
      ...{ agent_name, parameters, parent_session_id },
      project_dir: request.project_dir ?? null,
      parent_run_id: origin.parent_run_id ?? null,
      execution_mode: request.execution_mode ?? 'async_poll',
      demands: demandsOf(blueprint, request.demands ?? {}),
      hook_point: origin.hook_point ?? null,
      depth: origin.depth ?? 0,
      key: origin.key ?? null,
      ...definedFields({ overrides: origin.overrides, origin: origin.origin }),
      created_by: request.created_by,
      claim_within_ms: CLAIM_WITHIN_MS,
    },
    { hostname: null, executor_profile: blueprint.executor?.profile ?? null },
  )
  if (run.session_id === session_id)
    await parts.events.append(run, [
      { event_type: 'session_created', data: { agent_name, parent_session_id, status: 'pending' } },
    ])
  return run
}

/**
 * Creates a run that continues a session. Only callbacks have a key: their parameters are the coordinator's own and fit no
 * schema. Throws `runs.parameter_validation_failed` for parameters that its agent refuses.
 */
export async function resumeSession(
  parts: CreateRunParts,
  session: RunSessionRow,
  request: Pick<RunRequest, 'parameters' | 'created_by'> & { readonly key?: string; readonly depth: number },
): Promise<RunRow> {
  const { parameters, created_by, key, depth } = request
  const { tenant_id: tenant, session_id, agent_name, project_dir, parent_session_id } = session
  if (agent_name === null) throw serverError('gateway.conflict', `session ${session_id} names no agent`)
  const blueprint = await requireBlueprint(parts, tenant, agent_name)
  const violations = key === undefined ? checkResumeParameters(blueprint, parameters) : []
  if (violations.length > 0) throw parametersError(agent_name, violations)
  return parts.store.createRun(
    {
      ...{ run_id: newRunId('run'), tenant_id: tenant, session_id, type: 'resume_session' },
      ...{ agent_name, parameters, project_dir, parent_session_id, created_by },
      ...{ parent_run_id: null, hook_point: null, depth, key: key ?? null },
      execution_mode: 'async_poll',
      ...(key === undefined ? {} : { origin: 'callback' as const }),
      demands: demandsOf(blueprint, {}),
      claim_within_ms: CLAIM_WITHIN_MS,
    },
    { hostname: session.hostname, executor_profile: session.executor_profile },
  )
}

/** An autonomous agent always takes a further message: `prompt` alone. Everything else must fit its schema. */
function checkResumeParameters(
  blueprint: Blueprint,
  parameters: RunRequest['parameters'],
): readonly SchemaViolation[] {
  const { prompt, ...others } = parameters
  const hasOthers = Object.keys(others).length > 0
  if (blueprint.type !== 'autonomous' || hasOthers) return checkParameters(blueprint, parameters)
  if (typeof prompt === 'string' && prompt.trim() !== '') return []
  return [{ path: '/prompt', message: 'must be a text that says what to do next', schema_path: '' }]
}

/** What the blueprint and the caller demand of a runner, together. */
function demandsOf({ demands = {}, executor }: Blueprint, asked: RunDemands): RunDemands {
  const tags = [...new Set([...(demands.tags ?? []), ...(asked.tags ?? [])])]
  return {
    ...demands,
    ...asked,
    ...(tags.length === 0 ? {} : { tags }),
    ...executorDemand(executor),
  }
}

/** A blueprint without an executor is for every runner of autonomous agents. */
function executorDemand(executor: Blueprint['executor']): RunDemands {
  if (executor === undefined) return { executor_type: 'autonomous' }
  return executor.profile === undefined
    ? { executor_type: 'command' }
    : { executor_profile: executor.profile }
}

function parametersError(agent: string, violations: readonly SchemaViolation[]): HookError {
  const [first] = violations
  const text = `${first?.path || 'parameters'} ${first?.message ?? 'do not fit'}`
  return serverError(
    'runs.parameter_validation_failed',
    `agent ${agent} does not take these parameters: ${text}`,
    { cause: { validationErrors: violations } },
  )
}

/** What is wrong with the parameters, if the error has it. */
export function validationErrorsOf(error: unknown): readonly SchemaViolation[] | undefined {
  const cause = error instanceof HookError ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('validationErrors' in cause)) return undefined
  return Array.isArray(cause.validationErrors) ? cause.validationErrors : undefined
}
