import { expect, test } from 'vitest'
import { as, socketOf, tokenFor } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { type Running, running } from './running.fixture.ts'

const functions = { pass: () => undefined }
const hook = { event: 'pre_tool_use', handler_type: 'function', config: { name: 'pass' } }

async function recorded(gateway: Running): Promise<Set<string>> {
  const ids = new Set<string>()
  let cursor = ''
  do {
    const { body } = await gateway.call('GET', `/v1/executions?limit=200&cursor=${cursor}`)
    for (const { event_id } of body.executions) ids.add(event_id)
    cursor = body.nextCursor
  } while (cursor !== '')
  return ids
}

test('4.8 #117 of ten thousand events at once, each is decided and recorded or told to come later', async () => {
  const gateway = await running({ functions })
  await gateway.hook(hook)
  const socket = await socketOf(gateway)
  const COUNT = 10_000
  for (let id = 0; id < COUNT; id++)
    socket.raw(
      JSON.stringify({
        type: 'req',
        id,
        method: 'dispatch',
        params: { event: 'pre_tool_use', payload: exec('ls') },
      }),
    )
  await gateway.until(
    async () => socket.frames.length,
    (count) => count === COUNT + 1,
  )
  const answers = socket.frames.slice(1)
  const decided = answers.filter(({ ok }) => ok)
  const refused = answers.filter(({ ok }) => !ok)
  expect(decided.length).toBeGreaterThan(0)
  for (const { error } of refused)
    expect(error).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      retryable: true,
      retryAfterMs: expect.any(Number),
    })
  const rows = await gateway.until(
    () => recorded(gateway),
    ({ size }) => size >= decided.length,
  )
  expect(rows).toEqual(new Set(decided.map(({ payload }) => payload.event_id)))
})

test('4.8 #117 beyond its rate a tenant gets 429 with Retry-After, and another tenant none', async () => {
  const gateway = await running({ functions, edition: 'standard' })
  await gateway.call('POST', '/v1/tenants', { name: 'other' })
  const { token } = await tokenFor(gateway, { role: 'agent' }, 'other')
  const limit = { settings: { rate_limit: { per_second: 1, burst: 20 } } }
  expect((await gateway.call('PATCH', '/v1/settings', limit)).status).toBe(200)
  await gateway.hook(hook)
  const send = (headers = {}) =>
    gateway.call('POST', '/v1/dispatch', { event: 'pre_tool_use', payload: exec('ls') }, headers)
  const answers = await Promise.all(Array.from({ length: 60 }, () => send()))
  const good = answers.filter(({ status }) => status === 200)
  expect(good.length).toBeGreaterThanOrEqual(20)
  expect(good.length).toBeLessThan(60)
  for (const { status, headers, body } of answers.filter((answer) => answer.status !== 200)) {
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(body.error).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      details: { code: 'gateway.rate_limited' },
    })
  }
  const others = await Promise.all(Array.from({ length: 30 }, () => send(as(token))))
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]))
  const rows = await gateway.until(
    () => recorded(gateway),
    ({ size }) => size >= good.length,
  )
  expect(rows).toEqual(new Set(good.map(({ body }) => body.event_id)))
})
