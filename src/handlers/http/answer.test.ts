import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, startWebhookTest, type WebhookTest } from '../../../test/handlers/webhook.fixture.ts'

let webhook: WebhookTest
let ask: WebhookTest['ask']
beforeAll(async () => {
  webhook = await startWebhookTest()
  ask = webhook.ask
})
afterAll(() => webhook.receiver.close())

const last = () => webhook.receiver.received.at(-1)

describe('what is answered', () => {
  test.each([
    ['/allow', { kind: 'allow' }],
    ['/empty', { kind: 'allow' }],
    ['/204', { kind: 'allow' }],
    ['/block', { kind: 'block', reason: 'the receiver says no', by: 'guard' }],
    ['/bom', { kind: 'block' }],
    ['/gzip', { kind: 'block' }],
    ['/continue-false', { kind: 'block', reason: 'stopped' }],
    ['/context', { kind: 'allow', context: ['mind the gap'] }],
    ['/rewrite', { kind: 'allow', input: { command: 'ls' } }],
  ])('4.5 #87 GC-56 GC-57 %s', async (path, expected) => {
    const { decision, facts } = await ask(path)
    expect(decision).toMatchObject(expected)
    expect(facts).toMatchObject({ attempts: 1, http_status: path === '/204' ? 204 : 200 })
    expect(facts).not.toHaveProperty('unreadable')
  })

  test.each(['/html', '/truncated-json', '/unknown-json'])(
    '4.5 #84 %s is an invalid answer, and on_invalid decides',
    async (path) => {
      expect((await ask(path)).decision).toMatchObject({ kind: 'block', code: 'handler.result' })
      const open = await ask(path, { hook: { on_invalid: 'allow' } })
      expect(open.decision).toMatchObject({ kind: 'allow', opened: [{ because: 'invalid' }] })
      const lenient = await ask(path, { hook: { answer: 'lenient' } })
      expect(lenient.decision.kind).toBe('allow')
      expect(lenient.facts).toMatchObject({ unreadable: true, http_status: 200 })
    },
  )

  test('a webhook that sends the event back allows', async () => {
    const { decision, facts } = await ask('/echo')
    expect(decision.kind).toBe('allow')
    expect(facts).not.toHaveProperty('unreadable')
  })

  test.each(['/duplicate-keys', '/prototype', '/deep'])(
    '4.1 %s is an answer with two faces, and closed',
    async (path) => {
      expect((await ask(path)).decision).toMatchObject({ kind: 'block', code: 'handler.result' })
    },
  )

  test('an answer that is not UTF-8 may block, but neither rewrite nor add', async () => {
    expect((await ask('/latin1-block')).decision).toMatchObject({ kind: 'block', by: 'guard' })
    expect((await ask('/latin1-rewrite')).decision).toMatchObject({ kind: 'block', code: 'handler.result' })
    expect((await ask('/invalid-utf8')).decision).toMatchObject({ kind: 'block', code: 'handler.result' })
  })

  test('facts carry the length of the answer', async () => {
    expect((await ask('/html')).facts).toMatchObject({ response_len: 20 })
  })
})

describe('the OpenHarness format', () => {
  const format = 'openharness'

  test('OH-33 posts event and payload', async () => {
    await ask('/allow', { config: { format, headers: { 'X-Team': 'a' } } })
    const body = JSON.parse(last()?.body ?? '')
    expect(Object.keys(body)).toEqual(['event', 'payload'])
    expect(body).toMatchObject({ event: 'pre_tool_use', payload: call })
    expect(last()).toMatchObject({ method: 'POST', headers: { 'x-team': 'a' } })
  })

  test('OH-33 its time is the whole time of the call', async () => {
    const { decision } = await ask('/hang', {
      config: { format, block_on_failure: true },
      hook: { timeout_ms: 100 },
    })
    expect(decision).toMatchObject({ kind: 'block', code: 'outbound.timeout' })
  })

  test.each(['/block', '/html', '/204', '/duplicate-keys'])(
    'OH-34 any 2xx passes, whatever it says: %s',
    async (path) => {
      const { decision, facts } = await ask(path, { config: { format, block_on_failure: true } })
      expect(decision.kind).toBe('allow')
      expect(facts).not.toHaveProperty('unreadable')
    },
  )

  test('OH-34 only block_on_failure blocks, with the body or the status as the reason', async () => {
    const config = { format, block_on_failure: true }
    const open = await ask('/400', { config: { format } })
    expect(open.decision.kind).toBe('allow')
    expect(open.facts).toMatchObject({ failed: true, code: 'outbound.status', http_status: 400 })
    const counted = await ask('/400', { config: { format }, hook: { on_error: 'allow' } })
    expect(counted.decision).toMatchObject({ kind: 'allow', opened: [{ code: 'outbound.status' }] })
    expect((await ask('/400', { config })).decision).toMatchObject({
      kind: 'block',
      reason: '{"decision":"allow"}',
    })
    expect((await ask('/404', { config })).decision.reason).toBe('http hook returned 404')
    expect((await ask('/redirect-self', { config })).decision.reason).toBe('http hook returned 308')
  })

  test('OH-35 a failed connection fails the hook', async () => {
    const open = await ask('/reset', { config: { format } })
    expect(open.decision.kind).toBe('allow')
    expect(open.facts).toMatchObject({ failed: true, code: 'outbound.connection', attempts: 1 })
    const closed = await ask('/reset', { config: { format, can_block: true } })
    expect(closed.decision).toMatchObject({ kind: 'block', code: 'outbound.connection' })
  })
})
