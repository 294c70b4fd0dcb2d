import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { GatewayOptions } from '../../src/app/gateway/open-gateway.ts'
import type { Store } from '../../src/store/store.ts'
import { type FaultyStore, failMethods, faultyStore } from '../../src/testing/index.ts'
import { socketOf } from '../gateway/doors.fixture.ts'
import { type Answer, type Running, running } from '../gateway/running.fixture.ts'
import { freshDatabase, sharedServer, type TestDatabase } from '../postgres/database.ts'
import { type PostgresServer, startServer } from '../postgres/server.ts'
import { halfOpenProxy } from './half-open-proxy.fixture.ts'
import { quickClock } from './quick-clock.fixture.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const stop = { event: 'pre_tool_use', handler_type: 'function', matcher: '^Bash$', config: { name: 'stop' } }
const soon = { interval: 25 }

/** A node of its own, with the key that all nodes share. */
function node(db: Pick<TestDatabase, 'url'>, options: GatewayOptions = {}): Promise<Running> {
  return running({
    database: db.url,
    edition: 'standard',
    env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
    ...options,
    functions: { stop: () => ({ kind: 'block', reason: 'stop' }), ...options.functions },
  })
}

const health = (gateway: Running) => async () => (await gateway.call('GET', '/healthz')).status
/** As a load balancer asks, without a token. */
const ready = (gateway: Running) => async () => (await fetch(`${gateway.url}/healthz`)).status
const decide = async (gateway: Running) => (await gateway.dispatch('pre_tool_use', bash)).body.decision

describe('two gateways on one database', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
  })
  afterAll(() => db.drop())

  test('a hook made on one node is enforced by the other, and one deleted is not', async () => {
    const [a, b] = [await node(db), await node(db)]
    expect((await decide(b)).kind).toBe('allow')
    const hookId = await a.hook(stop)
    expect((await decide(a)).kind).toBe('block')
    await expect.poll(() => decide(b), soon).toMatchObject({ kind: 'block', by: hookId })
    await b.call('DELETE', `/v1/hooks/${hookId}`)
    await expect.poll(() => decide(a), soon).toEqual({ kind: 'allow' })
  })

  test('a client on one node learns what kind of thing changed on the other, and of its own tenant only', async () => {
    const [a, b] = [await node(db), await node(db)]
    const other = (await a.call('POST', '/v1/tenants', { name: 'other' })).body.tenantId
    const follow = async (headers: Record<string, string> = {}) => {
      const socket = await socketOf(b, headers)
      expect(await socket.call('changes.tail')).toMatchObject({ ok: true })
      // A hook may change twice: when it is stored, and when this node uses it.
      const kinds = () => [
        ...new Set(
          socket.frames.filter(({ event }) => event === 'change').map(({ payload }) => payload.kind),
        ),
      ]
      return { socket, kinds }
    }
    const [own, others] = [await follow(), await follow({ 'x-hookhelm-tenant': other })]
    const hookId = await a.hook(stop)
    await own.socket.frame(({ payload }) => payload?.kind === 'hooks')
    await a.call('POST', '/v1/tokens', { name: 'ci', role: 'viewer' })
    await own.socket.frame(({ payload }) => payload?.kind === 'tokens')
    // A change of the other tenant arrives there, so everything before it would have arrived too.
    await a.call('PUT', '/v1/secrets/KEY', { value: 'a-secret' }, { 'x-hookhelm-tenant': other })
    await others.socket.frame(({ payload }) => payload?.kind === 'secrets')
    expect(others.kinds()).toEqual(['secrets'])
    expect(own.kinds()).toEqual(['hooks', 'tokens'])
    await a.call('DELETE', `/v1/hooks/${hookId}`)
    await a.call('DELETE', `/v1/tenants/${other}`)
  })

  test('4.8 #115 a breaker that trips on one node is tripped on both, and GC-42 re-enabled on one is cleared on both', async () => {
    let isBroken = true
    const functions = {
      shaky: () => {
        if (isBroken) throw new Error('upstream is down')
      },
    }
    const [a, b] = [await node(db, { functions }), await node(db, { functions })]
    const hookId = await a.hook({ ...stop, config: { name: 'shaky' } })
    await expect.poll(() => decide(b), soon).toMatchObject({ kind: 'block' })
    for (let index = 0; index < 5; index++) await decide(b)
    await expect.poll(() => decide(a), soon).toMatchObject({ kind: 'block', code: 'guard.breaker' })
    expect(await decide(b)).toMatchObject({ code: 'guard.breaker' })
    isBroken = false
    await a.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: true })
    expect(await decide(a)).toEqual({ kind: 'allow' })
    await expect.poll(() => decide(b), soon).toEqual({ kind: 'allow' })
    await a.call('DELETE', `/v1/hooks/${hookId}`)
  })

  test('4.9 #128 what both nodes could deliver is delivered once', async () => {
    const seen: string[] = []
    const functions = {
      note: async (_: never, { envelope }: { envelope: { id?: string } }) => {
        await sleep(2)
        seen.push(envelope.id ?? '')
      },
    }
    const [a, b] = [await node(db, { functions }), await node(db, { functions })]
    await a.hook({ event: 'session_end', handler_type: 'function', config: { name: 'note' } })
    const count = async () => (await b.call('GET', '/v1/hooks?event=session_end')).body.hooks.length
    await expect.poll(count, soon).toBe(1)
    // Until the other node knows the hook too; what it does not know it queues nothing for.
    await expect
      .poll(async () => {
        await b.dispatch('session_end', { reason: 'other' })
        return seen.length
      }, soon)
      .toBeGreaterThan(0)
    const sent = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? a : b).dispatch('session_end', { reason: 'exit' }),
      ),
    )
    const ids = sent.map(({ body }) => body.event_id)
    await expect.poll(() => ids.every((id) => seen.includes(id)), soon).toBe(true)
    const left = async () => (await a.call('GET', '/v1/deliveries')).body.deliveries.length
    await expect.poll(left, soon).toBe(0)
    expect(seen.toSorted()).toEqual([...new Set(seen)].toSorted())
  })
})

describe('a node that is cut off', () => {
  test('definitions that cannot be confirmed for ten seconds: not ready, and status says so, until they are', async () => {
    const db = await freshDatabase()
    onTestFinished(() => db.drop())
    let faulty: FaultyStore<Store> | undefined
    const clock = quickClock(10, Date.now())
    const gateway = await node(db, {
      clock,
      aroundStore(store) {
        faulty = faultyStore(store)
        return faulty.store
      },
    })
    await gateway.hook(stop)
    expect(await health(gateway)()).toBe(200)
    faulty?.plan(failMethods(['definitionChanges'], 'before'))
    await expect.poll(health(gateway), soon).toBe(503)
    const status = await gateway.call('GET', '/v1/status')
    expect(status.body.ready).toBe(false)
    expect(status.body.lines).toContainEqual({
      name: 'definitions',
      state: 'bad',
      text: expect.stringMatching(/^not confirmed for \d\d s: definitionChanges/),
    })
    // What it knows it goes on to enforce.
    expect(await decide(gateway)).toMatchObject({ kind: 'block', reason: 'stop' })
    faulty?.plan()
    await expect.poll(health(gateway), soon).toBe(200)
  })

  test.each(['silent', 'reset'] as const)(
    '4.9 #126 a network that goes %s: no wrong allow, not ready, and all well after it',
    async (mode) => {
      const db = await freshDatabase()
      onTestFinished(() => db.drop())
      const { port } = await sharedServer()
      const proxy = await halfOpenProxy(port)
      onTestFinished(() => proxy.close())
      const clock = quickClock(10, Date.now())
      const gateway = await node({ url: db.url.replace(`:${port}/`, `:${proxy.port}/`) }, { clock })
      await gateway.hook(stop)
      expect(await decide(gateway)).toMatchObject({ kind: 'block', reason: 'stop' })
      proxy.mode(mode)
      const asked = Array.from({ length: 5 }, () => gateway.dispatch('pre_tool_use', bash))
      await expect.poll(ready(gateway), soon).toBe(503)
      proxy.mode('pass')
      for (const answer of await Promise.all(asked)) closed(answer)
      await expect.poll(ready(gateway), soon).toBe(200)
      expect(await decide(gateway)).toMatchObject({ kind: 'block', reason: 'stop' })
    },
  )
})

describe('4.9 #126 PostgreSQL restarts under load', () => {
  let server: PostgresServer
  let db: TestDatabase
  beforeAll(async () => {
    server = await startServer({ binaries: (await sharedServer()).binaries })
    db = await freshDatabase(server)
  })
  afterAll(() => server.remove())

  test.each(['fast', 'immediate'] as const)(
    '4.9 #126 %s: every gate is answered, none allows, and both nodes recover',
    async (how) => {
      const nodes = [await node(db), await node(db)]
      const [a, b] = nodes
      if (a === undefined || b === undefined) throw new Error('two nodes')
      const hookId = await a.hook(stop)
      await expect.poll(() => decide(b), soon).toMatchObject({ kind: 'block' })
      let isOver = false
      const answers: Answer[] = []
      const loops = nodes.flatMap((gateway) =>
        Array.from({ length: 3 }, async () => {
          while (!isOver) answers.push(await gateway.dispatch('pre_tool_use', bash))
        }),
      )
      await expect.poll(() => answers.length, soon).toBeGreaterThan(20)
      await server.stop(how)
      const before = answers.length
      await expect.poll(() => answers.length, soon).toBeGreaterThan(before + 20)
      await server.start()
      for (const gateway of nodes) await expect.poll(ready(gateway), soon).toBe(200)
      isOver = true
      await Promise.all(loops)
      for (const answer of answers) closed(answer)
      for (const gateway of nodes)
        expect(await decide(gateway)).toMatchObject({ kind: 'block', reason: 'stop', by: hookId })
      await a.call('DELETE', `/v1/hooks/${hookId}`)
    },
  )
})

/** Decided by the hook, or closed because nobody could ask the store. */
function closed({ status, body }: Answer): void {
  if (status === 200) expect(body.decision.kind, JSON.stringify(body)).toBe('block')
  else expect(body.error.details.code).toBe('store.unavailable')
}
