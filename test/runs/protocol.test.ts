import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, shared } from '../gateway/running.fixture.ts'
import { freshDatabase, type TestDatabase } from '../postgres/database.ts'
import { databases, runningOn, runsOf } from './runs.fixture.ts'

const HANG = 120_000

const offer = { hostname: 'here', project_dir: '/w', executor_profile: 'words' }
const blueprint = (name: string, more = {}) => ({
  ...{ name, type: 'procedural', executor: { profile: 'words' } },
  ...more,
})

/** Calls of a runner that is only a client. */
async function runnerOf(at: Pick<Running, 'call'>, more = {}) {
  const { body } = await at.call('POST', '/runner/register', { ...offer, ...more })
  const { runner_id } = body
  return {
    registered: body,
    runner_id,
    poll: () => at.call('GET', `/runner/runs?runner_id=${runner_id}`),
    report: (run_id: string, what: string, fields = {}) =>
      at.call('POST', `/runner/runs/${run_id}/${what}`, { runner_id, ...fields }),
  }
}

const unique = (() => {
  let count = 0
  return () => `agent-${++count}`
})()

/** An agent whose runs only the runner with its tag takes. */
async function agentWithRunner(at: Running, more = {}) {
  const name = unique()
  const { ok, ...runs } = runsOf(at)
  await ok('POST', '/agents', blueprint(name, { demands: { tags: [name] }, ...more }))
  return { name, ok, ...runs, runner: await runnerOf(at, { tags: [name] }) }
}

describe.each(databases)('on %s', (kind) => {
  let database: TestDatabase | undefined
  beforeAll(async () => {
    if (kind === 'PostgreSQL') database = await freshDatabase()
  })
  afterAll(() => database?.drop())
  const gateway = shared(() => ({
    ...{ edition: 'standard', runs: { pollMs: 300 } },
    ...(database === undefined ? {} : { database: database.url }),
  }))

  describe('AO-49 a runner', () => {
    test('registers, and learns how to poll', async () => {
      const { registered } = await runnerOf(gateway())
      expect(registered).toEqual({
        runner_id: expect.stringMatching(/^lnch_[\da-f]{12}$/),
        poll_endpoint: '/runner/runs',
        poll_timeout_seconds: 0.3,
        heartbeat_interval_seconds: 15,
      })
    })

    test('AO-50 gets 204 without a run, and 401 if it is not registered', async () => {
      const { runner } = await agentWithRunner(gateway())
      expect((await runner.poll()).status).toBe(204)
      const { status, body } = await gateway().call('GET', '/runner/runs?runner_id=lnch_0')
      expect([status, body.error.details.code]).toEqual([401, 'runs.unknown_runner'])
    })

    test('AO-50 gets a run that arrives while it waits, with what to execute', async () => {
      const patient = await runningOn(kind, { edition: 'standard', runs: { pollMs: 60_000 } })
      const { name, start, runner } = await agentWithRunner(patient)
      const polled = runner.poll()
      const { run_id } = await start(name, { topic: 'sea' })
      expect((await polled).body.run).toMatchObject({
        ...{ run_id, status: 'claimed', parameters: { topic: 'sea' } },
        blueprint: { name, executor: { profile: 'words' } },
      })
    })

    test('AO-51 reports, twice without harm, and an ended run stays as it is', async () => {
      const { name, start, run, runner, events } = await agentWithRunner(gateway())
      const { run_id, session_id } = await start(name)
      await runner.poll()
      for (const what of ['started', 'started', 'completed', 'completed'])
        expect(await runner.report(run_id, what)).toMatchObject({ status: 200, body: { ok: true } })
      await runner.report(run_id, 'failed', { error: 'too late' })
      expect(await run(run_id)).toMatchObject({ status: 'completed', error: null })
      const ends = await gateway().until(
        async () => (await events(session_id)).filter(({ event_type }) => event_type === 'run_completed'),
        (found) => found.length > 0,
      )
      expect(ends).toHaveLength(1)
      expect((await runner.report('run_0', 'started')).status).toBe(404)
    })

    test('AO-51 cannot report a run of another runner, nor write the events of the gateway', async () => {
      const { name, start, run, runner } = await agentWithRunner(gateway())
      const other = await runnerOf(gateway())
      const { run_id } = await start(name)
      await runner.poll()
      expect((await other.report(run_id, 'completed')).status).toBe(404)
      const events = [{ event_type: 'note', data: {} }]
      expect((await other.report(run_id, 'events', { events })).status).toBe(404)
      const forged = [{ event_type: 'hook_complete', data: {} }]
      expect((await runner.report(run_id, 'events', { events: forged })).status).toBe(422)
      expect(await run(run_id)).toMatchObject({ status: 'claimed' })
    })

    test('AO-50 learns which sessions to stop', async () => {
      const { name, start, run, runner } = await agentWithRunner(gateway())
      const { run_id, session_id } = await start(name)
      await runner.poll()
      await runner.report(run_id, 'started')
      await gateway().call('POST', `/runs/${run_id}/stop`, {})
      expect(await run(run_id)).toMatchObject({ status: 'stopping' })
      expect((await runner.poll()).body).toEqual({ stop_sessions: [session_id] })
      await runner.report(run_id, 'stopped', { signal: 'SIGTERM' })
      expect(await run(run_id)).toMatchObject({ status: 'stopped' })
    })

    test('AO-53 takes the first run whose demands it meets', async () => {
      const { name, start, runner } = await agentWithRunner(gateway())
      await start(name, { n: 1 }, { demands: { hostname: 'elsewhere' } })
      const { run_id } = await start(name, { n: 2 }, { demands: { hostname: 'here' } })
      expect((await runner.poll()).body.run.run_id).toBe(run_id)
      expect((await runner.poll()).status).toBe(204)
    })
  })

  describe('GET /sse/sessions', () => {
    /** Reads the stream until the text is there, and answers all of it. */
    async function streamed(
      path: string,
      isEnough: (text: string) => boolean,
      headers = {},
    ): Promise<string> {
      const { url, token } = gateway()
      const leave = new AbortController()
      const response = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
        signal: leave.signal,
      })
      let text = ''
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString()
        if (isEnough(text)) break
      }
      leave.abort()
      return text
    }
    const namesIn = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)

    test('AO-48 begins with init, names its events, and filters by session', async () => {
      const { name, start, runner } = await agentWithRunner(gateway())
      const one = await start(name)
      await start(name)
      const path = `/sse/sessions?session_id=${one.session_id}`
      const reading = streamed(path, (text) => text.includes('run_failed'))
      await runner.poll()
      await runner.report(one.run_id, 'started')
      await runner.report(one.run_id, 'failed', { error: 'no ink' })
      const text = await reading
      const init = /^event: init\ndata: (.*)$/m.exec(text)?.[1] ?? ''
      expect(JSON.parse(init).sessions).toMatchObject([{ session_id: one.session_id, agent_name: name }])
      expect(namesIn(text).filter((event) => event !== 'init')).toContain('run_failed')
      expect(text).toContain('no ink')
    })

    test('AO-48 replays what a client missed since its Last-Event-ID, without init', async () => {
      const { name, start, ok } = await agentWithRunner(gateway())
      const { nextCursor } = await ok('POST', '/v1/call/runSessions.tail', {})
      const missed = [await start(name), await start(name)].map(({ session_id }) => session_id)
      const text = await streamed('/sse/sessions', (all) => missed.every((id) => all.includes(id)), {
        'last-event-id': nextCursor,
      })
      expect(namesIn(text)).toEqual(['session_created', 'session_created'])
      const silent = await streamed('/sse/sessions?include_init=false', (all) => all.includes('id: '))
      expect(namesIn(silent)).toEqual([])
    })
  })

  describe('whose runs', () => {
    test('tenants neither see nor take one another’s, and roles decide who may do what', async () => {
      const { name, start, runner, ok } = await agentWithRunner(gateway())
      const { run_id, session_id } = await start(name)
      const { body: tenant } = await gateway().call('POST', '/v1/tenants', { name: 'others' })
      const other = { 'x-hookhelm-tenant': tenant.tenantId }
      const asOther = (verb: string, path: string, body?: unknown) => gateway().call(verb, path, body, other)
      for (const path of [`/runs/${run_id}`, `/sessions/${session_id}`, `/agents/${name}`])
        expect([path, (await asOther('GET', path)).status]).toEqual([path, 404])
      expect((await asOther('POST', `/runs/${run_id}/stop`, {})).status).toBe(404)
      expect((await asOther('GET', `/runner/runs?runner_id=${runner.runner_id}`)).status).toBe(401)
      const theirs = await runnerOf({ call: asOther }, { tags: [name] })
      expect((await theirs.poll()).status).toBe(204)
      expect((await asOther('GET', '/runs')).body.runs).toEqual([])

      const { token } = await ok('POST', '/v1/tokens', { name: 'reader', role: 'viewer' })
      const viewer = { authorization: `Bearer ${token}` }
      const asViewer = async (verb: string, path: string, body?: unknown) =>
        (await gateway().call(verb, path, body, viewer)).status
      expect(await asViewer('GET', `/runs/${run_id}`)).toBe(200)
      expect(await asViewer('POST', '/runs', { agent_name: name })).toBe(403)
      expect(await asViewer('POST', '/agents', blueprint('x'))).toBe(403)
      expect(await asViewer('POST', '/runner/register', offer)).toBe(403)
    })
  })

  describe('a lost runner', () => {
    test(
      'loses its run, which another claims; after three it fails',
      async () => {
        const at = await runningOn(kind, { edition: 'standard', runs: { pollMs: 300, leaseMs: 300 } })
        const { ok, start, run } = runsOf(at)
        await ok('POST', '/agents', blueprint('lost'))
        const { run_id } = await start('lost')
        for (const attempts of [1, 2, 3]) {
          const runner = await runnerOf(at)
          await at.until(runner.poll, ({ status }) => status === 200)
          expect(await run(run_id)).toMatchObject({ attempts, runner_id: runner.runner_id })
        }
        const ended = await at.until(
          () => run(run_id),
          ({ status }) => status === 'failed',
        )
        expect(ended.error).toMatch(/runner/)
      },
      HANG,
    )
  })

  test('AO-2 a hook of a blueprint has 300 s, is listed, can be switched off, and is changed with its blueprint only', async () => {
    const name = unique()
    const { ok } = runsOf(gateway())
    const hook = { type: 'agent', agent_name: 'x', on_error: 'block' }
    await ok('POST', '/agents', blueprint(name, { hooks: { on_run_start: hook } }))
    const rows = async () =>
      (await ok('GET', '/v1/hooks?event=run_start')).hooks.filter((row: { name?: string }) =>
        row.name?.startsWith(`${name}:`),
      )
    const [row] = await rows()
    expect(row).toMatchObject({ source: 'blueprint', scope: 'agent', on_error: 'block', timeout_ms: 300_000 })
    const path = `/v1/hooks/${row.id}`
    expect(await gateway().call('PATCH', path, { updates: { priority: 3 } })).toMatchObject({ status: 409 })
    expect(await gateway().call('DELETE', path)).toMatchObject({ status: 409 })
    await ok('PATCH', path, { updates: { enabled: false } })
    await ok('PATCH', `/agents/${name}`, { description: 'saved again' })
    expect(await rows()).toMatchObject([{ id: row.id, enabled: false }])
    expect((await gateway().call('POST', '/agents', blueprint(name))).status).toBe(409)
    await ok('DELETE', `/agents/${name}`)
    expect(await rows()).toEqual([])
  })
})
