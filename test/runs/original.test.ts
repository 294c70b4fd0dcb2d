/**
 * The HTTP tests of the original coordinator (rawe/claude-agent-orchestrator, servers/agent-coordinator/tests/api), each behaviour
 * in our own words. Where Hookhelm decides otherwise, the test shows what it does instead.
 *
 * | original | here |
 * |---|---|
 * | test_runs_api: creates_pending_session, returns_run_id | AO-10 a start without an agent |
 * | test_runs_api: with_agent_name | AO-10 a start |
 * | test_runs_api: missing_parameters, invalid_type | AO-10 a request that cannot be read |
 * | test_runs_api: resume_requires_session_id, resume_nonexistent_session | AO-10 a resume |
 * | test_runner_api: register_runner | AO-49 a runner registers |
 * | test_runner_api: register_duplicate_runner_conflict | AO-49 a second runner |
 * | test_runner_api: runner_poll_claims_run, report_started, report_completed_finishes_session | AO-50 AO-51 |
 * | test_sessions_api | original-sessions.test.ts |
 */
import { describe, expect, test } from 'vitest'
import { running, shared } from '../gateway/running.fixture.ts'
import { runsOf } from './runs.fixture.ts'

const gateway = shared(() => ({ edition: 'standard', runs: { pollMs: 300 } }))
const call: ReturnType<typeof gateway>['call'] = (...args) => gateway().call(...args)

const unique = (() => {
  let count = 0
  return () => `own-${++count}`
})()

/** An agent whose runs only the runner of its profile takes. */
async function agentOf(more: object = {}, at = gateway()): Promise<string> {
  const name = unique()
  const blueprint = {
    name,
    description: 'A test agent',
    type: 'autonomous',
    executor: { profile: name },
    ...more,
  }
  await runsOf(at).ok('POST', '/agents', blueprint)
  return name
}

/** Registers as the runners of the original do. */
const registerAs = (profile: string, host = 'test-host') =>
  call('POST', '/runner/register', {
    ...{ hostname: host, project_dir: '/test', executor_profile: profile },
    executor: { type: 'autonomous', command: 'claude' },
  })

const startOf = (agent_name: string, parameters: object = { prompt: 'Hello' }) =>
  call('POST', '/runs', { type: 'start_session', agent_name, parameters })

describe('POST /runs', () => {
  test('AO-10 AO-56 a start answers 201 with both ids and pending, and its session knows the agent', async () => {
    const name = await agentOf()
    const { status, body } = await startOf(name)
    expect([status, body]).toEqual([
      201,
      {
        run_id: expect.stringMatching(/^run_/),
        session_id: expect.stringMatching(/^ses_/),
        status: 'pending',
      },
    ])
    const { session } = (await call('GET', `/sessions/${body.session_id}`)).body
    expect(session).toMatchObject({ agent_name: name, status: 'pending' })
  })

  test('AO-10 omitted parameters are an empty object, which the schema of the agent judges', async () => {
    const strict = await agentOf({ parameters_schema: { type: 'object', required: ['prompt'] } })
    expect((await call('POST', '/runs', { type: 'start_session', agent_name: strict })).status).toBe(400)
    const open = await agentOf()
    expect((await call('POST', '/runs', { type: 'start_session', agent_name: open })).status).toBe(201)
  })

  test('AO-10 a start without an agent answers 201, and a runner of autonomous agents takes it', async () => {
    const fresh = await running({ edition: 'standard', runs: { pollMs: 300 } })
    const parameters = { prompt: 'Hello' }
    const { status, body } = await fresh.call('POST', '/runs', { type: 'start_session', parameters })
    expect([status, body.status, body.session_id]).toEqual([201, 'pending', expect.stringMatching(/^ses_/)])
    const offer = { hostname: 'test-host', project_dir: '/test', executor_profile: 'default' }
    const poll = async (executor: object) => {
      const { runner_id } = (await fresh.call('POST', '/runner/register', { ...offer, ...executor })).body
      return fresh.call('GET', `/runner/runs?runner_id=${runner_id}`)
    }
    // A runner of a profile may be a command that expects other parameters.
    expect((await poll({ executor_type: 'profile' })).status).toBe(204)
    const polled = await poll({ executor: { type: 'autonomous', command: 'claude' } })
    expect(polled.body.run).toMatchObject({
      ...{ run_id: body.run_id, session_id: body.session_id, status: 'claimed', parameters },
      ...{ agent_name: 'general-purpose', blueprint: { name: 'general-purpose', type: 'autonomous' } },
    })
  })

  test('AO-10 an agent of type autonomous needs no executor', async () => {
    const agent = { name: unique(), description: 'A test agent', type: 'autonomous' }
    expect((await call('POST', '/agents', agent)).status).toBe(201)
    const { run_id, session_id } = (await startOf(agent.name)).body
    expect((await call('GET', `/sessions/${session_id}`)).body.session.agent_name).toBe(agent.name)
    await call('POST', `/runs/${run_id}/stop`, {})
    const { status, body } = await call('POST', '/agents', { name: unique(), type: 'procedural' })
    expect([status, body.error.details.at]).toEqual([400, 'executor'])
  })

  test.each([
    ['no parameters', { type: 'start_session' }, 'parameters is required'],
    ['an unknown type', { type: 'invalid_type', parameters: { prompt: 'Hello' } }, /^type must be/],
  ])('AO-10 a request that cannot be read, with %s, is 422', async (_, request, detail) => {
    const { status, body } = await call('POST', '/runs', request)
    expect([status, body.detail]).toEqual([422, expect.stringMatching(detail)])
    expect(body.error.details.code).toBe('gateway.request')
  })

  test('AO-10 refused parameters are 400, with every problem in the detail', async () => {
    const name = await agentOf({ parameters_schema: { type: 'object', required: ['topic'] } })
    const { status, body } = await startOf(name, {})
    expect([status, body.detail]).toEqual([
      400,
      {
        error: 'parameter_validation_failed',
        message: expect.stringContaining('topic'),
        validation_errors: [{ path: '', message: expect.any(String), schema_path: '#/required' }],
      },
    ])
  })

  test('AO-10 a resume needs the id of a session that exists', async () => {
    const resume = { type: 'resume_session', parameters: { prompt: 'Continue' } }
    const without = await call('POST', '/runs', resume)
    expect([without.status, without.body.detail]).toEqual([400, 'session_id is required'])
    expect((await call('POST', '/runs', { ...resume, session_id: 'ses_nonexistent' })).status).toBe(404)
  })
})

describe('runners', () => {
  test('AO-49 AO-56 a runner registers and learns how to poll', async () => {
    const { status, body } = await registerAs('words')
    expect([status, body]).toEqual([
      200,
      {
        runner_id: expect.stringMatching(/^lnch_/),
        poll_endpoint: '/runner/runs',
        poll_timeout_seconds: expect.any(Number),
        heartbeat_interval_seconds: expect.any(Number),
      },
    ])
  })

  test('AO-49 a second runner of one host, folder and profile is refused while the first is alive', async () => {
    const first = await registerAs('twice')
    const second = await registerAs('twice')
    const { runner_id } = first.body
    expect([second.status, second.body.detail]).toEqual([
      409,
      {
        error: 'duplicate_runner',
        message: `the runner ${runner_id} of this host, folder and profile is alive`,
        runner_id,
      },
    ])
    expect(second.body.error.details.code).toBe('runs.duplicate_runner')
    expect((await registerAs('twice', 'other-host')).status).toBe(200)
    // It gets the same id again when it comes back.
    await call('DELETE', `/runners/${runner_id}`)
    expect((await registerAs('twice')).body.runner_id).toBe(runner_id)
    // Runners that only name their type share the work.
    const offer = { hostname: 'test-host', project_dir: '/test', executor_profile: 'shared' }
    const ids = [await call('POST', '/runner/register', offer), await call('POST', '/runner/register', offer)]
    expect(new Set(ids.map(({ body }) => body.runner_id)).size).toBe(2)
  })

  test('AO-50 AO-51 a poll claims the run; started and completed answer ok and finish the session', async () => {
    const name = await agentOf()
    const { run_id, session_id } = (await startOf(name)).body
    const { runner_id } = (await registerAs(name)).body
    const polled = await call('GET', `/runner/runs?runner_id=${runner_id}`)
    expect(polled).toMatchObject({ status: 200, body: { run: { run_id, session_id, status: 'claimed' } } })
    for (const report of ['started', 'completed'])
      expect(await call('POST', `/runner/runs/${run_id}/${report}`, { runner_id })).toMatchObject({
        ...{ status: 200, body: { ok: true } },
      })
    const { session } = (await call('GET', `/sessions/${session_id}`)).body
    expect(session.status).toBe('finished')
  })

  test('AO-51 a report of an unknown runner is 401, and of an unknown run 404', async () => {
    const { runner_id } = (await registerAs('reports')).body
    const report = (id: string) =>
      call('POST', '/runner/runs/run_nonexistent/failed', { runner_id: id, error: 'x' })
    expect([(await report('lnch_nonexistent')).status, (await report(runner_id)).status]).toEqual([401, 404])
  })
})

describe('what the section about the original adds', () => {
  test('AO-7 agents carry their hooks: null changes nothing, an empty object removes them', async () => {
    const on_run_start = { type: 'agent', agent_name: 'x', on_error: 'block', timeout_seconds: 60 }
    const name = await agentOf({ hooks: { on_run_start } })
    const { ok } = runsOf(gateway())
    const hooksOf = async () => (await ok('GET', `/agents/${name}`)).blueprint.definition.hooks
    expect(await hooksOf()).toEqual({ on_run_start })
    await ok('PATCH', `/agents/${name}`, { hooks: null, description: 'changed' })
    expect(await hooksOf()).toEqual({ on_run_start })
    await ok('PATCH', `/agents/${name}`, { hooks: {} })
    expect(await hooksOf()).toEqual({})
    const listed = (await ok('GET', '/agents')).blueprints.find((row: { name: string }) => row.name === name)
    expect(listed.definition.hooks).toEqual({})
  })

  test('AO-35 AO-37 AO-40 AO-46 a finish hook neither delays the report nor changes the run, whatever becomes of it', async () => {
    const child = await agentOf({ parameters_schema: { type: 'object', required: ['session_id'] } })
    const hook = { type: 'agent', agent_name: child, on_error: 'block' }
    const name = await agentOf({ hooks: { on_run_finish: hook } })
    const { run_id, session_id } = (await startOf(name)).body
    const { runner_id } = (await registerAs(name)).body
    await call('GET', `/runner/runs?runner_id=${runner_id}`)
    await call('POST', `/runner/runs/${run_id}/started`, { runner_id })
    const report = await call('POST', `/runner/runs/${run_id}/completed`, {
      runner_id,
      session_status: 'idle',
    })
    // No runner serves the child, so the hook cannot have ended.
    expect(report).toMatchObject({ status: 200, body: { ok: true } })
    const { ok, events, run } = runsOf(gateway())
    const path = `/runs?agent_name=${child}&parent_session_id=${session_id}`
    const [started] = await gateway().until(
      async () => (await ok('GET', path)).runs,
      (runs) => runs.length > 0,
    )
    expect((await ok('GET', `/sessions/${session_id}`)).session.status).toBe('idle')
    const types = (await events(session_id)).map(({ event_type }) => event_type)
    expect(types.indexOf('run_completed')).toBeLessThan(types.indexOf('hook_start'))
    const theirs = (await registerAs(child)).body.runner_id
    await call('GET', `/runner/runs?runner_id=${theirs}`)
    await call('POST', `/runner/runs/${started.run_id}/failed`, { runner_id: theirs, error: 'no ink' })
    const failed = await gateway().until(
      async () => (await events(session_id)).find(({ event_type }) => event_type === 'hook_failed'),
      Boolean,
    )
    expect(failed).toMatchObject({
      ...{ hook_type: 'on_run_finish', target_type: 'agent', target_name: child, run_id },
      ...{ error: 'no ink', on_error_behavior: 'block', duration_ms: expect.any(Number) },
    })
    expect(await run(run_id)).toMatchObject({ status: 'completed', error: null })
  })

  test('AO-16 AO-19 AO-46 a start hook runs in a session of its own, whose last result is its answer, and events say so', async () => {
    const resolver = await agentOf({ demands: { tags: ['resolver'] } })
    const hook = { type: 'agent', agent_name: resolver, on_error: 'block' }
    const name = await agentOf({ hooks: { on_run_start: hook } })
    const { run_id, session_id } = (await startOf(name, { n: 1 })).body
    const main = (await registerAs(name)).body.runner_id
    const polled = call('GET', `/runner/runs?runner_id=${main}`)
    const offer = { hostname: 'h', project_dir: '', executor_profile: resolver, tags: ['resolver'] }
    const { runner_id } = (await call('POST', '/runner/register', offer)).body
    const { run: asked } = (
      await gateway().until(
        () => call('GET', `/runner/runs?runner_id=${runner_id}`),
        ({ status }) => status === 200,
      )
    ).body
    expect(asked).toMatchObject({
      type: 'start_session',
      parent_session_id: session_id,
      hook_point: 'run_start',
    })
    expect(asked.session_id).toMatch(/^hook_[\da-f]{12}$/)
    const report = (what: string, more = {}) =>
      call('POST', `/runner/runs/${asked.run_id}/${what}`, { runner_id, ...more })
    await report('started')
    const result = (result_text: string) => ({
      event_type: 'result',
      data: { result_text, result_data: null },
    })
    const answers = ['{"action":"block"}', '{"action":"continue","parameters":{"n":2}}']
    await report('events', { events: answers.map(result) })
    await report('completed')
    const first = await polled
    const claimed =
      first.status === 200
        ? first
        : await gateway().until(
            () => call('GET', `/runner/runs?runner_id=${main}`),
            ({ status }) => status === 200,
          )
    expect(claimed.body.run).toMatchObject({ run_id, parameters: { n: 2 }, original_parameters: { n: 1 } })
    const events = await runsOf(gateway()).events(session_id)
    const target = {
      hook_type: 'on_run_start',
      target_type: 'agent',
      target_name: resolver,
      run_id,
      session_id,
    }
    expect(events.filter(({ event_type }) => event_type.startsWith('hook_'))).toMatchObject([
      { event_type: 'hook_start', ...target },
      { event_type: 'hook_complete', ...target, action: 'continue', duration_ms: expect.any(Number) },
    ])
  })
})
