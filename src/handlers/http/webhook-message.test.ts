import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, startWebhookTest, type WebhookTest } from '../../../test/handlers/webhook.fixture.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { parseJson } from '../../safe/json.ts'
import { verifyWebhook } from '../../safe/secrets/webhook-signature.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { httpHandler } from './http.ts'

let webhook: WebhookTest
let ask: WebhookTest['ask']
beforeAll(async () => {
  webhook = await startWebhookTest()
  ask = webhook.ask
})
afterAll(() => webhook.receiver.close())

const last = () => webhook.receiver.received.at(-1)

describe('what is sent', () => {
  test('GC-51 the event as JSON, with an id that stays', async () => {
    await ask('/allow')
    expect(last()).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(last()?.body ?? '')).toMatchObject({
      hook_event_name: 'PreToolUse',
      event: 'pre_tool_use',
      event_id: 'event-1',
      tenant_id: 'acme',
      session_id: 's1',
      ...call,
    })
  })

  test('GC-51 configured headers are sent and may replace the content type; method and template have no effect', async () => {
    const headers = { 'X-Team': 'safety', 'Content-Type': 'application/vnd.hooks+json' }
    await ask('/allow', { config: { headers, method: 'GET', body_template: 'x' } })
    expect(last()?.headers).toMatchObject({
      'x-team': 'safety',
      'content-type': 'application/vnd.hooks+json',
    })
    expect(last()?.method).toBe('POST')
  })

  test('4.1 #12 a number beyond 2⁵³ arrives digit by digit', async () => {
    const handler = httpHandler.create({ outbound: { allow: ['127.0.0.1'] } })
    const hooks = createHooks({ handlers: [handler] })
    hooks.add({
      event: 'pre_tool_use',
      handler_type: 'http',
      config: { url: `${webhook.receiver.origin}/allow` },
    })
    const input = parseJson('{"tool_name":"T","tool_input":{"id":9007199254740993}}') as typeof call
    await hooks.dispatch('pre_tool_use', input)
    await handler.dispose()
    expect(last()?.body).toContain('"tool_input":{"id":9007199254740993}')
  })

  test.each([
    { 'X-A': 'x\r\nX-Evil: 1' },
    { 'X-A\r\nX-Evil': '1' },
    { 'X-A': 'x\u0000' },
    { 'X-A': 'snow \u2603' },
    { '': 'x' },
    { Host: 'evil' },
    { 'Content-Length': '0' },
    { 'Transfer-Encoding': 'chunked' },
    { Connection: 'close' },
    { 'Webhook-Id': 'forged' },
    { 'x-a': '1', 'X-A': '2' },
    { 'X-A': 1 },
  ])('header injection is refused where it is written: %j', async (headers) => {
    await expect(ask('/allow', { config: { headers } })).rejects.toThrow(
      expect.objectContaining({ code: 'config.field' }),
    )
  })

  test.each([
    ['file:///etc/passwd', 'config.url'],
    ['https://name:pw@x.example/', 'config.url'],
    [7, 'config.url'],
    [undefined, 'config.url'],
  ])('4.5 #75 the address %s is refused where it is written', async (url, code) => {
    await expect(ask('/allow', { config: { url } })).rejects.toThrow(expect.objectContaining({ code }))
  })

  test.each([{ urll: 'x' }, { format: 'xml' }, { can_block: 'yes' }, { headers: [] }, { secret: 1 }])(
    'a wrong field is refused where it is written: %j',
    async (config) => {
      await expect(ask('/allow', { config })).rejects.toThrow(
        expect.objectContaining({ code: 'config.field' }),
      )
    },
  )

  test('4.5 #88 #89 both keys sign, both receivers verify, and a repeat has the same id', async () => {
    const clock = fakeClock()
    const [older, newer] = [32, 48].map((size) => `whsec_${Buffer.alloc(size, size).toString('base64')}`)
    const config = { secret: [newer, older] }
    await ask('/allow', { config, clock })
    const { headers = {}, body = '' } = last() ?? {}
    for (const secret of [older ?? '', newer ?? ''])
      expect(verifyWebhook(headers, body, { secrets: [secret], clock })).toBeUndefined()
    await ask('/allow', { config, clock })
    expect(last()?.headers['webhook-id']).toBe(headers['webhook-id'])
  })
})
