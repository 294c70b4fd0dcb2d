import { expect, test } from 'vitest'
import { rawConnection, startGateway, toolCall } from '../../../../test/gateway/gateway.fixture.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import type { Dispatcher } from '../../dispatch.ts'
import { MAX_BODY } from './http-request.ts'

test('an event is answered with its decision', async () => {
  const { dispatch } = await startGateway()
  const response = await dispatch(toolCall)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  expect(await response.json()).toMatchObject({
    event_id: 'event-1',
    decision: { kind: 'block', reason: 'no' },
  })
})

test.each([
  ['#1 an empty body', '', 400, 'input.empty'],
  ['#2 truncated JSON', '{"event":', 400, 'input.json'],
  [
    '#5 nesting of depth 65',
    `{"event":"stop","payload":${'['.repeat(65)}${']'.repeat(65)}}`,
    400,
    'input.too_deep',
  ],
  ['#6 a million brackets', '['.repeat(1_000_000), 400, 'input.too_deep'],
  ['#7 a __proto__ key', '{"event":"stop","payload":{"__proto__":{}}}', 400, 'input.forbidden_key'],
  ['#10 200 000 keys', manyKeys(), 400, 'input.too_many_keys'],
  ['#18 an unknown event', '{"event":"pre_tol_use"}', 400, 'input.unknown_event'],
])('4.1 %s is refused', async (_, body, status, code) => {
  const { dispatch } = await startGateway()
  const response = await dispatch(body)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { code } } })
})

function manyKeys(): string {
  const keys = Array.from({ length: 60_000 }, (_, index) => `"k${index}":0`)
  return `{"event":"stop","payload":{${keys.join(',')}}}`
}

test.each([['"text"'], ['[]'], ['null']])(
  '4.1 #19 tool_input that is %s is refused with its path',
  async (input) => {
    const { dispatch } = await startGateway()
    const response = await dispatch(
      `{"event":"pre_tool_use","payload":{"tool_name":"exec","tool_input":${input}}}`,
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('tool_input'), details: { code: 'input.schema' } },
    })
  },
)

test('4.1 #3 a body of 1 MiB + 1 by its length is refused without reading it', async () => {
  const { port, host, token } = await startGateway()
  const { all } = rawConnection(port, head({ host, token, more: `Content-Length: ${MAX_BODY + 1}` }))
  const answer = await all
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('"input.too_large"')
  expect(answer.toLowerCase()).toContain('connection: close')
})

test('4.1 #3 a client that waits to be asked for its body is told before it sends one', async () => {
  const { port, host, token } = await startGateway()
  const more = `Content-Length: ${MAX_BODY + 1}\r\nExpect: 100-continue`
  const answer = await rawConnection(port, head({ host, token, more })).all
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

test('4.1 #4 a chunked body is refused at the cap and the socket closed', async () => {
  const { port, host, token } = await startGateway()
  const { socket, all } = rawConnection(port, head({ host, token, more: 'Transfer-Encoding: chunked' }))
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  for (let sent = 0; sent < 17; sent += 1) socket.write(chunk)
  const answer = await all
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('"input.too_large"')
})

test('4.1 #12 an integer beyond 2⁵³ reaches the dispatcher digit by digit', async () => {
  const seen: { text: string | undefined; payload: unknown }[] = []
  const { dispatch } = await startGateway({ dispatcher: watching(seen) })
  const body = '{"event":"stop","payload":{"n":9007199254740993}}'
  await dispatch(body)
  expect(seen).toMatchObject([{ text: body }])
  expect(JSON.stringify(seen[0]?.payload)).toBe('{"n":9007199254740993}')
})

function watching(seen: { text: string | undefined; payload: unknown }[]): Dispatcher {
  return {
    async dispatch(_, { payload }, how) {
      seen.push({ text: how?.text, payload })
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{}' }
    },
  }
}

test('4.1 #14 a BOM is stripped', async () => {
  const { dispatch } = await startGateway()
  expect((await dispatch(`\uFEFF${JSON.stringify(toolCall)}`)).status).toBe(200)
})

test.each([['text/plain'], ['application/x-www-form-urlencoded'], ['application/json5'], ['']])(
  '4.1 #17 JSON sent as %j is refused',
  async (type) => {
    const { dispatch } = await startGateway()
    const response = await dispatch(toolCall, { headers: { 'content-type': type } })
    expect(response.status).toBe(415)
    expect(await response.json()).toMatchObject({ error: { details: { code: 'gateway.media_type' } } })
  },
)

test.each([
  [{ ...toolCall, evnet: 1 }, 'evnet', 'Did you mean event?'],
  [{ payload: {} }, undefined, undefined],
  [{ ...toolCall, trace: 'yes' }, 'trace', undefined],
  [{ ...toolCall, envelope: { sesion: 'x' } }, 'envelope.sesion', 'Did you mean session?'],
  [{ ...toolCall, envelope: { depth: '1' } }, 'envelope.depth', undefined],
  [{ ...toolCall, idempotency_key: '' }, 'idempotency_key', undefined],
])('a request that is none is refused with the place: %j', async (body, at, hint) => {
  const { dispatch } = await startGateway()
  const response = await dispatch(body)
  expect(response.status).toBe(400)
  const details = { code: 'gateway.request', ...(at && { at }), ...(hint && { hint }) }
  expect(await response.json()).toMatchObject({ error: { code: 'INVALID_REQUEST', details } })
})

test('more than the rate limit is refused before the body is read, and says when to come back', async () => {
  const clock = fakeClock()
  const { dispatch, port, host, token } = await startGateway({
    clock,
    settings: { rate_limit: { per_second: 2, burst: 2 } },
  })
  await dispatch(toolCall)
  await dispatch(toolCall)
  const answer = await rawConnection(
    port,
    head({ host, token, more: 'Content-Length: 9\r\nConnection: close' }),
  ).all
  expect(answer).toMatch(/^HTTP\/1\.1 429 /)
  expect(answer).toContain('Retry-After: 1')
  expect(answer).toContain('"gateway.rate_limited"')
  expect(answer).toContain('"retryAfterMs":500')
  await clock.advance(500)
  expect((await dispatch(toolCall)).status).toBe(200)
})

test('more dispatches at once than the gateway takes are refused', async () => {
  const held = holding()
  const { dispatch } = await startGateway({ dispatcher: held.dispatcher, maxInFlight: 1 })
  const first = dispatch(toolCall)
  await held.reached
  const second = await dispatch(toolCall)
  expect(second.status).toBe(429)
  expect(await second.json()).toMatchObject({
    error: { retryable: true, retryAfterMs: 1_000, details: { code: 'gateway.busy' } },
  })
  held.answer()
  expect((await first).status).toBe(200)
  expect((await dispatch(toolCall)).status).toBe(200)
})

test('whoever goes away aborts the dispatch', async () => {
  const held = holding()
  const { port, host, token, door } = await startGateway({ dispatcher: held.dispatcher })
  const body = JSON.stringify(toolCall)
  const { socket } = rawConnection(port, head({ host, token, more: `Content-Length: ${body.length}` }) + body)
  const signal = await held.reached
  expect(signal?.aborted).toBe(false)
  const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
  socket.destroy()
  await aborted
  held.answer()
  await door.capacity.idle()
  expect(door.capacity.inFlight).toBe(0)
})

test('what nobody foresaw is logged and not told', async () => {
  const dispatcher: Dispatcher = { dispatch: () => Promise.reject(new TypeError('a secret place')) }
  const { dispatch, logged } = await startGateway({ dispatcher })
  const response = await dispatch(toolCall)
  expect(response.status).toBe(500)
  const text = await response.text()
  expect(text).not.toContain('secret')
  expect(JSON.parse(text)).toMatchObject({
    error: { code: 'INTERNAL', details: { code: 'gateway.internal' } },
  })
  expect(logged).toMatchObject([{ name: 'gateway.failed', fields: { error: 'a secret place' } }])
})

/** Answers when told to. */
function holding() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<AbortSignal | undefined>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const dispatcher: Dispatcher = {
    async dispatch(_caller, _request, how) {
      reach(how?.signal)
      await answered
      return {
        eventId: 'e',
        decision: { kind: 'allow' },
        json: '{"event_id":"e","decision":{"kind":"allow"}}',
      }
    },
  }
  return { dispatcher, reached, answer }
}

function head({ host, token, more }: { host: string; token: string; more: string }): string {
  return `POST /v1/dispatch HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`
}
