import { describe, expect, test } from 'vitest'
import { methods } from '../../src/gateway/methods.ts'
import type { Running } from '../gateway/running.fixture.ts'
import { runningOn, runsOf } from './runs.fixture.ts'
import { readStream } from './session-stream.fixture.ts'

const HANG = 120_000
const MARKER = 'known to the first tenant only'

type Call = Running['call']
type Fields = Readonly<Record<string, unknown>>

/** A gateway with one tenant that has everything, and the calls of a second tenant with a token of its own. */
async function twoTenants() {
  const gateway = await runningOn('PostgreSQL', { edition: 'standard', runs: { pollMs: 50 } })
  const { ok, start, run } = runsOf(gateway)
  const definition = { type: 'agent', agent_name: 'agent', on_error: 'block' }
  await ok('POST', '/agents', {
    ...{ name: 'agent', type: 'procedural', description: MARKER, executor: { profile: 'p' } },
  })
  await ok('POST', '/run-hooks', { name: 'hook', definition })
  const offer = { hostname: MARKER, project_dir: '', executor_profile: 'p' }
  const { runner_id } = await ok('POST', '/runner/register', offer)
  const held = await start('agent', { text: MARKER })
  await ok('GET', `/runner/runs?runner_id=${runner_id}`)
  await ok('POST', `/runner/runs/${held.run_id}/started`, { runner_id })
  const events = [{ event_type: 'result', data: { result_text: MARKER } }]
  await ok('POST', `/runner/runs/${held.run_id}/events`, { runner_id, events })
  await start('agent', { text: MARKER })
  const { body: tenant } = await gateway.call('POST', '/v1/tenants', { name: 'second' })
  const { body } = await gateway.call(...(['POST', '/v1/tokens', { name: 'own', role: 'admin' }] as const), {
    'x-hookhelm-tenant': tenant.tenantId,
  })
  const token: string = body.token
  const call: Call = (verb, path, given, headers = {}) =>
    gateway.call(verb, path, given, { authorization: `Bearer ${token}`, ...headers })
  return { gateway, ok, start, run, runner_id, ...held, token, call, definition, offer }
}

/** What the second tenant sends to each method, with the ids of the first; and what it gets. */
function foreignCalls(
  ids: Awaited<ReturnType<typeof twoTenants>>,
): Readonly<Record<string, [Fields, number]>> {
  const { run_id, session_id, runner_id, definition, offer } = ids
  const report = { run_id, runner_id }
  return {
    'blueprints.list': [{}, 200],
    'blueprints.show': [{ name: 'agent' }, 404],
    'blueprints.update': [{ name: 'agent', description: 'mine' }, 404],
    'blueprints.delete': [{ name: 'agent' }, 404],
    'runHooks.list': [{}, 200],
    'runHooks.show': [{ name: 'hook' }, 404],
    'runHooks.update': [{ name: 'hook', definition }, 404],
    'runHooks.delete': [{ name: 'hook' }, 404],
    'runs.start': [{ agent_name: 'agent' }, 404],
    'runs.list': [{}, 200],
    'runs.show': [{ run_id }, 404],
    'runs.stop': [{ run_id }, 404],
    'runs.resume': [{ session_id }, 404],
    'runSessions.list': [{}, 200],
    'runSessions.show': [{ session_id }, 404],
    'runSessions.events': [{ session_id }, 404],
    'runSessions.result': [{ session_id }, 404],
    'runSessions.delete': [{ session_id }, 404],
    'runSessions.tail': [{ cursor: '0' }, 200],
    'runners.list': [{}, 200],
    'runners.poll': [{ runner_id }, 401],
    'runners.heartbeat': [{ runner_id }, 401],
    'runners.started': [report, 401],
    'runners.completed': [report, 401],
    'runners.failed': [{ ...report, error: 'mine' }, 401],
    'runners.stopped': [report, 401],
    'runners.events': [{ ...report, events: [{ event_type: 'note', data: {} }] }, 401],
    'runners.spend': [{ ...report, tokens: 1 }, 401],
    'runners.delete': [{ runner_id }, 404],
    // Names and ids are unique in a tenant, so these make things of its own.
    'runners.register': [{ ...offer, hostname: 'mine', runner_id: 'lnch_own' }, 200],
    'blueprints.create': [{ name: 'own', type: 'procedural', executor: { profile: 'p' } }, 200],
    'runHooks.create': [{ name: 'own', definition }, 200],
  }
}

/** The method as its route takes it. */
async function callRoute(call: Call, name: string, params: Fields) {
  const method = methods.find((row) => row.name === name)
  if (method === undefined) throw new Error(`there is no method ${name}`)
  const { verb, path } = method.rest
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, key = '']) => key)
  const filled = path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(params[key])))
  const rest = Object.entries(params).filter(([key]) => !inPath.includes(key))
  if (verb !== 'GET' && verb !== 'DELETE') return call(verb, filled, Object.fromEntries(rest))
  const query = new URLSearchParams(Object.fromEntries(rest.map(([key, value]) => [key, String(value)])))
  return call(verb, rest.length === 0 ? filled : `${filled}?${query}`)
}

/** Everything that the first tenant has. */
async function stateOf({ ok }: Awaited<ReturnType<typeof twoTenants>>) {
  const paths = ['/runs', '/sessions', '/agents', '/run-hooks', '/runners']
  const lists = await Promise.all(paths.map((path) => ok('GET', path)))
  return JSON.stringify(lists).replaceAll(/"last_seen_at":\d+/g, '')
}

const isAboutRuns = (name: string) => /^(?:blueprints|runHooks|runs|runSessions|runners)\./.test(name)

describe('a tenant on PostgreSQL that knows the ids of another', () => {
  test(
    'sees and changes nothing of it, by each method and each route; the token of a runner belongs to one tenant',
    async () => {
      const scene = await twoTenants()
      const { call, runner_id, run_id, gateway } = scene
      const calls = foreignCalls(scene)
      expect(Object.keys(calls).toSorted()).toEqual(
        methods
          .map(({ name }) => name)
          .filter(isAboutRuns)
          .toSorted(),
      )
      const before = await stateOf(scene)
      expect(before).toContain(MARKER)
      for (const [name, [params, expected]] of Object.entries(calls)) {
        const byName = await call('POST', `/v1/call/${name}`, params)
        expect([name, byName.status]).toEqual([name, expected])
        const isMade = /register|create/.test(name)
        const byRoute = isMade ? byName : await callRoute(call, name, params)
        expect([name, byRoute.status]).toEqual([name, expected])
        for (const { body } of [byName, byRoute]) expect(JSON.stringify(body)).not.toContain(MARKER)
      }
      // Even a runner with the same id gets nothing.
      await call('POST', '/runner/register', { ...scene.offer, hostname: 'mine', runner_id })
      expect((await call('GET', `/runner/runs?runner_id=${runner_id}`)).status).toBe(204)
      for (const what of ['started', 'completed', 'stopped'])
        expect((await call('POST', `/runner/runs/${run_id}/${what}`, { runner_id })).status).toBe(404)
      await call('DELETE', `/runners/${runner_id}`)
      expect(await stateOf(scene)).toBe(before)
      expect((await runsOf(gateway).run(run_id)).status).toBe('running')
    },
    HANG,
  )

  test(
    'reads only its own events from the stream, from the first one on',
    async () => {
      const { gateway, token, call, start } = await twoTenants()
      const { ok } = runsOf({ call })
      await ok('POST', '/agents', { name: 'own', type: 'procedural', executor: { profile: 'p' } })
      const headers = { 'last-event-id': '0' }
      const opened = Promise.withResolvers<void>()
      const reading = readStream({ url: gateway.url, token }, (events) => events.length === 2, {
        ...{ headers, onOpen: opened.resolve },
      })
      await opened.promise
      const own: string[] = []
      for (let n = 0; n < 2; n++) {
        await start('agent', { text: MARKER })
        own.push((await ok('POST', '/runs', { agent_name: 'own' })).session_id)
      }
      const seen = await reading
      expect(seen.map(({ data }) => data.session_id)).toEqual(own)
      expect(JSON.stringify(seen)).not.toContain(MARKER)
      const { data } =
        (await readStream({ url: gateway.url, token }, (events) => events.length === 1))[0] ?? {}
      expect(data.sessions.map(({ session_id }: { session_id: string }) => session_id).toSorted()).toEqual(
        own.toSorted(),
      )
    },
    HANG,
  )
})
