import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { GENERAL_PURPOSE } from '../../runs/builtin-blueprints.ts'
import type { ApprovalRow } from '../../store/stores/approval-store.ts'
import { type RunRow, runStatuses } from '../../store/stores/run-store.ts'
import { defineCall } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

const status = z.enum(runStatuses)
const mode = z.enum(['sync', 'async_poll', 'async_callback'])
const record = z.record(z.string(), z.unknown()).readonly()
const demands = z.strictObject({
  hostname: z.string().exactOptional(),
  project_dir: z.string().exactOptional(),
  executor_profile: z.string().exactOptional(),
  executor_type: z.string().exactOptional(),
  tags: readonlyList(z.string()).exactOptional(),
})

/** A run without what it was given. */
const runSummary = z.object({
  run_id: z.string(),
  session_id: z.string(),
  type: z.enum(['start_session', 'resume_session']),
  agent_name: z.string().nullable(),
  status,
  project_dir: z.string().nullable(),
  parent_session_id: z.string().nullable(),
  parent_run_id: z.string().nullable().describe('The run whose hook started this one.'),
  execution_mode: mode,
  demands,
  hook_point: z.string().nullable().describe('The event of the hook that this run answers.'),
  depth: z.number(),
  runner_id: z.string().nullable(),
  attempts: z.number().describe('How often a runner claimed it.'),
  error: z.string().nullable(),
  block_reason: z.string().nullable(),
  timed_out: z.boolean().describe('It failed because it took too long.'),
  hooks: z.number().describe('How many run hooks started.'),
  created_by: z.string(),
  created_at: z.number(),
  claimed_at: z.number().nullable(),
  started_at: z.number().nullable(),
  completed_at: z.number().nullable(),
})

/** A run as callers and runners see it. */
export const runDetail = runSummary.extend({
  parameters: record.nullable(),
  original_parameters: record.nullable().describe('What the caller sent, if a hook changed the parameters.'),
})

export function toRunDetail({ tenant_id: _, is_prepared, ...run }: RunRow): z.output<typeof runDetail> {
  return run
}

function toRunSummary(row: RunRow): z.output<typeof runSummary> {
  const { parameters: _, original_parameters, ...run } = toRunDetail(row)
  return run
}

const begun = z.object({ run_id: z.string(), session_id: z.string(), status })

function toBegun({ run_id, session_id, status }: RunRow): z.output<typeof begun> {
  return { run_id, session_id, status }
}

const start = defineCall({
  name: 'runs.start',
  about: 'Starts an agent in a new session, or resumes one with `type: resume_session`.',
  role: 'operator',
  rest: { verb: 'POST', path: '/runs', status: 201 },
  params: z
    .strictObject({
      type: z.enum(['start_session', 'resume_session']).describe('start_session if omitted.').exactOptional(),
      agent_name: shortText.describe('The agent to start; `general-purpose` if omitted.').exactOptional(),
      session_id: shortText.describe('The session to resume.').exactOptional(),
      parameters: record.describe('Must fit the `parameters_schema` of the agent.').exactOptional(),
      project_dir: shortText.exactOptional(),
      parent_session_id: shortText.exactOptional(),
      execution_mode: mode
        .describe('async_callback resumes the idle parent session with the result; async_poll if omitted.')
        .exactOptional(),
      demands: demands.describe('What the runner must offer, in addition to the blueprint.').exactOptional(),
    })
    .refine(
      ({ agent_name, parameters, type }) =>
        type === 'resume_session' || agent_name !== undefined || parameters !== undefined,
      { path: ['parameters'] },
    ),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts: { runs } }) {
    const { type, agent_name = GENERAL_PURPOSE, session_id, parameters = {}, ...rest } = params
    const { tenant, name: created_by } = caller
    if (type === 'resume_session') {
      if (session_id === undefined)
        throw serverError('gateway.request', 'session_id is required', { at: 'session_id' })
      return toBegun(await runs.resume({ tenant, session_id, parameters, created_by }))
    }
    if (session_id !== undefined)
      throw serverError('gateway.request', 'a new session gets its id from the gateway', {
        at: 'session_id',
        hint: 'Leave it out, or send `type: resume_session`.',
      })
    return toBegun(await runs.start({ tenant, agent_name, parameters, created_by, ...rest }))
  },
})

const list = defineCall({
  name: 'runs.list',
  about: 'Runs, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/runs' },
  params: z.strictObject({
    status: status.exactOptional(),
    agent_name: shortText.exactOptional(),
    session_id: shortText.exactOptional(),
    parent_session_id: shortText.exactOptional(),
    has_hooks: z.boolean().exactOptional(),
    hook_blocked: z.boolean().exactOptional(),
    ...pageFields,
  }),
  result: z.object({ runs: readonlyList(runSummary), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...filter } = params
    const { rows, nextCursor } = await parts.store.listRuns(caller.tenant, filter, requestedPage(params))
    return { runs: rows.map(toRunSummary), nextCursor }
  },
})

const run_id = shortText
const MAX_AWAITED = 20

/** A question that a run waits for. It says who answers, and not about what: viewers see no arguments. */
const awaited = z.object({
  approval_id: z.string(),
  event: z.string(),
  tool: z.string().nullable(),
  hook_name: z.string().nullable(),
  approvers_needed: z.number().describe('How many approvers have to approve.'),
  approved_by: readonlyList(z.string()).describe('Who has approved already.'),
  created_at: z.number(),
  deadline_at: z.number(),
})

function toAwaited(row: ApprovalRow): z.output<typeof awaited> {
  const { approval_id, event, tool, hook_name, approvers_needed, votes, created_at, deadline_at } = row
  const approved_by = votes.map(({ by }) => by)
  return { approval_id, event, tool, hook_name, approvers_needed, approved_by, created_at, deadline_at }
}

const show = defineCall({
  name: 'runs.show',
  about: 'One run with its parameters.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/runs/:run_id' },
  params: z.strictObject({ run_id }),
  result: z.object({ run: runDetail, waits_for: readonlyList(awaited) }),
  needs: ['store'],
  async run({ params: { run_id: id }, caller: { tenant }, parts: { store } }) {
    const row = await store.findRun(tenant, id)
    if (row === undefined) throw notFound(id)
    const { rows } = await store.listApprovals(
      tenant,
      { run_id: id, status: 'pending' },
      { limit: MAX_AWAITED },
    )
    return { run: toRunDetail(row), waits_for: rows.map(toAwaited) }
  },
})

const stop = defineCall({
  name: 'runs.stop',
  about: 'Stops a run: at once while it waits, else as soon as its runner has ended it.',
  role: 'operator',
  rest: { verb: 'POST', path: '/runs/:run_id/stop' },
  params: z.strictObject({ run_id }),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    const row = await parts.runs.stop(caller.tenant, params.run_id)
    if (row === undefined) throw notFound(params.run_id)
    return toBegun(row)
  },
})

const resume = defineCall({
  name: 'runs.resume',
  about: 'Resumes an idle session with further parameters, such as the result of a child.',
  role: 'operator',
  rest: { verb: 'POST', path: '/sessions/:session_id/resume', status: 201 },
  params: z.strictObject({
    session_id: shortText,
    parameters: record.exactOptional(),
    by_run_id: shortText.describe('The run that asks, so that chains of runs end.').exactOptional(),
  }),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    const { parameters = {}, ...rest } = params
    const { tenant, name: created_by } = caller
    return toBegun(await parts.runs.resume({ tenant, created_by, parameters, ...rest }))
  },
})

function notFound(id: string): Error {
  return serverError('gateway.not_found', `run not found: ${id}`)
}

export const runMethods = [start, list, show, stop, resume] as const
