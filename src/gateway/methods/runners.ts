import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import { isRecord } from '../../engine/core/check.ts'
import { isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { findDefinition } from '../../runs/builtin-blueprints.ts'
import type { RunnerRow, RunReport } from '../../store/stores/run-store.ts'
import type { Caller } from '../auth/caller.ts'
import { defineCall } from './method.ts'
import { readonlyList, shortText } from './method-fields.ts'
import { runDetail, toRunDetail } from './runs.ts'

/** Runners see the parameters of runs and decide their results, so the token of an agent is not enough. */
const RUNNER_ROLE = 'operator'

const offer = {
  hostname: shortText,
  project_dir: z.string().max(1_000).describe('Empty for any folder.'),
  executor_profile: z.string().max(200).describe('The profile whose command the runner has.'),
  executor_type: z
    .string()
    .max(200)
    .describe('`command` if it runs the commands of blueprints.')
    .exactOptional(),
  tags: readonlyList(shortText).exactOptional(),
  require_matching_tags: z.boolean().describe('Take only runs that demand one of the tags.').exactOptional(),
}
const runner = z.object({
  runner_id: z.string(),
  hostname: z.string(),
  project_dir: z.string(),
  executor_profile: z.string(),
  executor_type: z.string(),
  tags: readonlyList(z.string()),
  require_matching_tags: z.boolean(),
  registered_by: z.string(),
  registered_at: z.number(),
  last_seen_at: z.number(),
  is_leaving: z.boolean(),
})

function toRunner({ tenant_id: _, ...row }: RunnerRow): z.output<typeof runner> {
  return row
}

const register = defineCall({
  name: 'runners.register',
  about: 'Registers a runner, which then polls for runs.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/register' },
  params: z.strictObject({
    ...offer,
    runner_id: shortText.describe('The id of an earlier registration, to replace it.').exactOptional(),
    executor: z
      .looseObject({ type: shortText.exactOptional() })
      .readonly()
      .describe('Marks the only runner of its hostname, project_dir and profile: its id follows from them.')
      .exactOptional(),
  }),
  result: z.object({
    runner_id: z.string(),
    poll_endpoint: z.string(),
    poll_timeout_seconds: z.number(),
    heartbeat_interval_seconds: z.number(),
  }),
  needs: ['store', 'runs'],
  async run({ params, caller, parts: { store, runs } }) {
    const { executor, runner_id = runnerIdOf(params, caller.tenant), ...rest } = params
    const known = { executor_type: executor?.type ?? '', tags: [], require_matching_tags: false, ...rest }
    const other = executor === undefined ? undefined : await store.findRunner(caller.tenant, runner_id)
    if (other !== undefined && other.silent_ms < runs.times.leaseMs)
      throw serverError(
        'runs.duplicate_runner',
        `the runner ${runner_id} of this host, folder and profile is alive`,
        { cause: { runner_id } },
      )
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

/** The runner that is alive, if the error is that there is one already. */
export function duplicateRunnerOf(error: unknown): string | undefined {
  const cause = isHookError(error) && error.code === 'runs.duplicate_runner' ? error.cause : undefined
  return isRecord(cause) && typeof cause.runner_id === 'string' ? cause.runner_id : undefined
}

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
  params: z.strictObject({}),
  result: z.object({ runners: readonlyList(runner) }),
  needs: ['store'],
  async run({ caller, parts }) {
    return { runners: (await parts.store.listRunners(caller.tenant)).map(toRunner) }
  },
})

const runner_id = shortText
const run_id = shortText

const poll = defineCall({
  name: 'runners.poll',
  about: 'Waits for a run, for sessions to stop, or until the time is over (204).',
  role: RUNNER_ROLE,
  rest: { verb: 'GET', path: '/runner/runs', status: 204 },
  params: z.strictObject({
    runner_id,
    takes_runs: z
      .boolean()
      .describe('false waits only for sessions to stop; true if omitted.')
      .exactOptional(),
  }),
  result: z.object({
    run: runDetail
      .extend({
        blueprint: z.record(z.string(), z.unknown()).readonly().describe('What to execute.'),
        proof: z
          .string()
          .describe(
            '`HOOKHELM_RUN` for the coding agent that the runner starts: its calls belong to this run.',
          )
          .exactOptional(),
      })
      .exactOptional(),
    stop_sessions: readonlyList(z.string()).exactOptional(),
    deregistered: z.literal(true).exactOptional(),
  }),
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

const ok = z.object({ ok: z.literal(true) })

const heartbeat = defineCall({
  name: 'runners.heartbeat',
  about: 'Tells that a runner and its runs are alive.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/heartbeat' },
  params: z.strictObject({ runner_id }),
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
  params: z.strictObject({ runner_id }),
  result: ok,
  needs: ['store'],
  async run({ params, caller, parts }) {
    if (!(await parts.store.removeRunner(caller.tenant, params.runner_id)))
      throw serverError('gateway.not_found', `runner not found: ${params.runner_id}`)
    return { ok: true }
  },
})

const started = defineCall({
  name: 'runners.started',
  about: 'Reports that a run has started.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/started' },
  params: z.strictObject({ run_id, runner_id, executor_session_id: shortText.exactOptional() }),
  result: ok,
  needs: ['runs'],
  async run({ params: { run_id, runner_id, ...rest }, caller, parts }) {
    await parts.runs.report({
      ...holderOf(caller, { run_id, runner_id }),
      report: { report: 'started', ...rest },
    })
    return { ok: true }
  },
})

const completed = defineCall({
  name: 'runners.completed',
  about: 'Reports that a run has ended well. Its result is an event of the session.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/completed' },
  params: z.strictObject({
    run_id,
    runner_id,
    status: z.literal('success').exactOptional(),
    session_status: z.enum(['idle', 'finished']).describe('finished if omitted.').exactOptional(),
  }),
  result: ok,
  needs: ['runs'],
  async run({ params: { run_id, runner_id, session_status }, caller, parts }) {
    const session = session_status === undefined ? {} : { session_status }
    const report: RunReport = { report: 'ended', status: 'completed', ...session }
    await parts.runs.report({ ...holderOf(caller, { run_id, runner_id }), report })
    return { ok: true }
  },
})

const failed = defineCall({
  name: 'runners.failed',
  about: 'Reports that a run has failed.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/failed' },
  params: z.strictObject({
    run_id,
    runner_id,
    error: z.string().max(10_000),
    timed_out: z.boolean().describe('The run took too long.').exactOptional(),
  }),
  result: ok,
  needs: ['runs'],
  async run({ params: { run_id, runner_id, ...why }, caller, parts }) {
    const report: RunReport = { report: 'ended', status: 'failed', ...why }
    await parts.runs.report({ ...holderOf(caller, { run_id, runner_id }), report })
    return { ok: true }
  },
})

const stopped = defineCall({
  name: 'runners.stopped',
  about: 'Reports that a run was stopped.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/stopped' },
  params: z.strictObject({ run_id, runner_id, signal: shortText.exactOptional() }),
  result: ok,
  needs: ['runs'],
  async run({ params: { run_id, runner_id }, caller, parts }) {
    const report: RunReport = { report: 'ended', status: 'stopped' }
    await parts.runs.report({ ...holderOf(caller, { run_id, runner_id }), report })
    return { ok: true }
  },
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
  params: z.strictObject({
    run_id,
    runner_id,
    events: readonlyList(
      z.strictObject({
        event_type: shortText.refine((type) => !reserved.test(type), 'is written by the gateway only'),
        data: z.record(z.string(), z.unknown()).readonly(),
        event_id: shortText.describe('An event with the same id is stored once.').exactOptional(),
      }),
    ).refine((list) => list.length <= MAX_EVENTS, `must have at most ${MAX_EVENTS} entries`),
  }),
  result: z.object({ stored: wholeNumber(0, MAX_EVENTS) }),
  needs: ['runs'],
  async run({ params, caller, parts }) {
    await parts.runs.addEvents(holderOf(caller, params), params.events)
    return { stored: params.events.length }
  },
})

const spend = defineCall({
  name: 'runners.spend',
  about: 'Charges the tokens of a run to the budget of its tenant. Refused if nothing is left of it.',
  role: RUNNER_ROLE,
  rest: { verb: 'POST', path: '/runner/runs/:run_id/tokens' },
  params: z.strictObject({ run_id, runner_id, tokens: wholeNumber(0, MAX_TOKENS) }),
  result: ok,
  needs: ['runs'],
  async run({ params, caller, parts }) {
    await parts.runs.spendTokens(holderOf(caller, params), params.tokens)
    return { ok: true }
  },
})

function holderOf(
  { tenant }: Caller,
  { run_id, runner_id }: { readonly run_id: string; readonly runner_id: string },
) {
  return { tenant, run_id, runner_id }
}

// biome-ignore format: one line per group
export const runnerMethods = [
  register, list, remove,
  poll, heartbeat,
  started, completed, failed, stopped, events, spend,
] as const
