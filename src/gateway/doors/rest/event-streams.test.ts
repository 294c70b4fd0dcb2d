import { expect, onTestFinished, test } from 'vitest'
import {
  type GatewayFixture,
  OTHER_TENANT,
  OWN_TENANT,
  startGateway,
} from '../../../../test/gateway/gateway.fixture.ts'
import type { ExecutionRow } from '../../../history/audit-tables.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'

function row(id: string, tenant = OWN_TENANT): ExecutionRow {
  return { id, tenant_id: tenant, hook_id: null, session_id: null, metadata: {} as object } as ExecutionRow
}

interface Stream {
  /** The text up to the next blank line. */
  next(): Promise<string>
  /** Resolves when the gateway ends the stream. */
  readonly ended: Promise<void>
  cancel(): Promise<void>
}

async function openStream({ get }: GatewayFixture, path: string, headers = {}): Promise<Stream> {
  const response = await get(path, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('a stream has a body')
  onTestFinished(() => reader.cancel().catch(() => {}))
  const blocks: string[] = []
  let rest = ''
  const read = async (): Promise<boolean> => {
    const { done, value = '' } = await reader.read()
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    blocks.push(...parts)
    return !done
  }
  return {
    async next() {
      while (blocks.length === 0) if (!(await read())) throw new Error('the stream ended')
      return blocks.shift() ?? ''
    },
    get ended() {
      return (async () => {
        while (await read());
      })()
    },
    cancel: () => reader.cancel(),
  }
}

test.each([
  ['/v1/feed', 'thing'],
  ['/v1/executions/tail', 'execution'],
])(
  'the route %s of a subscription sends %s events, each with the cursor to resume from',
  async (path, name) => {
    const gateway = await startGateway()
    const sent = (id: string) =>
      name === 'execution' ? { ...row(id), hook_name: null, unreadable: false } : row(id)
    gateway.store.executions.push(row('before'))
    const stream = await openStream(gateway, path)
    expect(await stream.next()).toBe('id: 1')
    gateway.store.executions.push(row('1'), row('foreign', OTHER_TENANT), row('2'))
    gateway.recorded()
    expect(await stream.next()).toBe(`event: ${name}\nid: 1\ndata: ${JSON.stringify(sent('1'))}`)
    expect(await stream.next()).toBe(`event: ${name}\nid: 3\ndata: ${JSON.stringify(sent('2'))}`)
  },
)

test('Last-Event-ID resumes a stream and beats the cursor of its URL', async () => {
  const gateway = await startGateway()
  for (const id of ['0', '1', '2']) gateway.store.executions.push(row(id))
  const stream = await openStream(gateway, '/v1/feed?cursor=0', { 'last-event-id': '2' })
  expect(await stream.next()).toBe('id: 2')
  expect(await stream.next()).toContain('"id":"2"')
})

test('a stream is refused like a call: by role, and by parameters', async () => {
  const gateway = await startGateway()
  const agent = { authorization: `Bearer ${gateway.store.addToken({ role: 'agent' })}` }
  expect((await gateway.get('/v1/feed', { headers: agent })).status).toBe(403)
  expect((await gateway.get('/v1/feed?cusror=1')).status).toBe(400)
  expect((await fetch(`${gateway.url}/v1/feed`)).status).toBe(401)
})

test('one page of a subscription is a call by name', async () => {
  const gateway = await startGateway()
  gateway.store.executions.push(row('1'), row('2'))
  const page = await gateway.get('/v1/call/things.feed', {
    method: 'POST',
    body: '{"cursor":"1"}',
    headers: { 'content-type': 'application/json' },
  })
  expect(await page.json()).toEqual({ things: [row('2')], nextCursor: '2' })
})

test('a revoked token ends its streams', async () => {
  const clock = fakeClock()
  const gateway = await startGateway({ clock })
  const token = gateway.store.addToken({ role: 'viewer', name: 'watcher' })
  const stream = await openStream(gateway, '/v1/feed', { authorization: `Bearer ${token}` })
  gateway.store.revoke(token)
  await clock.advance(5_000)
  await stream.ended
  expect(gateway.logged).toContainEqual({ name: 'security.token_revoked', fields: { token: 'watcher' } })
})

test('a gateway that stops ends its streams at once', async () => {
  const gateway = await startGateway()
  const stream = await openStream(gateway, '/v1/feed')
  await stream.next()
  const closed = gateway.server.close(600_000)
  await stream.ended
  await closed
})

test('a client that goes away costs nothing more, and a silent stream is kept alive', async () => {
  const clock = fakeClock()
  const gateway = await startGateway({ clock })
  let reads = 0
  const { tail } = gateway.store
  gateway.store.tail = (...args) => {
    reads += 1
    return tail.apply(gateway.store, args)
  }
  const stream = await openStream(gateway, '/v1/feed')
  await stream.next()
  await clock.advance(20_000)
  expect(await stream.next()).toBe(': keep-alive')
  await stream.cancel()
  // The gateway notices when the connection closes; from then on no look of a second reads the store.
  await expect
    .poll(async () => {
      const before = reads
      await clock.advance(1_000)
      return reads - before
    })
    .toBe(0)
})

test('a client that does not read is cut off', async () => {
  const gateway = await startGateway()
  const stream = await openStream(gateway, '/v1/feed?cursor=0')
  const bulky = { ...row('1'), error: 'x'.repeat(500_000) }
  for (let count = 0; count < 200; count += 1) gateway.store.executions.push(bulky as ExecutionRow)
  gateway.recorded()
  await stream.ended
})
