import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { masterToken, OTHER_TENANT, startGateway, toolCall } from '../../test/gateway/gateway.fixture.ts'
import { scratch, startSocket } from '../../test/gateway/socket.fixture.ts'
import { retryAfterOf } from '../engine/core/time/retry-after.ts'
import type { Dispatcher } from '../gateway/dispatch.ts'
import { pendingLine } from '../gateway/doors/socket/line-protocol.ts'
import type { ExecutionRow } from '../history/audit-tables.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { type Client, type ClientOptions, createClient } from './client.ts'

function open(options: ClientOptions): Client {
  const client = createClient(options)
  onTestFinished(() => client.close())
  return client
}

const never: Dispatcher = { dispatch: () => new Promise(() => {}) }

describe.each([
  {
    way: 'HTTP',
    start: async (options: Parameters<typeof startGateway>[0] = {}) => {
      const { url, token } = await startGateway(options)
      return { url, token }
    },
    nobody: () => ({ url: 'http://127.0.0.1:1', token: 'x' }),
  },
  {
    way: 'the unix socket',
    start: async (options: Parameters<typeof startGateway>[0] = {}) => ({
      socket: (await startSocket(options)).path,
    }),
    nobody: () => ({ socket: join(scratch(), 'none.sock') }),
  },
])('over $way', ({ start, nobody }) => {
  test('an event is decided', async () => {
    const client = open(await start())
    expect(await client.dispatch(toolCall)).toMatchObject({ eventId: 'event-1', decision: { kind: 'block' } })
    const many = await Promise.all(Array.from({ length: 50 }, () => client.dispatch(toolCall)))
    expect(new Set(many.map(({ eventId }) => eventId)).size).toBe(50)
  })

  test('a refusal is the error it was there', async () => {
    const client = open(await start())
    await expect(client.dispatch({ event: 'pre_tol_use', payload: {} })).rejects.toMatchObject({
      name: 'HookError',
      code: 'input.unknown_event',
      hint: expect.stringContaining('pre_tool_use'),
    })
  })

  test('how long to wait comes along', async () => {
    const client = open(await start({ settings: { rate_limit: { per_second: 1, burst: 1 } } }))
    await client.dispatch(toolCall)
    const refused = await client.dispatch(toolCall).catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({ code: 'gateway.rate_limited' })
    expect(retryAfterOf(refused)).toBeGreaterThan(0)
  })

  test('a gate that nobody answers is closed: no gateway, too late, refused', async () => {
    const block = (code: string) => ({
      kind: 'block',
      code,
      reason: expect.stringContaining('no decision'),
    })
    expect(await open(nobody()).decide(toolCall)).toMatchObject(block('gateway.unreachable'))
    const clock = fakeClock()
    const slow = open({ ...(await start({ dispatcher: never })), clock, timeoutMs: 500 })
    const late = slow.decide(toolCall)
    await clock.advance(500)
    expect(await late).toMatchObject(block('gateway.unreachable'))
    const limited = open(await start({ settings: { rate_limit: { per_second: 1, burst: 1 } } }))
    expect(await limited.decide(toolCall)).toMatchObject({ kind: 'block', reason: 'no' })
    expect(await limited.decide(toolCall)).toMatchObject(block('gateway.rate_limited'))
  })

  test('whoever no longer waits says so with a signal', async () => {
    const client = open(await start({ dispatcher: never }))
    const controller = new AbortController()
    const waiting = client.dispatch(toolCall, { signal: controller.signal })
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'engine.aborted' })
    await expect(client.dispatch(toolCall, { signal: controller.signal })).rejects.toMatchObject({
      code: 'engine.aborted',
    })
  })

  test('an answer that is no decision does not pass', async () => {
    const dispatcher: Dispatcher = {
      dispatch: async () => ({
        eventId: 'e',
        decision: { kind: 'allow' },
        json: '{"event_id":"e","decision":{}}',
      }),
    }
    expect(await open(await start({ dispatcher })).decide(toolCall)).toMatchObject({
      kind: 'block',
      code: 'gateway.internal',
    })
  })
})

test('methods are called by name, for the tenant that is named', async () => {
  const { url, store, token } = await startGateway()
  // The fixture has methods of its own; only their names are unknown to the types.
  const call = (client: Client, name: string, params: unknown) =>
    client.call(name as 'status', params as never)
  const own = open({ url, token })
  expect(await call(own, 'things.echo', { thingId: '1' })).toMatchObject({ tenant: 'tenant-a' })
  await expect(call(own, 'things.echo', {})).rejects.toMatchObject({ code: 'gateway.request', at: 'thingId' })
  const master = open({ url, token: store.addToken(masterToken), tenant: 'globex' })
  expect(await call(master, 'things.echo', { thingId: '1' })).toMatchObject({ tenant: OTHER_TENANT })
  await expect(call(open({ url, token: 'wrong' }), 'things.echo', {})).rejects.toMatchObject({
    code: 'auth.token',
  })
})

test('something that is no gateway is as good as none', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 502 Bad\r\nContent-Length: 4\r\nContent-Type: text/html\r\n\r\noops')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(open({ url: `http://127.0.0.1:${port}` }).dispatch(toolCall)).rejects.toMatchObject({
    code: 'gateway.unreachable',
  })
})

test('a lost socket fails what was under way and is opened again for what comes next', async () => {
  const path = join(scratch(), 'run', 'gateway.sock')
  const first = await startSocket({ path, dispatcher: never })
  const client = open({ socket: path })
  const lost = client.dispatch(toolCall)
  const failed = expect(lost).rejects.toMatchObject({ code: 'gateway.unreachable' })
  await expect.poll(() => first.door.capacity.inFlight).toBe(1)
  await first.server.close(1)
  await failed
  await startSocket({ path })
  expect(await client.dispatch(toolCall)).toMatchObject({ decision: { kind: 'block' } })
})

test('while a person decides the deadline moves, no further than the caller waits', async () => {
  const clock = fakeClock()
  const path = join(scratch(), 'person.sock')
  const { promise: asked, resolve: ask } = Promise.withResolvers<(line: string) => void>()
  const server = createServer((socket) => {
    socket.on('data', () => ask((line) => socket.write(line)))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  const client = open({ socket: path, clock, timeoutMs: 1_000 })
  const decided = client.decide(toolCall, { waitMs: 60_000 })
  const write = await asked
  write(pendingLine(1, 'asked the owner', clock.now() + 600_000))
  // An answer to another request behind it: once that one is there, the line before it was read.
  const other = client.dispatch(toolCall)
  write('{"id":2,"event_id":"e2","decision":{"kind":"allow"}}\n')
  await other
  await clock.advance(59_000)
  write('{"id":1,"event_id":"e","decision":{"kind":"allow"}}\n')
  expect(await decided).toEqual({ kind: 'allow' })
  const late = client.decide(toolCall, { waitMs: 60_000 })
  write(pendingLine(3, 'asked the owner', clock.now() + 600_000))
  const last = client.dispatch(toolCall)
  write('{"id":4,"event_id":"e4","decision":{"kind":"allow"}}\n')
  await last
  await clock.advance(60_001)
  expect(await late).toMatchObject({ kind: 'block', code: 'gateway.unreachable' })
})

describe('a subscription', () => {
  const row = (id: string) =>
    ({ id, tenant_id: 'tenant-a', hook_id: null, session_id: null, metadata: {} as object }) as ExecutionRow

  test('yields executions as they are recorded, and goes on from its cursor after a loss', async () => {
    const gateway = await startGateway()
    const clock = fakeClock()
    const { port } = gateway
    const stop = new AbortController()
    const client = open({ url: gateway.url, token: gateway.token, clock })
    const tail = client.subscribe('executions.tail', { cursor: '0' }, { signal: stop.signal })
    gateway.store.executions.push(row('1'))
    expect((await tail.next()).value).toMatchObject({ item: { id: '1' }, cursor: '1' })
    const next = tail.next()
    await gateway.server.close(1)
    const again = await startGateway({ port, store: gateway.store })
    again.store.executions.push(row('2'))
    await expect
      .poll(async () => {
        await clock.advance(10_000)
        return again.store.tokenLookups
      })
      .toBeGreaterThan(1)
    expect((await next).value).toMatchObject({ item: { id: '2' }, cursor: '2' })
    stop.abort()
    expect(await tail.next()).toMatchObject({ done: true })
  })

  test('ends with the error when it is refused for good', async () => {
    const gateway = await startGateway()
    const wrong = open({ url: gateway.url, token: 'wrong' })
    await expect(wrong.subscribe('executions.tail', {}).next()).rejects.toMatchObject({ code: 'auth.token' })
    const agent = open({ url: gateway.url, token: gateway.store.addToken({ role: 'agent' }) })
    await expect(agent.subscribe('executions.tail', {}).next()).rejects.toMatchObject({ code: 'auth.scope' })
  })
})
