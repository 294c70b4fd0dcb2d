import type { ApprovalRow } from '../../approvals/stored/approval-tables.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { checked, nullable, numeric, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { found, jsonObject, pageFields, requestedPage, shortText } from '../../methods/method-fields.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import { GENERAL_PURPOSE } from '../blueprints/builtin-blueprints.ts'
import { type RunRow, runStatuses, runs } from '../stored/run-tables.ts'

const status = schema.choice(runStatuses)
const mode = schema.choice(['sync', 'async_poll', 'async_callback'])
const demands = schema.object(
  schema.partial({
    hostname: schema.text(),
    project_dir: schema.text(),
    executor_profile: schema.text(),
    executor_type: schema.text(),
    tags: schema.list(schema.text()),
  }),
)

/** A run without what it was given. */
const runSummary = schema.object({
  ...rowFields(runs, ['tenant_id', 'is_prepared', 'overrides', 'parameters', 'original_parameters'], {
    parent_run_id: 'The run whose hook started this one.',
    hook_point: 'The event of the hook that this run answers.',
    attempts: 'How often a runner claimed it.',
    timed_out: 'It failed because it took too long.',
    hooks: 'How many run hooks started.',
    origin: 'What started it, if that was no caller.',
  }),
  demands,
})

/** A run as callers and runners see it. */
export const runDetail = schema.object({
  ...runSummary.fields,
  parameters: nullable(jsonObject()),
  original_parameters: nullable(jsonObject('What the caller sent, if a hook changed the parameters.')),
})

export function toRunDetail({ tenant_id: _, is_prepared, ...run }: RunRow): SchemaType<typeof runDetail> {
  return run
}

const begun = schema.object({ run_id: schema.text(), session_id: schema.text(), status })

const start = defineCall({
  name: 'runs.start',
  about: 'Starts an agent in a new session, or resumes one with `type: resume_session`.',
  role: 'operator',
  rest: { verb: 'POST', path: '/runs', status: 201 },
  params: checked(
    schema.object(
      schema.partial({
        type: schema.choice(['start_session', 'resume_session'], 'start_session if omitted.'),
        agent_name: shortText('The agent to start; `general-purpose` if omitted.'),
        session_id: shortText('The session to resume.'),
        parameters: jsonObject('Must fit the `parameters_schema` of the agent.'),
        project_dir: shortText(),
        parent_session_id: shortText(),
        execution_mode: withAbout(
          mode,
          'async_callback resumes the idle parent session with the result; async_poll if omitted.',
        ),
        demands: withAbout(demands, 'What the runner must offer, in addition to the blueprint.'),
      }),
    ),
    ({ agent_name, parameters, type }) =>
      type === 'resume_session' || agent_name !== undefined || parameters !== undefined
        ? undefined
        : 'parameters is required',
  ),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts: { runs } }) {
    const { type, agent_name = GENERAL_PURPOSE, session_id, parameters = {}, ...rest } = params
    const { tenant, name: created_by } = caller
    if (type === 'resume_session') {
      if (session_id === undefined)
        throw serverError('gateway.request', 'session_id is required', { at: 'session_id' })
      return toResult(begun, await runs.resume({ tenant, session_id, parameters, created_by }))
    }
    if (session_id !== undefined)
      throw serverError('gateway.request', 'a new session gets its id from the gateway', {
        at: 'session_id',
        hint: 'Leave it out, or send `type: resume_session`.',
      })
    return toResult(begun, await runs.start({ tenant, agent_name, parameters, created_by, ...rest }))
  },
})

const filter = schema.object(
  schema.partial({
    status,
    agent_name: shortText(),
    session_id: shortText(),
    parent_session_id: shortText(),
    has_hooks: schema.boolean(),
    hook_blocked: schema.boolean(),
  }),
)
export type RunFilter = SchemaType<typeof filter>

const list = defineCall({
  name: 'runs.list',
  about: 'Runs, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/runs' },
  params: schema.object({ ...filter.fields, ...pageFields }),
  result: schema.object({ runs: schema.list(runSummary), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...wanted } = params
    const { rows, nextCursor } = await parts.store.listRuns(caller.tenant, wanted, requestedPage(params))
    return { runs: rows.map((row) => toResult(runSummary, row)), nextCursor }
  },
})

const run_id = shortText()
const MAX_AWAITED = 20

/** A question that a run waits for. It says who answers, and not about what: viewers see no arguments. */
const awaited = schema.object({
  approval_id: schema.text(),
  event: schema.text(),
  tool: nullable(schema.text()),
  hook_name: nullable(schema.text()),
  approvers_needed: numeric('How many approvers have to approve.'),
  approved_by: schema.list(schema.text(), 'Who has approved already.'),
  created_at: numeric(),
  deadline_at: numeric(),
})

function toAwaited(row: ApprovalRow): SchemaType<typeof awaited> {
  const { approval_id, event, tool, hook_name, approvers_needed, votes, created_at, deadline_at } = row
  const approved_by = votes.map(({ by }) => by)
  return { approval_id, event, tool, hook_name, approvers_needed, approved_by, created_at, deadline_at }
}

const show = defineCall({
  name: 'runs.show',
  about: 'One run with its parameters.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/runs/:run_id' },
  params: schema.object({ run_id }),
  result: schema.object({ run: runDetail, waits_for: schema.list(awaited) }),
  needs: ['store'],
  async run({ params: { run_id: id }, caller: { tenant }, parts: { store } }) {
    const row = found(await store.findRun(tenant, id), 'run', id)
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
  params: schema.object({ run_id }),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    return toResult(begun, found(await parts.runs.stop(caller.tenant, params.run_id), 'run', params.run_id))
  },
})

const resume = defineCall({
  name: 'runs.resume',
  about: 'Resumes an idle session with further parameters, such as the result of a child.',
  role: 'operator',
  rest: { verb: 'POST', path: '/sessions/:session_id/resume', status: 201 },
  params: schema.object({
    session_id: shortText(),
    parameters: schema.optional(jsonObject()),
    by_run_id: schema.optional(shortText('The run that asks, so that chains of runs end.')),
  }),
  result: begun,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    const { parameters = {}, ...rest } = params
    const { tenant, name: created_by } = caller
    return toResult(begun, await parts.runs.resume({ tenant, created_by, parameters, ...rest }))
  },
})

export const runMethods = [start, list, show, stop, resume] as const
