import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { AgentAnswer, StartAgentRequest } from '../../engine/core/host.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { changeKeyOf, ignoresAnswers } from '../../handlers/run-hook-input.ts'
import { parseJson } from '../../safe/json.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { type Blueprint, checkParameters } from '../blueprints/blueprint.ts'
import { createRun, newRunId, type RunOrigin, requireBlueprint } from '../create-run.ts'
import { findResult } from '../run-events.ts'
import type { RunParts } from '../run-parts.ts'
import { waitForEnd } from '../run-waits.ts'
import type { RunRow } from '../stored/run-tables.ts'
import { problemOfChange } from './hook-change.ts'
import type { RunHookReport } from './run-hook-reports.ts'

/** A request of the agent handler, with what the store knows about it. */
interface HookAgentCall {
  readonly tenant: string
  readonly request: StartAgentRequest
  readonly blueprint: Blueprint
  readonly report: RunHookReport
}

/** Starts the agent of a hook as a run, and returns its answer. Where a hook only observes, it waits only for the start. */
export async function startHookAgent(
  parts: RunParts,
  request: StartAgentRequest,
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const { tenant_id: tenant = '', agent_name = '', run_id, hook_id, event = '', input } = request
  const execution = { tenant, event, run_id, hook_id, input, event_id: request.parent_event_id }
  const report = await parts.reports.open(execution)
  const blueprint = await requireBlueprint(parts, tenant, agent_name).catch(async (thrown: unknown) => {
    const error = `there is no agent ${JSON.stringify(agent_name)} that can be started: ${errorText(thrown)}`
    await report.failed({ error })
    throw handlerError('agent.unknown', error)
  })
  const call = { tenant, request, blueprint, report }
  return ignoresAnswers(event) ? startSuccessor(parts, call) : askAgent(parts, call, signal)
}

/** The agent after this one: an ordinary run in a session of its own, which nothing waits for. */
async function startSuccessor(parts: RunParts, call: HookAgentCall): Promise<AgentAnswer> {
  const { request, blueprint, report } = call
  const problem = refusalOf(blueprint, request)
  if (problem !== undefined) {
    await report.failed({ error: problem })
    throw handlerError('agent.failed', problem)
  }
  const { session_id } = await startRun(parts, call, {})
  await report.started({ hook_session_id: session_id })
  return { action: 'continue' }
}

/** The agent that decides: its run belongs to the hook, and its result is the answer. */
async function askAgent(parts: RunParts, call: HookAgentCall, signal: AbortSignal): Promise<AgentAnswer> {
  const { request, blueprint, report } = call
  const problem = refusalOf(blueprint, request)
  // Not a failure: no policy may start a run that its hook could not look at.
  if (problem !== undefined) {
    await report.blocked(problem)
    return { action: 'block', block_reason: problem }
  }
  const started = await startRun(parts, call, {
    ...{ hook_point: request.event ?? '', session_id: newRunId('hook') },
  })
  const facts = { hook_session_id: started.session_id }
  await report.started(facts)
  try {
    const answer = await answerOf(parts, started, signal)
    return report.run === undefined ? answer : await judgeAnswer(parts, call, answer, facts)
  } catch (thrown) {
    // Another node continues, with the same run of the agent.
    if (parts.waits.closed.aborted) throw thrown
    const isTimeout = isHookError(thrown) && thrown.code === 'agent.timeout'
    await report.failed({ error: errorText(thrown), isTimeout }, facts)
    throw thrown
  }
}

function refusalOf(blueprint: Blueprint, { input, agent_name = '' }: StartAgentRequest): string | undefined {
  const [violation] = checkParameters(blueprint, input)
  if (violation === undefined) return undefined
  return `the agent ${agent_name} does not take this input: ${violation.path || 'it'} ${violation.message}`
}

/** The key finds the same run again after a lost lease, a restart, or a repeated delivery. */
async function startRun(parts: RunParts, call: HookAgentCall, own: RunOrigin): Promise<RunRow> {
  const { tenant, request, report } = call
  const { agent_name = '', input, event = '', hook_id = '', parent_event_id, run_id, depth } = request
  const { run, point, occasion } = report
  const cause = (point && run_id) ?? parent_event_id
  const key = [cause, event, hook_id, occasion].filter((part) => part !== '')
  const started = await createRun(
    parts,
    {
      ...{ tenant, agent_name, parameters: input, created_by: `hook:${hook_id}` },
      ...(run === undefined ? {} : { parent_session_id: run.session_id }),
      ...(run?.project_dir == null ? {} : { project_dir: run.project_dir }),
      execution_mode: 'async_poll',
    },
    { ...own, origin: 'hook', depth, parent_run_id: run?.run_id ?? null, key: key.join(':') },
  )
  parts.waits.announce(tenant)
  return started
}

/** Waits for the result. An aborted wait stops the run, unless only this node stops: another one continues then. */
async function answerOf(
  parts: RunParts,
  started: RunRow,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
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

/** Reads the answer of an agent that decides about a run strictly, and reports it. */
async function judgeAnswer(
  parts: RunParts,
  { request, report }: HookAgentCall,
  answer: Readonly<Record<string, unknown>>,
  facts: { readonly hook_session_id: string },
): Promise<AgentAnswer> {
  const { action, block_reason: reason } = answer
  if (action === 'block') {
    if (reason !== undefined && typeof reason !== 'string')
      throw invalid('gave a block_reason that is not text')
    const block_reason = reason || 'No reason provided'
    await report.blocked(block_reason, facts)
    return { action, block_reason }
  }
  if (action !== 'continue') throw invalid('returned an action that is neither "continue" nor "block"')
  const change = await readChange(parts, { request, report }, answer)
  await report.continued(change, facts)
  return change === undefined
    ? { action }
    : { action, [changeKeyOf(request.event ?? '') ?? '']: change.after }
}

/** What the answer changes; undefined if nothing. Throws if the run cannot go on with it. */
async function readChange(
  parts: RunParts,
  { request, report }: Pick<HookAgentCall, 'request' | 'report'>,
  answer: Readonly<Record<string, unknown>>,
) {
  const key = changeKeyOf(request.event ?? '') ?? 'parameters'
  const { [key]: after = null } = answer
  if (after === null) return undefined
  if (!isRecord(after)) throw invalid(`returned ${key} that ${key === 'result' ? 'is' : 'are'} not an object`)
  if (Object.keys(after).length === 0) return undefined
  const { run, point } = report
  if (run !== undefined && point !== undefined) {
    const problem = await problemOfChange(parts, { run, point }, after)
    if (problem !== undefined) throw invalid(problem)
  }
  return { before: request.input[point === 'on_tool_call' ? 'tool_input' : key], after }
}

function invalid(why: string): Error {
  return handlerError('agent.output_schema', `the hook agent ${why}`)
}
