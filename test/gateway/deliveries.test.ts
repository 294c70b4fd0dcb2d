import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { hookhelm } from './doors.fixture.ts'
import { type Running, running, shared } from './running.fixture.ts'

/** Path → the statuses it answers with, one after the other; then 200. */
const script = new Map<string, number[]>()
const received: { readonly path: string; readonly id: unknown; readonly body: string }[] = []
let server: Server
let origin = ''
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const path = request.url ?? ''
    received.push({ path, id: request.headers['webhook-id'], body: Buffer.concat(chunks).toString() })
    response.writeHead(script.get(path)?.shift() ?? 200).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const inside = { outbound: { allow: ['127.0.0.1'] } }
const gateway = shared(() => inside)

const webhook = (path: string) => ({
  event: 'post_tool_use',
  handler_type: 'http',
  config: { url: `${origin}${path}` },
})
const done = { tool_name: 'exec', tool_input: {}, tool_response: 'ok' }
const at = (path: string) => received.filter((one) => one.path === path)

interface Row {
  readonly retry: number
  readonly dedup_key: string
  readonly decision: string
}

async function rowsOf(running: Running, eventId: string): Promise<Row[]> {
  const { body } = await running.call('GET', `/v1/executions?eventId=${eventId}`)
  return body.executions.toSorted((a: Row, b: Row) => a.retry - b.retry)
}

const deadOnes = async () => (await gateway().call('GET', '/v1/deliveries?state=dead')).body.deliveries

test('GC-1 GC-37 a non-blocking event is answered with allow at once, and its webhook is called once after it', async () => {
  const hookId = await gateway().hook(webhook('/once'))
  const { body } = await gateway().dispatch('post_tool_use', done)
  expect(body.decision).toEqual({ kind: 'allow' })
  await gateway().until(
    () => rowsOf(gateway(), body.event_id),
    (rows) => rows.length === 1,
  )
  expect(at('/once')).toHaveLength(1)
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})

test('GC-93 GC-96 4.9 #130 each attempt of a delivery has a row with its number, and the receiver sees one webhook id', async () => {
  const clock = fakeClock(Date.UTC(2026, 5, 1))
  const own = await running({ ...inside, clock })
  // Not tried again by the handler itself, as a 5xx would be.
  script.set('/flaky', [429, 408])
  const hookId = await own.hook({ ...webhook('/flaky'), timeout_ms: 10_000 })
  const { body } = await own.dispatch('post_tool_use', done)
  const rows = async (count: number) =>
    own.until(
      async () => {
        // Far between two attempts, and only a little while one is under way.
        await clock.advance(at('/flaky').length < count ? 200 : 10)
        return rowsOf(own, body.event_id)
      },
      (found) => found.length === count,
    )
  for (const count of [1, 2]) await rows(count)
  const key = `${hookId}:${body.event_id}`
  expect(await rows(3)).toMatchObject([
    { retry: 0, decision: 'error', dedup_key: key },
    { retry: 1, decision: 'error', dedup_key: `${key}:2` },
    { retry: 2, decision: 'allow', dedup_key: `${key}:3` },
  ])
  expect(new Set(at('/flaky').map(({ id }) => id)).size).toBe(1)
  expect(new Set(at('/flaky').map((one) => one.body)).size).toBe(1)
  await own.until(
    () => own.call('GET', '/v1/deliveries'),
    (answer) => answer.body.deliveries.length === 0,
  )
})

test('4.5 #90 4.9 #130 a receiver that refuses makes a dead letter, which is replayed over the API', async () => {
  script.set('/refuses', [410])
  const hookId = await gateway().hook(webhook('/refuses'))
  const { body } = await gateway().dispatch('post_tool_use', done)
  const [dead] = await gateway().until(deadOnes, (rows) => rows.length === 1)
  expect(dead).toMatchObject({ state: 'dead', attempts: 1, dedup_key: `${hookId}:${body.event_id}` })
  expect(dead.last_error).toContain('410')
  expect(gateway().logged.map(({ name }) => name)).toContain('delivery.dead')
  const status = await gateway().call('GET', '/v1/status')
  expect(status.body.deadDeliveries).toEqual({ count: 1, more: false })
  const replay = await gateway().call('POST', '/v1/deliveries/replay', { ids: [dead.id] })
  expect(replay.body).toEqual({ replayed: 1 })
  await gateway().until(
    async () => at('/refuses'),
    (calls) => calls.length === 2,
  )
  await gateway().until(deadOnes, (rows) => rows.length === 0)
  expect((await gateway().call('POST', '/v1/deliveries/replay', { ids: [dead.id] })).body).toEqual({
    replayed: 0,
  })
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})

test('4.9 #130 dead letters are listed and replayed on the command line', async () => {
  script.set('/refuses-twice', [400, 400])
  const hookId = await gateway().hook(webhook('/refuses-twice'))
  await gateway().dispatch('post_tool_use', done)
  await gateway().dispatch('post_tool_use', done)
  const dead = await gateway().until(deadOnes, (rows) => rows.length === 2)
  const listed = await hookhelm(gateway(), ['deliveries', 'list', '--state', 'dead', '--json'])
  expect(JSON.parse(listed.stdout).deliveries).toEqual(dead)
  const replayed = await hookhelm(gateway(), ['deliveries', 'replay', '--all', '--json'])
  expect(JSON.parse(replayed.stdout)).toEqual({ replayed: 2 })
  await gateway().until(
    async () => at('/refuses-twice'),
    (calls) => calls.length === 4,
  )
  await gateway().until(deadOnes, (rows) => rows.length === 0)
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})

test('a command that observes is not run a second time when it fails', async () => {
  const hookId = await gateway().hook({
    event: 'post_tool_use',
    handler_type: 'command',
    config: { command: 'exit 1' },
  })
  const { body } = await gateway().dispatch('post_tool_use', done)
  const rows = await gateway().until(
    () => rowsOf(gateway(), body.event_id),
    (found) => found.length === 1,
  )
  expect(rows).toMatchObject([{ retry: 0, decision: 'error' }])
  await gateway().until(
    () => gateway().call('GET', '/v1/deliveries'),
    (answer) => answer.body.deliveries.length === 0,
  )
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})

test('a webhook that observes sees the event as it happened, whatever a transformer made of its answer', async () => {
  const source = `function handle() { return { decision: 'allow', updatedInput: 'shortened' } }`
  const script = { event: 'post_tool_use', handler_type: 'script', transform: true, config: { source } }
  const ids = [await gateway().hook(script), await gateway().hook(webhook('/observes'))]
  const { body } = await gateway().dispatch('post_tool_use', done)
  expect(body.decision).toMatchObject({ kind: 'allow', input: 'shortened' })
  await gateway().until(
    async () => at('/observes'),
    (calls) => calls.length === 1,
  )
  expect(JSON.parse(at('/observes')[0]?.body ?? '')).toMatchObject(done)
  for (const id of ids) await gateway().call('DELETE', `/v1/hooks/${id}`)
})

test('what is queued when the gateway ends is delivered after the next start', async () => {
  const clock = fakeClock(Date.UTC(2026, 5, 1))
  const first = await running({ ...inside, clock })
  script.set('/later', [500, 500])
  await first.hook(webhook('/later'))
  await first.dispatch('post_tool_use', done)
  await first.until(
    async () => {
      // The handler tries again after a second of the gateway's clock.
      await clock.advance(at('/later').length === 1 ? 100 : 0)
      return at('/later')
    },
    (calls) => calls.length === 2,
  )
  await first.until(
    () => first.call('GET', '/v1/deliveries'),
    (answer) => answer.body.deliveries[0]?.state === 'waiting' && answer.body.deliveries[0]?.attempts === 1,
  )
  await first.close()
  clock.stall(60_000)
  const second = await running({ ...inside, clock, home: first.home })
  await second.until(
    async () => at('/later'),
    (calls) => calls.length === 3,
  )
  await second.until(
    () => second.call('GET', '/v1/deliveries'),
    (answer) => answer.body.deliveries.length === 0,
  )
})
