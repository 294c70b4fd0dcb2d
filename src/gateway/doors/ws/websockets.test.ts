import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { OTHER_TENANT, startGateway, toolCall } from '../../../../test/gateway/gateway.fixture.ts'
import { openWs } from '../../../../test/gateway/ws-client.fixture.ts'
import { MASTER_TENANT } from '../../../access/tenant-tables.ts'
import { schema } from '../../../engine/core/schema/schema.ts'
import { defineCall, type Method } from '../../../methods/method.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import type { Dispatcher } from '../../dispatch.ts'

test('GC-108 the first frame says which protocol and methods there are', async () => {
  const { url, token } = await startGateway()
  const client = await openWs(url, token)
  expect(await client.next()).toMatchObject({
    type: 'event',
    event: 'hello',
    payload: {
      protocol: 3,
      server: 'hookhelm',
      version: '0.0.0-test',
      methods: expect.arrayContaining(['dispatch', 'things.echo', 'executions.tail', 'executions.untail']),
    },
  })
})

test('GC-108 a request is answered with its id, its payload or its error', async () => {
  const { url, token } = await startGateway()
  const client = await openWs(url, token)
  await client.next()
  client.send({ type: 'req', id: '1', method: 'things.echo', params: { thingId: 'x' } })
  expect(await client.next()).toEqual({
    type: 'res',
    id: '1',
    ok: true,
    payload: { tenant: 'tenant-a', params: { thingId: 'x' } },
  })
  client.send({ type: 'req', id: 2, method: 'things.echo', params: {} })
  expect(await client.next()).toMatchObject({
    type: 'res',
    id: 2,
    ok: false,
    error: { code: 'INVALID_REQUEST', message: 'thingId is required', details: { code: 'gateway.request' } },
  })
  expect(await client.call('dispatch', toolCall)).toMatchObject({
    ok: true,
    payload: { event_id: 'event-1', decision: { kind: 'block', reason: 'no' } },
  })
  expect(await client.call('dispatch', { event: 'pre_tol_use' })).toMatchObject({
    error: { code: 'INVALID_REQUEST', details: { code: 'input.unknown_event' } },
  })
})

test('a call that waits for a person takes no capacity', async () => {
  const allowed = { json: '{"event_id":"e","decision":{"kind":"allow"}}' }
  const dispatcher: Dispatcher = {
    async dispatch(_caller, request, context) {
      if (request.within_ms === undefined) return allowed as never
      context?.wait?.onPending({ approvalId: 'a', untilMs: 60_000, leave: () => {} })
      return new Promise(() => {})
    },
  }
  const { url, token } = await startGateway({ dispatcher, maxInFlight: 1 })
  const client = await openWs(url, token)
  await client.next()
  client.send({ type: 'req', id: 'held', method: 'dispatch', params: { ...toolCall, within_ms: 60_000 } })
  expect(await client.call('dispatch', toolCall)).toMatchObject({
    ok: true,
    payload: { decision: { kind: 'allow' } },
  })
})

test('the address names the tenant for a master token, and for no other', async () => {
  const { url, store } = await startGateway()
  const master = store.addToken({ role: 'owner', tenant_id: MASTER_TENANT })
  const client = await openWs(url, master, `?tenant=${OTHER_TENANT}`)
  await client.next()
  expect(await client.call('things.echo', { thingId: 'x' })).toMatchObject({
    payload: { tenant: OTHER_TENANT },
  })
  const own = store.addToken({ role: 'owner' })
  await expect(openWs(url, own, `?tenant=${OTHER_TENANT}`)).rejects.toThrow('403')
})

test('GC-109 4.10 #143 a role too low is UNAUTHORIZED; an agent may only dispatch', async () => {
  const { url, store } = await startGateway()
  const agent = await openWs(url, store.addToken({ role: 'agent' }))
  await agent.next()
  for (const name of ['things.echo', 'things.change', 'executions.tail']) {
    expect(await agent.call(name, {})).toMatchObject({
      error: { code: 'UNAUTHORIZED', details: { code: 'auth.scope' } },
    })
  }
  expect(await agent.call('dispatch', toolCall)).toMatchObject({ ok: true })
  const viewer = await openWs(url, store.addToken({ role: 'viewer' }))
  await viewer.next()
  expect(await viewer.call('things.echo', { thingId: '1' })).toMatchObject({ ok: true })
  expect(await viewer.call('things.change', { thingId: '1', name: 'n' })).toMatchObject({
    error: { code: 'UNAUTHORIZED' },
  })
})

test('what nobody understands is answered and the connection lives, up to a point', async () => {
  const { url, token } = await startGateway()
  const client = await openWs(url, token)
  await client.next()
  client.send('{"type":')
  expect(await client.next()).toMatchObject({ id: null, error: { details: { code: 'input.json' } } })
  client.send({ type: 'hello', id: 'h' })
  expect(await client.next()).toMatchObject({ id: 'h', error: { details: { code: 'gateway.protocol' } } })
  client.send({ type: 'req', method: 'things.echo' })
  expect(await client.next()).toMatchObject({
    id: null,
    error: { details: { code: 'gateway.protocol', at: 'id' } },
  })
  client.ws.send(Buffer.from('{}'), { binary: true })
  expect(await client.next()).toMatchObject({ id: null, error: { details: { code: 'gateway.protocol' } } })
  expect(await client.call('things.ehco')).toMatchObject({
    error: {
      code: 'INVALID_REQUEST',
      details: { code: 'gateway.request', hint: 'Did you mean things.echo?' },
    },
  })
  expect(await client.call('things.echo', { thingId: '1' })).toMatchObject({ ok: true })
  for (let count = 0; count < 20; count += 1) client.send('garbage')
  expect(await client.closed).toMatchObject({ code: 1008 })
})

test('M15 a frame over 1 MiB closes 1009', async () => {
  const { url, token } = await startGateway()
  const client = await openWs(url, token)
  client.ws.send('x'.repeat(1_048_577))
  expect(await client.closed).toMatchObject({ code: 1009 })
})

test('a connection works on 64 requests at once, keeps 256, and refuses more', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let most = 0
  let now = 0
  const dispatcher: Dispatcher = {
    async dispatch() {
      now += 1
      most = Math.max(most, now)
      await answered
      now -= 1
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{}' }
    },
  }
  const { url, token } = await startGateway({ dispatcher })
  const client = await openWs(url, token)
  await client.next()
  for (let id = 0; id < 64 + 256 + 5; id += 1)
    client.send({ type: 'req', id, method: 'dispatch', params: toolCall })
  for (let id = 320; id < 325; id += 1) {
    expect(await client.next()).toMatchObject({
      id,
      error: { code: 'RESOURCE_EXHAUSTED', retryable: true, details: { code: 'gateway.busy' } },
    })
  }
  answer()
  const ids = new Set<unknown>()
  for (let count = 0; count < 320; count += 1) ids.add((await client.next()).id)
  expect(ids.size).toBe(320)
  expect(most).toBe(64)
})

const bulky: Method = defineCall({
  name: 'things.bulk',
  about: 'Much.',
  role: 'viewer',
  params: schema.object({}),
  result: schema.text(),
  rest: { verb: 'GET', path: '/v1/bulk' },
  needs: [],
  run: async () => 'x'.repeat(900_000),
})

test('4.10 #140 whoever does not read is closed with 1013; others are not affected', async () => {
  const { url, token, dispatch } = await startGateway({ methods: [bulky] })
  const slow = await openWs(url, token)
  const other = await openWs(url, token)
  await other.next()
  slow.ws.pause()
  for (let id = 0; id < 40; id += 1) slow.send({ type: 'req', id, method: 'things.bulk', params: {} })
  expect(await other.call('dispatch', toolCall)).toMatchObject({ ok: true })
  expect((await dispatch(toolCall)).status).toBe(200)
  slow.ws.resume()
  expect(await slow.closed).toMatchObject({ code: 1013 })
  expect(await other.call('things.echo', { thingId: '1' })).toMatchObject({ ok: true })
})

test('a token that was revoked or ran out closes 1008 within 5 s', async () => {
  const clock = fakeClock()
  const { url, store, logged } = await startGateway({ clock })
  const revoked = store.addToken({})
  const expiring = store.addToken({ expires_at: clock.now() + 3_000 })
  const staying = await openWs(url, store.addToken({}))
  const clients = [await openWs(url, revoked), await openWs(url, expiring)]
  store.revoke(revoked)
  for (let second = 0; second < 5; second += 1) await clock.advance(1_000)
  for (const client of clients) expect(await client.closed).toMatchObject({ code: 1008 })
  expect(logged.filter(({ name }) => name === 'security.token_revoked')).toHaveLength(2)
  await staying.next()
  expect(await staying.call('things.echo', { thingId: '1' })).toMatchObject({ ok: true })
})

test('whoever does not answer a ping is gone', async () => {
  const clock = fakeClock()
  const { port, host, token } = await startGateway({ clock })
  const socket = connect(port, '127.0.0.1')
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  )
  await new Promise((resolve) => socket.once('data', resolve))
  await clock.advance(20_000)
  expect(socket.destroyed).toBe(false)
  await clock.advance(20_000)
  await ended
})

test('ending answers what is under way, then closes 1001', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const dispatcher: Dispatcher = {
    async dispatch() {
      reach()
      await answered
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{"event_id":"e"}' }
    },
  }
  const { url, token, server } = await startGateway({ dispatcher })
  const idle = await openWs(url, token)
  const busy = await openWs(url, token)
  await busy.next()
  busy.send({ type: 'req', id: 'last', method: 'dispatch', params: toolCall })
  await reached
  const closed = server.close(5_000)
  expect(await idle.closed).toMatchObject({ code: 1001 })
  answer()
  expect(await busy.next()).toMatchObject({ id: 'last', ok: true })
  expect(await busy.closed).toMatchObject({ code: 1001 })
  await closed
})
