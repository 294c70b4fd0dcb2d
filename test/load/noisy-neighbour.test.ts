import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tokenFor } from '../gateway/doors.fixture.ts'
import { running } from '../gateway/running.fixture.ts'
import { type Sent, sender } from './sending.fixture.ts'

const bash = { tool_name: 'Bash', tool_input: {} }

/** Beyond the bound: told to wait, and for how long. */
function refused({ status, retryAfter, body }: Sent): void {
  expect(status).toBe(429)
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(1)
  expect(body.error).toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    retryable: true,
    details: { code: 'gateway.rate_limited' },
  })
}

test('4.10 #142 a tenant at its rate limit is told to wait, and its neighbour is served as ever', async () => {
  const gateway = await running({
    edition: 'standard',
    functions: {
      loud: () => ({ kind: 'block', reason: 'of loud' }),
      quiet: () => ({ kind: 'block', reason: 'of quiet' }),
    },
  })
  const join = async (name: string) => {
    const headers = { 'x-hookhelm-tenant': name }
    await gateway.call('POST', '/v1/tenants', { name })
    const hook = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant', config: { name } }
    expect((await gateway.call('POST', '/v1/hooks', hook, headers)).status).toBe(200)
    return (await tokenFor(gateway, { role: 'agent' }, name)).token
  }
  const [loud, quiet] = [await join('loud'), await join('quiet')]
  const limit = { settings: { rate_limit: { per_second: 5, burst: 20 } } }
  expect((await gateway.call('PATCH', '/v1/settings', limit, { 'x-hookhelm-tenant': 'loud' })).status).toBe(
    200,
  )

  let isOver = false
  const heard: Sent[] = []
  const hammer = sender(gateway, loud, 16)
  const hammering = Array.from({ length: 16 }, async () => {
    while (!isOver) heard.push(await hammer.dispatch('pre_tool_use', bash))
  })
  const neighbour = sender(gateway, quiet, 4)
  const answers: Sent[] = []
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let index = 0; index < 75; index++) answers.push(await neighbour.dispatch('pre_tool_use', bash))
    }),
  )
  isOver = true
  await Promise.all(hammering)

  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect(body.decision).toMatchObject({ kind: 'block', reason: 'of quiet' })
  }
  const served = heard.filter(({ status }) => status === 200)
  for (const { body } of served) expect(body.decision).toMatchObject({ reason: 'of loud' })
  for (const answer of heard) if (answer.status !== 200) refused(answer)
  expect(heard.length - served.length).toBeGreaterThan(0)
  // Who waits as long as it was told is served again.
  const [last] = heard.filter(({ status }) => status === 429).slice(-1)
  await sleep(Number(last?.retryAfter) * 1_000)
  expect((await hammer.dispatch('pre_tool_use', bash)).status).toBe(200)
  // The neighbour's own history has all of its events and none of anybody else's.
  const { body: page } = await gateway.call('GET', '/v1/executions?limit=200', undefined, {
    'x-hookhelm-tenant': 'quiet',
  })
  const ids = new Set(answers.map(({ body }) => body.event_id))
  for (const { event_id } of page.executions) expect(ids.has(event_id)).toBe(true)
  expect(ids.size).toBe(300)
})

test('4.8 #117 a burst of 10 000 events: beyond the bound 429 with Retry-After, and none that was acknowledged is lost', async () => {
  const seen = new Map<string, number>()
  const gateway = await running({
    settings: { rate_limit: { per_second: 1, burst: 1_500 } },
    functions: {
      note: (_, { envelope }) => void seen.set(envelope.id ?? '', (seen.get(envelope.id ?? '') ?? 0) + 1),
    },
  })
  await gateway.hook({ event: 'session_end', handler_type: 'function', config: { name: 'note' } })
  const { token } = await tokenFor(gateway, { role: 'agent' })
  const { dispatch } = sender(gateway, token, 128)
  const answers = await Promise.all(
    Array.from({ length: 10_000 }, (_, index) => dispatch('session_end', { reason: `event ${index}` })),
  )
  const taken = answers.filter(({ status }) => status === 200)
  for (const answer of answers) if (answer.status !== 200) refused(answer)
  expect(taken.length).toBeGreaterThanOrEqual(1_500)
  expect(taken.length).toBeLessThan(10_000)
  const left = async () => (await gateway.call('GET', '/v1/deliveries?limit=1')).body.deliveries.length
  await expect.poll(left, { timeout: 120_000, interval: 100 }).toBe(0)
  for (const { body } of taken) expect(seen.get(body.event_id)).toBe(1)
  expect(seen.size).toBe(taken.length)
})
