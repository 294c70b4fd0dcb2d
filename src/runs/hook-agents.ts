import { isRecord } from '../engine/core/check.ts'
import { errorText } from '../engine/core/error.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
import type { AgentAnswer, StartAgentRequest } from '../engine/core/host.ts'
import { parseJson } from '../safe/json.ts'
import { redact } from '../safe/redact.ts'
import type { HookRow, HookStore } from '../store/stores/hook-store.ts'
import type { RunRow, RunStore } from '../store/stores/run-store.ts'
import { type Blueprint, checkParameters } from './blueprint.ts'
import { type CreateRunParts, createRun, newRunId, type RunOrigin, requireBlueprint } from './create-run.ts'
import { findResult, hookEvent, type RunHookEventType, type RunHookFacts } from './run-events.ts'
import type { RunHookPoint } from './run-hook-points.ts'
import { type RunWaits, waitForEnd } from './run-waits.ts'

export interface HookAgentParts extends CreateRunParts {
  readonly store: CreateRunParts['store'] &
    Pick<RunStore, 'findRun' | 'stopRun' | 'listRunEvents'> &
    Pick<HookStore, 'findHook'>
  readonly waits: RunWaits
  now(): number
}

/** A request of the agent handler, with what the store knows about it. */
interface HookAgentCall {
  readonly tenant: string
  readonly request: StartAgentRequest
  readonly blueprint: Blueprint
  /** The run that the hook is about; none for hooks on other events. */
  readonly run: RunRow | undefined
  readonly hook: HookRow | undefined
}

/** Starts the agent of a hook as a run, and returns its answer. `run_finish` waits only for the start. */
export async function startHookAgent(
  parts: HookAgentParts,
  request: StartAgentRequest,
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const call = await readCall(parts, request)
  return request.event === 'run_finish' ? startSuccessor(parts, call) : askAgent(parts, call, signal)
}

async function readCall(parts: HookAgentParts, request: StartAgentRequest): Promise<HookAgentCall> {
  const { tenant_id: tenant = '', agent_name = '', run_id, hook_id } = request
  const { store } = parts
  const run = run_id === undefined ? undefined : await store.findRun(tenant, run_id)
  const hook = hook_id === undefined ? undefined : await store.findHook(tenant, hook_id)
  try {
    return { tenant, request, run, hook, blueprint: await requireBlueprint(parts, tenant, agent_name) }
  } catch (thrown) {
    const error = `there is no agent ${JSON.stringify(agent_name)} that can be started: ${errorText(thrown)}`
    await reportFailure(parts, { tenant, request, run, hook }, { error })
    throw handlerError('agent.unknown', error)
  }
}

/** The agent after this one: an ordinary run in a session of its own, which nothing waits for. */
async function startSuccessor(parts: HookAgentParts, call: HookAgentCall): Promise<AgentAnswer> {
  const { request, blueprint } = call
  const problem = refusalOf(blueprint, request)
  if (problem !== undefined) {
    await reportFailure(parts, call, { error: problem })
    throw handlerError('agent.failed', problem)
  }
  const started = await startRun(parts, call, {})
  await reportStart(parts, call, started)
  return { action: 'continue' }
}

/** The agent that decides: its run belongs to the hook, and its result is the answer. */
async function askAgent(
  parts: HookAgentParts,
  call: HookAgentCall,
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const { request, blueprint } = call
  const problem = refusalOf(blueprint, request)
  // Not a failure: no policy may start a run that its hook could not look at.
  if (problem !== undefined) return { action: 'block', block_reason: problem }
  const begun = parts.now()
  const origin = { hook_point: request.event ?? '', session_id: newRunId('hook') }
  const started = await startRun(parts, call, origin)
  await reportStart(parts, call, started)
  try {
    const answer = await answerOf(parts, started, signal)
    if (request.event !== 'run_start' || call.run === undefined) return answer
    const checked = await checkHookOutput(parts, call.run, answer)
    const facts = { duration_ms: parts.now() - begun, hook_session_id: started.session_id }
    if (checked.action === 'continue')
      await report(parts, call, {
        ...{ type: 'hook_complete', facts: { ...facts, action: 'continue' } },
        id: `${started.run_id}-hook_complete`,
      })
    return checked
  } catch (thrown) {
    if (parts.waits.closed.aborted) throw thrown
    const facts = { duration_ms: parts.now() - begun, hook_session_id: started.session_id }
    await reportFailure(parts, call, { ...facts, error: errorText(thrown) })
    throw thrown
  }
}

function refusalOf(blueprint: Blueprint, { input, agent_name = '' }: StartAgentRequest): string | undefined {
  const [violation] = checkParameters(blueprint, input)
  if (violation === undefined) return undefined
  return `the agent ${agent_name} does not take this input: ${violation.path || 'it'} ${violation.message}`
}

/** The key finds the same run again after a lost lease, a restart, or a repeated delivery. */
async function startRun(parts: HookAgentParts, call: HookAgentCall, own: RunOrigin): Promise<RunRow> {
  const { tenant, request, run } = call
  const { agent_name = '', input, event = '', hook_id = '', parent_event_id, depth } = request
  const cause = run?.run_id ?? parent_event_id
  const started = await createRun(
    parts,
    {
      ...{ tenant, agent_name, parameters: input, created_by: `hook:${hook_id}` },
      ...(run === undefined ? {} : { parent_session_id: run.session_id }),
      ...(run?.project_dir == null ? {} : { project_dir: run.project_dir }),
      execution_mode: 'async_poll',
    },
    { ...own, depth, parent_run_id: run?.run_id ?? null, key: `${cause}:${event}:${hook_id}` },
  )
  parts.waits.announce(tenant)
  return started
}

/** Waits for the result. An aborted wait stops the run, unless only this node stops: another one continues then. */
async function answerOf(parts: HookAgentParts, started: RunRow, signal: AbortSignal): Promise<AgentAnswer> {
  const { store, waits } = parts
  const ended = await waitForEnd(parts, started, signal)
  if (ended === undefined) {
    if (!waits.closed.aborted) {
      await store.stopRun(started.tenant_id, started.run_id)
      waits.announce(started.tenant_id)
    }
    throw handlerError('agent.timeout', 'Hook timed out')
  }
  if (ended.status === 'stopped') throw handlerError('agent.failed', 'Hook was stopped')
  if (ended.status === 'failed')
    throw handlerError('agent.failed', `Hook failed: ${redact(ended.error ?? 'no reason given')}`)
  const result = await findResult(store, started, started.run_id)
  const answer = result?.result_data ?? parseText(result?.result_text ?? null)
  if (isRecord(answer)) return answer
  throw handlerError('agent.output_schema', 'the hook agent returned no object')
}

function parseText(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return parseJson(text)
  } catch {
    throw handlerError('agent.output_schema', 'the hook agent returned text that is not JSON')
  }
}

type HookOutput =
  | { readonly action: 'continue'; readonly parameters?: Readonly<Record<string, unknown>> }
  | { readonly action: 'block'; readonly block_reason: string }

/** Reads the answer of an `on_run_start` agent strictly. Changed parameters must fit the agent that gets them. */
async function checkHookOutput(parts: HookAgentParts, run: RunRow, answer: unknown): Promise<HookOutput> {
  const invalid = (why: string) => handlerError('agent.output_schema', `the hook agent ${why}`)
  if (!isRecord(answer)) throw invalid('returned no object')
  const { action, parameters, block_reason: reason } = answer
  if (action === 'block') {
    if (reason !== undefined && typeof reason !== 'string')
      throw invalid('gave a block_reason that is not text')
    return { action, block_reason: reason || 'No reason provided' }
  }
  if (action !== 'continue') throw invalid('returned an action that is neither "continue" nor "block"')
  if (parameters === undefined || parameters === null) return { action }
  if (!isRecord(parameters)) throw invalid('returned parameters that are not an object')
  if (Object.keys(parameters).length === 0) return { action }
  if (run.type === 'start_session') {
    const blueprint = await requireBlueprint(parts, run.tenant_id, run.agent_name ?? '')
    const [violation] = checkParameters(blueprint, parameters)
    if (violation !== undefined)
      throw invalid(`changed the parameters so that ${violation.path || 'they'} ${violation.message}`)
  }
  return { action, parameters }
}

type ReportedCall = Omit<HookAgentCall, 'blueprint'>

async function reportStart(parts: HookAgentParts, call: HookAgentCall, started: RunRow): Promise<void> {
  const facts = { hook_session_id: started.session_id }
  await report(parts, call, { type: 'hook_start', facts, id: `${started.run_id}-hook_start` })
}

async function reportFailure(
  parts: HookAgentParts,
  call: ReportedCall,
  facts: Pick<RunHookFacts, 'error' | 'duration_ms' | 'hook_session_id'>,
): Promise<void> {
  const { hook } = call
  const isTimeout = facts.error === 'Hook timed out'
  const seconds = Math.round((hook?.timeout_ms ?? 0) / 1_000)
  const error = isTimeout ? `Hook timed out after ${seconds}s` : (facts.error ?? 'no reason given')
  const on_error_behavior = hook?.on_error === 'allow' ? 'continue' : 'block'
  await report(parts, call, { type: 'hook_failed', facts: { ...facts, error, on_error_behavior } })
}

interface HookReport {
  readonly type: RunHookEventType
  readonly facts: Partial<RunHookFacts>
  readonly id?: string
}

/** Writes what the hook did into the session of the run that it is about. Hooks on other events have none. */
async function report(
  parts: HookAgentParts,
  { run, request }: ReportedCall,
  { type, facts, id }: HookReport,
): Promise<void> {
  const point = pointOf(request.event)
  if (run === undefined || point === undefined) return
  const target = { hook_type: point, target_type: 'agent', target_name: request.agent_name ?? '' }
  await parts.events.append(run, [hookEvent(type, { ...target, ...facts }, id)])
}

function pointOf(event: string | undefined): RunHookPoint | undefined {
  if (event === 'run_start') return 'on_run_start'
  return event === 'run_finish' ? 'on_run_finish' : undefined
}
