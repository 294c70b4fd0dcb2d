import { expect, test } from 'vitest'
import { OTHER_TENANT, toolCall } from '../../../../test/gateway/gateway.fixture.ts'
import { openLines, startSocket } from '../../../../test/gateway/socket.fixture.ts'
import { type Caller, callerWithoutToken, localCaller } from '../../../access/caller.ts'
import { OWNER_MEMBER } from '../../../access/tenant-tables.ts'
import { newToken } from '../../../safe/secrets/token.ts'
import type { Dispatcher } from '../../dispatch.ts'
import { pendingLine } from './line-protocol.ts'

test('an event on a line is answered on a line, with its id', async () => {
  const { path } = await startSocket()
  const client = openLines(path)
  client.send({ id: 'a', ...toolCall })
  expect(await client.next()).toMatchObject({ id: 'a', event_id: 'event-1', decision: { kind: 'block' } })
  client.send({ id: 7, ...toolCall, envelope: { id: 'mine' }, trace: false, idempotency_key: 'k' })
  expect(await client.next()).toMatchObject({ id: 7, event_id: 'mine' })
})

test('requests sent together are answered as they finish, however the bytes are cut', async () => {
  const held = new Map<string, () => void>()
  const dispatcher: Dispatcher = {
    async dispatch(_, { envelope }) {
      await new Promise<void>((resolve) => held.set(envelope?.id ?? '', resolve))
      return {
        eventId: 'e',
        decision: { kind: 'allow' },
        json: '{"event_id":"e","decision":{"kind":"allow"}}',
      }
    },
  }
  const { path, door } = await startSocket({ dispatcher })
  const client = openLines(path)
  const text = ['1', '2', '3']
    .map((id) => `${JSON.stringify({ id, ...toolCall, envelope: { id } })}\n`)
    .join('')
  for (const byte of text) client.socket.write(byte)
  await expect.poll(() => held.size).toBe(3)
  for (const id of ['3', '1', '2']) {
    held.get(id)?.()
    expect(await client.next()).toMatchObject({ id, decision: { kind: 'allow' } })
  }
  expect(door.capacity.inFlight).toBe(0)
})

test('without a token it speaks for the default tenant as an agent, with one for whom it names', async () => {
  const callers: Caller[] = []
  const dispatcher: Dispatcher = {
    async dispatch(caller) {
      callers.push(caller)
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{"event_id":"e"}' }
    },
  }
  const { path, store } = await startSocket({ dispatcher })
  const anybody = openLines(path)
  anybody.send({ id: 1, ...toolCall })
  await anybody.next()
  const token = store.addToken({ tenant_id: OTHER_TENANT, role: 'agent', agent_id: 'agent-1', name: 'bot' })
  const known = openLines(path, { hookhelm: 1, token })
  known.send({ id: 1, ...toolCall })
  known.send({ id: 2, ...toolCall })
  expect([await known.next(), await known.next()]).toMatchObject([{ id: 1 }, { id: 2 }])
  expect(callers).toEqual([
    localCaller('tenant-a'),
    ...Array(2).fill({
      ...callerWithoutToken(OTHER_TENANT, 'bot'),
      ...{ id: token, member: OWNER_MEMBER, agentId: 'agent-1' },
    }),
  ])
})

test.each([
  ['another version', { hookhelm: 2 }, 'gateway.protocol'],
  ['no version', { id: 1, ...toolCall }, 'gateway.protocol'],
  ['garbage', 'GET / HTTP/1.1', 'input.json'],
  ['a wrong token', { hookhelm: 1, token: newToken() }, 'auth.token'],
])('%s in the first line is one error line, then the end', async (_, hello, code) => {
  const { path } = await startSocket()
  const client = openLines(path, hello)
  expect(await client.next()).toMatchObject({ id: null, error: { code, hint: expect.any(String) } })
  await client.closed
})

test.each([
  ['garbage', '{"id":', 'input.json'],
  ['a line without an id', toolCall, 'gateway.request'],
  ['a line over 1 MiB', 'x'.repeat(1_048_577), 'input.too_large'],
])('%s is one error line, then the end', async (_, line, code) => {
  const { path } = await startSocket()
  const client = openLines(path)
  client.send(line)
  expect(await client.next()).toMatchObject({ id: null, error: { code } })
  await client.closed
})

test('what can be named by its id is refused and the connection lives', async () => {
  const { path } = await startSocket({ settings: { rate_limit: { per_second: 1, burst: 3 } } })
  const client = openLines(path)
  client.send({ id: 1, event: 'pre_tol_use', payload: {} })
  expect(await client.next()).toMatchObject({ id: 1, error: { code: 'input.unknown_event' } })
  client.send({ id: 2, method: 'hooks.list' })
  expect(await client.next()).toMatchObject({ id: 2, error: { code: 'gateway.request', at: 'method' } })
  client.send({ id: 3, ...toolCall })
  expect(await client.next()).toMatchObject({ id: 3, decision: { kind: 'block' } })
  client.send({ id: 4, ...toolCall })
  expect(await client.next()).toMatchObject({
    id: 4,
    error: { code: 'gateway.rate_limited', retry_after_ms: expect.any(Number) },
  })
})

test('while a person decides a line says until when', () => {
  expect(pendingLine('1', 'asked the owner', 1_000)).toBe(
    '{"id":"1","pending":"asked the owner","until_ms":1000}\n',
  )
})

test('whoever goes away aborts what is under way', async () => {
  const { promise, resolve } = Promise.withResolvers<AbortSignal | undefined>()
  const dispatcher: Dispatcher = {
    dispatch(_caller, _request, how) {
      resolve(how?.signal)
      return new Promise(() => {})
    },
  }
  const { path } = await startSocket({ dispatcher })
  const client = openLines(path)
  client.send({ id: 1, ...toolCall })
  const signal = await promise
  const aborted = new Promise((done) => signal?.addEventListener('abort', done))
  client.socket.destroy()
  await aborted
})

test('ending answers what is under way, then closes', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const dispatcher: Dispatcher = {
    async dispatch() {
      reach()
      await answered
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{"event_id":"e"}' }
    },
  }
  const { path, server } = await startSocket({ dispatcher })
  const client = openLines(path)
  client.send({ id: 1, ...toolCall })
  await reached
  const closed = server.close(5_000)
  answer()
  expect(await client.next()).toEqual({ id: 1, event_id: 'e' })
  await client.closed
  await closed
})
