/**
 * The nine session tests of the original coordinator (rawe/claude-agent-orchestrator, servers/agent-coordinator/tests/api/test_sessions_api.py)
 * in our own words. Each asserts what the original asserts, at the original's routes.
 */
import { describe, expect, test } from 'vitest'
import { type Running, running } from '../gateway/running.fixture.ts'
import { runsOf } from './runs.fixture.ts'

/** The original starts each test with an empty database. */
const empty = () => running({ edition: 'standard', runs: { pollMs: 300 } })

/** A session as the first run creates it: without an agent. */
async function startedSession({ call }: Running): Promise<{ session_id: string; run_id: string }> {
  const parameters = { prompt: 'Hello' }
  return (await call('POST', '/runs', { type: 'start_session', parameters })).body
}

describe('GET /sessions', () => {
  test('an empty list has the key sessions and no other', async () => {
    const { call } = await empty()
    expect(await call('GET', '/sessions')).toMatchObject({ status: 200, body: {} })
    expect((await call('GET', '/sessions')).body).toEqual({ sessions: [] })
  })

  test('lists the session that a started run created', async () => {
    const gateway = await empty()
    const { session_id } = await startedSession(gateway)
    const { status, body } = await gateway.call('GET', '/sessions')
    expect(status).toBe(200)
    expect(body.sessions).toHaveLength(1)
    expect(body.sessions[0]).toMatchObject({ session_id, status: 'pending' })
  })

  test('shows one session by its id', async () => {
    const gateway = await empty()
    const { session_id } = await startedSession(gateway)
    const { status, body } = await gateway.call('GET', `/sessions/${session_id}`)
    expect([status, body.session]).toEqual([200, expect.objectContaining({ session_id, status: 'pending' })])
  })

  test('an unknown session is 404 "Session not found"', async () => {
    const { status, body } = await (await empty()).call('GET', '/sessions/ses_nonexistent')
    expect([status, body.detail]).toEqual([404, 'Session not found'])
  })
})

describe('DELETE /sessions/{id}', () => {
  test('deletes a session whose run still waits', async () => {
    const gateway = await empty()
    const { session_id } = await startedSession(gateway)
    const { status, body } = await gateway.call('DELETE', `/sessions/${session_id}`)
    expect([status, body.ok, body.session_id]).toEqual([200, true, session_id])
    expect((await gateway.call('GET', `/sessions/${session_id}`)).status).toBe(404)
  })

  test('an unknown session is 404', async () => {
    expect((await (await empty()).call('DELETE', '/sessions/ses_nonexistent')).status).toBe(404)
  })

  test('a running session is 409 "Stop session first"', async () => {
    const gateway = await empty()
    const { session_id, run_id } = await startedSession(gateway)
    await takeRun(gateway, run_id)
    const { status, body } = await gateway.call('DELETE', `/sessions/${session_id}`)
    expect([status, body.detail]).toEqual([409, expect.stringContaining('Stop session first')])
    expect((await runsOf(gateway).run(run_id)).status).toBe('running')
  })
})

describe('GET /sessions/{id}/result', () => {
  test('a session that waits is 400 "not finished"', async () => {
    const gateway = await empty()
    const { session_id } = await startedSession(gateway)
    const { status, body } = await gateway.call('GET', `/sessions/${session_id}/result`)
    expect([status, body.detail]).toEqual([400, expect.stringContaining('not finished')])
  })

  test('an unknown session is 404', async () => {
    expect((await (await empty()).call('GET', '/sessions/ses_nonexistent/result')).status).toBe(404)
  })
})

describe('our own routes', () => {
  test('keep the result without a refusal, the cursor of an empty list, and sessions whose run waits', async () => {
    const gateway = await empty()
    expect((await gateway.call('GET', '/v1/run-sessions')).body).toEqual({ sessions: [], nextCursor: '' })
    const { session_id } = await startedSession(gateway)
    const path = `/v1/run-sessions/${session_id}`
    expect(await gateway.call('GET', `${path}/result`)).toMatchObject({
      status: 200,
      body: { session_id, status: 'pending', result_text: null, result_data: null },
    })
    const refused = await gateway.call('DELETE', path)
    expect([refused.status, refused.body.error.details.hint]).toEqual([
      409,
      expect.stringMatching(/stop its run/i),
    ])
    expect((await gateway.call('DELETE', `${path}?stop_waiting=true`)).body).toEqual({ session_id })
  })

  test('the list goes on at its cursor at both routes', async () => {
    const gateway = await empty()
    for (let n = 0; n < 2; n++) await startedSession(gateway)
    for (const path of ['/sessions', '/v1/run-sessions']) {
      const { sessions, nextCursor } = (await gateway.call('GET', `${path}?limit=1`)).body
      const rest = (await gateway.call('GET', `${path}?limit=1&cursor=${nextCursor}`)).body.sessions
      expect(new Set([...sessions, ...rest].map((row) => row.session_id)).size).toBe(2)
    }
  })
})

test('deleting a waiting session tells its finish hooks, and its parent that waits for the callback', async () => {
  const gateway = await empty()
  const { ok, run } = runsOf(gateway)
  const agent = { description: 'A test agent', type: 'autonomous' }
  await ok('POST', '/agents', { ...agent, name: 'parent' })
  await ok('POST', '/agents', { ...agent, name: 'afterwards', parameters_schema: { type: 'object' } })
  const on_run_finish = { type: 'agent', agent_name: 'afterwards', on_error: 'continue' }
  await ok('POST', '/agents', { ...agent, name: 'child', hooks: { on_run_finish } })
  const parent = await ok('POST', '/runs', { agent_name: 'parent', parameters: { prompt: 'Hello' } })
  const runner_id = await takeRun(gateway, parent.run_id)
  await ok('POST', `/runner/runs/${parent.run_id}/completed`, { runner_id, session_status: 'idle' })
  const child = await ok('POST', '/runs', {
    ...{ agent_name: 'child', parameters: { prompt: 'Hello' }, parent_session_id: parent.session_id },
    execution_mode: 'async_callback',
  })
  await ok('DELETE', `/sessions/${child.session_id}`)
  const callback = (await ok('GET', `/runs?session_id=${parent.session_id}`)).runs[0]
  expect((await run(callback.run_id)).parameters.callback).toMatchObject({
    run_id: child.run_id,
    status: 'stopped',
  })
  const started = await gateway.until(
    async () => (await ok('GET', '/runs?agent_name=afterwards')).runs,
    (runs) => runs.length > 0,
  )
  expect(started).toHaveLength(1)
})

/** A runner takes the run and reports that it has started. */
async function takeRun({ call }: Running, run_id: string): Promise<string> {
  const offer = { hostname: 'test-host', project_dir: '/test', executor_profile: 'default' }
  const executor = { type: 'autonomous', command: 'claude' }
  const { runner_id } = (await call('POST', '/runner/register', { ...offer, executor })).body
  expect((await call('GET', `/runner/runs?runner_id=${runner_id}`)).body.run.run_id).toBe(run_id)
  await call('POST', `/runner/runs/${run_id}/started`, { runner_id })
  return runner_id
}
