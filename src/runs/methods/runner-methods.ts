import { createHash, randomBytes } from 'node:crypto'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { checked, looseObject, numeric, shortList } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { defineCall } from '../../methods/method.ts'
import { found, jsonObject, shortText } from '../../methods/method-fields.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import { findDefinition } from '../blueprints/builtin-blueprints.ts'
import type { Coordinator, RunnerReport } from '../coordinator.ts'
import { type RunReport, runners } from '../stored/run-tables.ts'
import { runDetail, toRunDetail } from './run-methods.ts'

/** Runners see the parameters of runs and decide their results, so the token of an agent is not enough. */
const RUNNER_ROLE = 'operator'

const offer = {
  hostname: shortText(),
  project_dir: schema.text('Empty for any folder.', { maxLength: 1_000 }),
  executor_profile: schema.text('The profile whose command the runner has.', { maxLength: 200 }),
  ...schema.partial({
    executor_type: schema.text('`command` if it runs the commands of blueprints.', { maxLength: 200 }),
    tags: schema.list(shortText()),
    require_matching_tags: schema.boolean('Take only runs that demand one of the tags.'),
  }),
}
const runner = schema.object(rowFields(runners, ['tenant_id']))

const register = defineCall({
  name: 'runners.register',
  about: 'Registers a runner, which then polls for runs.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/register' },
  params: schema.object({
    ...offer,
    runner_id: schema.optional(shortText('The id of an earlier registration, to replace it.')),
    executor: schema.optional(
      looseObject(
        { type: schema.optional(shortText()) },
        'Marks the only runner of its hostname, project_dir and profile: its id follows from them.',
      ),
    ),
  }),
  result: schema.object({
    runner_id: schema.text(),
    poll_endpoint: schema.text(),
    poll_timeout_seconds: numeric(),
    heartbeat_interval_seconds: numeric(),
  }),
  needs: ['store', 'runs'],
  async run({ params, caller, parts: { store, runs } }) {
    const { executor, runner_id = runnerIdOf(params, caller.tenant), ...rest } = params
    const known = { executor_type: executor?.type ?? '', tags: [], require_matching_tags: false, ...rest }
    const other = executor === undefined ? undefined : await store.findRunner(caller.tenant, runner_id)
    if (other !== undefined && other.silent_ms < runs.times.leaseMs) {
      const message = `the runner ${runner_id} of this host, folder and profile is alive`
      const detail = { error: 'duplicate_runner', message, runner_id }
      throw serverError('runs.duplicate_runner', message, { cause: { detail } })
    }
    await store.registerRunner({
      ...known,
      runner_id,
      tenant_id: caller.tenant,
      registered_by: caller.name,
    })
    const { pollMs, leaseMs } = runs.times
    return {
      runner_id,
      poll_endpoint: '/runner/runs',
      poll_timeout_seconds: pollMs / 1_000,
      // Three heartbeats within a lease: one may be lost.
      heartbeat_interval_seconds: leaseMs / 3_000,
    }
  },
})

/** A random id, or one that follows from what the runner is, so that it gets the same again after a restart. */
function runnerIdOf(
  {
    executor,
    ...offered
  }: {
    readonly executor?: unknown
    readonly hostname: string
    readonly project_dir: string
    readonly executor_profile: string
  },
  tenant: string,
): string {
  if (executor === undefined) return `lnch_${randomBytes(6).toString('hex')}`
  const { hostname, project_dir, executor_profile } = offered
  const identity = JSON.stringify([tenant, hostname, project_dir, executor_profile])
  return `lnch_${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

const list = defineCall({
  name: 'runners.list',
  about: 'The registered runners.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/runners' },
  params: schema.object({}),
  result: schema.object({ runners: schema.list(runner) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listRunners(caller.tenant)
    return { runners: rows.map((row) => toResult(runner, row)) }
  },
})

const runner_id = shortText()
const run_id = shortText()

const poll = defineCall({
  name: 'runners.poll',
  about: 'Waits for a run, for sessions to stop, or until the time is over (204).',
  role: RUNNER_ROLE,
  rest: { verb: 'GET', path: '/runner/runs', status: 204, changes: true },
  params: schema.object({
    runner_id,
    takes_runs: schema.optional(schema.boolean('false waits only for sessions to stop; true if omitted.')),
  }),
  result: schema.object(
    schema.partial({
      run: schema.object({
        ...runDetail.fields,
        blueprint: jsonObject('What to execute.'),
        proof: schema.optional(
          schema.text(
            '`HOOKHELM_RUN` for the coding agent that the runner starts: its calls belong to this run.',
          ),
        ),
      }),
      stop_sessions: schema.list(schema.text()),
      deregistered: schema.choice([true]),
    }),
  ),
  needs: ['store', 'runs'],
  async run({ params, caller, parts: { store, runs }, signal }) {
    const { runner_id, takes_runs = true } = params
    const request = { tenant: caller.tenant, runner_id, takes_runs }
    const answer = await runs.poll(signal === undefined ? request : { ...request, signal })
    if (!('run' in answer)) return answer
    const { run } = answer
    const definition = await findDefinition(store, { tenant: caller.tenant, name: run.agent_name ?? '' })
    if (definition !== undefined) {
      const proof = await runs.ofCodingAgents.proofFor(run)
      const blueprint = { ...definition, ...run.overrides }
      return { run: { ...toRunDetail(run), blueprint, ...(proof === undefined ? {} : { proof }) } }
    }
    const error = `agent ${run.agent_name} was deleted before its run started`
    const report = { report: 'ended', status: 'failed', error } as const
    await runs.report({ tenant: caller.tenant, runner_id, run_id: run.run_id, report })
    return {}
  },
})

const ok = schema.object({ ok: schema.choice([true]) })

const heartbeat = defineCall({
  name: 'runners.heartbeat',
  about: 'Tells that a runner and its runs are alive.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/heartbeat' },
  params: schema.object({ runner_id }),
  result: ok,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    await parts.runs.keep(caller.tenant, params.runner_id)
    return { ok: true }
  },
})

const remove = defineCall({
  name: 'runners.delete',
  about: 'Removes a runner. Its runs are claimed again.',
  role: RUNNER_ROLE,
  rest: { verb: 'DELETE', path: '/runners/:runner_id' },
  params: schema.object({ runner_id }),
  result: ok,
  needs: ['store'],
  async run({ params, caller, parts }) {
    found(await parts.store.removeRunner(caller.tenant, params.runner_id), 'runner', params.runner_id)
    return { ok: true }
  },
})

async function tell(runs: Coordinator, report: RunnerReport): Promise<SchemaType<typeof ok>> {
  await runs.report(report)
  return { ok: true }
}

const started = defineCall({
  name: 'runners.started',
  about: 'Reports that a run has started.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/started' },
  params: schema.object({ run_id, runner_id, executor_session_id: schema.optional(shortText()) }),
  result: ok,
  needs: ['runs'],
  run: ({ params: { executor_session_id, ...holder }, caller: { tenant }, parts: { runs } }) =>
    tell(runs, {
      tenant,
      ...holder,
      report: { report: 'started', ...definedFields({ executor_session_id }) },
    }),
})

const completed = defineCall({
  name: 'runners.completed',
  about: 'Reports that a run has ended well. Its result is an event of the session.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/completed' },
  params: schema.object({
    run_id,
    runner_id,
    status: schema.optional(schema.choice(['success'])),
    session_status: schema.optional(schema.choice(['idle', 'finished'], 'finished if omitted.')),
  }),
  result: ok,
  needs: ['runs'],
  run({ params: { status: _, session_status, ...holder }, caller: { tenant }, parts: { runs } }) {
    const report: RunReport = { report: 'ended', status: 'completed', ...definedFields({ session_status }) }
    return tell(runs, { tenant, ...holder, report })
  },
})

const failed = defineCall({
  name: 'runners.failed',
  about: 'Reports that a run has failed.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/failed' },
  params: schema.object({
    run_id,
    runner_id,
    error: schema.text(undefined, { maxLength: 10_000 }),
    timed_out: schema.optional(schema.boolean('The run took too long.')),
  }),
  result: ok,
  needs: ['runs'],
  run: ({ params: { run_id, runner_id, ...why }, caller: { tenant }, parts: { runs } }) =>
    tell(runs, { tenant, run_id, runner_id, report: { report: 'ended', status: 'failed', ...why } }),
})

const stopped = defineCall({
  name: 'runners.stopped',
  about: 'Reports that a run was stopped.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/stopped' },
  params: schema.object({ run_id, runner_id, signal: schema.optional(shortText()) }),
  result: ok,
  needs: ['runs'],
  run: ({ params: { signal: _, ...holder }, caller: { tenant }, parts: { runs } }) =>
    tell(runs, { tenant, ...holder, report: { report: 'ended', status: 'stopped' } }),
})

/** Names that the coordinator writes itself. */
const reserved = /^(?:hook_|run_|session_)/
const MAX_EVENTS = 100
const MAX_TOKENS = 1_000_000_000

const events = defineCall({
  name: 'runners.events',
  about: 'Adds events to the session of a run: progress, messages, and its `result`.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/events' },
  params: schema.object({
    run_id,
    runner_id,
    events: shortList(
      schema.object({
        event_type: checked(shortText(), (type, name) =>
          reserved.test(type) ? `${name} is written by the gateway only` : undefined,
        ),
        data: jsonObject(),
        event_id: schema.optional(shortText('An event with the same id is stored once.')),
      }),
      MAX_EVENTS,
    ),
  }),
  result: schema.object({ stored: schema.integer(0, MAX_EVENTS) }),
  needs: ['runs'],
  async run({ params, caller, parts }) {
    const { events: added, ...holder } = params
    await parts.runs.addEvents({ tenant: caller.tenant, ...holder }, added)
    return { stored: added.length }
  },
})

const spend = defineCall({
  name: 'runners.spend',
  about: 'Charges the tokens of a run to the budget of its tenant. Refused if nothing is left of it.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/tokens' },
  params: schema.object({ run_id, runner_id, tokens: schema.integer(0, MAX_TOKENS) }),
  result: ok,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    const { tokens, ...holder } = params
    await parts.runs.spendTokens({ tenant: caller.tenant, ...holder }, tokens)
    return { ok: true }
  },
})

// biome-ignore format: one line per group
export const runnerMethods = [
  register, list, remove,
  poll, heartbeat,
  started, completed, failed, stopped, events, spend,
] as const
