import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWebhookTest, type WebhookTest } from '../../../test/handlers/webhook.fixture.ts'
import { createOutbound } from '../../safe/outbound/outbound.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { httpHandler } from './http.ts'

let webhook: WebhookTest
let ask: WebhookTest['ask']
beforeAll(async () => {
  webhook = await startWebhookTest()
  ask = webhook.ask
})
afterAll(() => webhook.receiver.close())

describe('failures', () => {
  test.each([
    ['/400', 'outbound.status', 400],
    ['/404', 'outbound.status', 404],
    ['/410', 'outbound.status', 410],
    ['/429', 'outbound.status', 429],
    ['/redirect-metadata', 'outbound.redirect', 302],
    ['/redirect-literal', 'outbound.redirect', 307],
    ['/redirect-self', 'outbound.redirect', 308],
    ['/304', 'outbound.redirect', 304],
  ])('4.5 #74 #83 GC-54 GC-58 %s closes without a second attempt: %s', async (path, code, status) => {
    const before = webhook.receiver.received.length
    const { decision, facts } = await ask(path)
    expect(decision).toMatchObject({ kind: 'block', code })
    expect(facts).toMatchObject({ attempts: 1, http_status: status })
    expect(webhook.receiver.received).toHaveLength(before + 1)
  })

  test.each(['/huge', '/gzip-bomb', '/flood'])('GC-55 %s closes', async (path) => {
    const { decision, facts } = await ask(path)
    expect(decision).toMatchObject({ kind: 'block', code: 'outbound.too_large' })
    expect(facts).toMatchObject({ attempts: 1 })
  })

  test('4.5 #66 GC-52 a private address closes, and nothing is sent', async () => {
    const before = webhook.receiver.connections()
    const { decision } = await ask('/allow', { options: { outbound: {} } })
    expect(decision).toMatchObject({ kind: 'block', code: 'outbound.private_address' })
    expect(webhook.receiver.connections()).toBe(before)
  })

  test.each(['/hang', '/drip-headers', '/drip-body'])(
    '4.5 #78 %s ends at the deadline of the hook',
    async (path) => {
      const { decision } = await ask(path, { hook: { timeout_ms: 50 } })
      expect(decision).toMatchObject({ kind: 'block', code: 'outbound.timeout' })
      const open = await ask(path, { hook: { timeout_ms: 50, on_timeout: 'allow' } })
      expect(open.decision).toMatchObject({ kind: 'allow', opened: [{ code: 'outbound.timeout' }] })
    },
  )

  test.each([
    ['/500', 'outbound.status'],
    ['/503-with-retry-after', 'outbound.status'],
    ['/reset', 'outbound.connection'],
  ])('4.5 #82 %s, and a retry would pass the deadline: no second attempt', async (path, code) => {
    // The clock stands still: less than the pause before a retry is left, however long the network takes.
    const { decision, facts } = await ask(path, { clock: fakeClock(), hook: { timeout_ms: 900 } })
    expect(decision).toMatchObject({ kind: 'block', code })
    expect(facts).toMatchObject({ attempts: 1 })
  })
})

describe('one retry after a second', () => {
  /** Asks while the clock stands still, and moves it once the first attempt has come back. */
  async function askTwice(path: string, config: object = {}) {
    const clock = fakeClock()
    const before = webhook.receiver.received.length
    // Far from the deadline, however many turns of the event loop the network takes.
    const asked = ask(path, { clock, config, hook: { timeout_ms: 600_000 } })
    let done = false
    const settled = asked.finally(() => {
      done = true
    })
    // Ticks of less than the pause: the second attempt can only come after a whole second.
    while (!done) await clock.advance(25)
    return { ...(await settled), sent: webhook.receiver.received.slice(before) }
  }

  test.each(['/500-once', '/reset-once'])('4.5 #81 GC-54 %s, then an answer', async (path) => {
    const { decision, facts, sent } = await askTwice(path)
    expect(decision).toMatchObject({ kind: 'block', reason: 'the receiver says no' })
    expect(facts).toMatchObject({ attempts: 2, http_status: 200 })
    expect(sent).toHaveLength(2)
    expect(sent[0]?.headers['webhook-id']).toBe(sent[1]?.headers['webhook-id'])
    const [first, second] = sent.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1)
  })

  test.each([
    ['/500', 'outbound.status'],
    ['/reset', 'outbound.connection'],
  ])('4.5 #82 %s twice closes', async (path, code) => {
    const { decision, facts, sent } = await askTwice(path)
    expect(decision).toMatchObject({ kind: 'block', code })
    expect(facts).toMatchObject({ attempts: 2 })
    expect(sent).toHaveLength(2)
  })

  test('OH-35 not in the OpenHarness format', async () => {
    const { sent } = await askTwice('/500', { format: 'openharness' })
    expect(sent).toHaveLength(1)
  })
})

test('a way out that others use is not closed by the handler', async () => {
  const outbound = createOutbound({ allow: ['127.0.0.1'] })
  const handler = httpHandler.create({ outbound })
  await handler.dispose()
  const url = new URL('/allow', webhook.receiver.origin)
  expect((await outbound.request({ url, signal: AbortSignal.timeout(60_000) })).status).toBe(200)
  await outbound.dispose()
})
