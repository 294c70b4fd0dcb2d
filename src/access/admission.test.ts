import { Agent, request as httpRequest } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  type GatewayFixture,
  masterToken,
  OTHER_TENANT,
  OWN_TENANT,
  startGateway,
  toolCall,
} from '../../test/gateway/gateway.fixture.ts'
import { newToken } from '../safe/secrets/token.ts'
import { fakeClock } from '../testing/fake-clock.ts'

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | undefined
}

type Headers = Readonly<Record<string, string>>

/** By node:http, which sends the Host and Origin it is told. */
function ask({ port }: GatewayFixture, path: string, headers: Headers): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          code: /"details":\{"code":"([a-z_.]+)"/.exec(text)?.[1],
          retryAfter: response.headers['retry-after'],
        }),
      )
    })
    sent.on('error', reject).end()
  })
}

/** The same question as an upgrade. */
function upgrade({ url }: GatewayFixture, path: string, headers: Headers): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const ws = new WebSocket(url.replace('http', 'ws') + path, { headers })
  ws.on('error', () => {})
  ws.on('open', () => {
    ws.close()
    resolve({ status: 101, code: undefined, retryAfter: undefined })
  })
  ws.on('unexpected-response', (_, response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        code: /"details":\{"code":"([a-z_.]+)"/.exec(text)?.[1],
        retryAfter: response.headers['retry-after'],
      }),
    )
  })
  return promise
}

describe.each([
  { door: 'HTTP', call: ask, path: '/v1/things/1', fine: 200 },
  { door: 'WebSocket', call: upgrade, path: '/ws', fine: 101 },
])('over $door', ({ call, path, fine }) => {
  const bearer = ({ token }: GatewayFixture) => ({ authorization: `Bearer ${token}` })

  test('4.10 #134 no token, a wrong one of the same or another length, and one in the address are refused', async () => {
    const gateway = await startGateway()
    const wrong = [
      {},
      { authorization: `Bearer ${newToken()}` },
      { authorization: 'Bearer short' },
      { authorization: `Basic ${gateway.token}` },
      { authorization: 'Bearer' },
    ]
    for (const headers of wrong)
      expect(await call(gateway, path, headers)).toMatchObject({ status: 401, code: 'auth.token' })
    const inAddress = await call(gateway, `${path}?token=${gateway.token}`, {})
    expect(inAddress).toMatchObject({ status: 401, code: 'auth.token' })
    const both = await call(gateway, `${path}?access_token=${gateway.token}`, bearer(gateway))
    expect(both).toMatchObject({ status: 401, code: 'auth.token' })
    expect(await call(gateway, path, bearer(gateway))).toMatchObject({ status: fine })
  })

  test('4.10 #135 a foreign Host is refused before anything is looked at', async () => {
    const gateway = await startGateway({ hosts: ['hooks.example', 'other.example:8443'] })
    const at = (host: string, more: Headers = bearer(gateway)) => call(gateway, path, { ...more, host })
    for (const host of [
      'evil.example',
      `evil.example:${gateway.port}`,
      `127.0.0.1:${gateway.port + 1}`,
      'localhost',
    ])
      expect(await at(host, {})).toMatchObject({ status: 421, code: 'auth.host' })
    for (const host of [
      `LOCALHOST:${gateway.port}`,
      `[::1]:${gateway.port}`,
      'hooks.example:1',
      'other.example:8443',
    ])
      expect(await at(host)).toMatchObject({ status: fine })
    expect(await at('other.example:1')).toMatchObject({ status: 421 })
  })

  test('4.10 #136 M15 a foreign Origin and null are refused, our own and a configured one are not', async () => {
    const gateway = await startGateway({ origins: ['https://console.example'] })
    const from = (origin: string) => call(gateway, path, { ...bearer(gateway), origin })
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${gateway.port + 1}`, ''])
      expect(await from(origin)).toMatchObject({ status: 403, code: 'auth.origin' })
    for (const origin of [gateway.url, 'https://console.example'])
      expect(await from(origin)).toMatchObject({ status: fine })
  })

  test('4.10 #138 200 bad tokens end in 429 with the time to wait, and a token that was right still works', async () => {
    const clock = fakeClock()
    const gateway = await startGateway({ clock })
    expect(await call(gateway, path, bearer(gateway))).toMatchObject({ status: fine })
    const statuses = new Map<number, number>()
    for (let tried = 0; tried < 200; tried += 1) {
      const { status } = await ask(gateway, '/v1/things/1', { authorization: `Bearer ${newToken()}` })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: 20, 429: 180 })
    const lookups = gateway.store.tokenLookups
    const refused = await call(gateway, path, { authorization: `Bearer ${newToken()}` })
    expect(refused).toEqual({ status: 429, code: 'auth.blocked', retryAfter: '60' })
    expect(gateway.store.tokenLookups).toBe(lookups)
    await clock.advance(6_000)
    expect(await call(gateway, path, bearer(gateway))).toMatchObject({ status: fine })
    await clock.advance(54_000)
    expect(await call(gateway, path, { authorization: `Bearer ${newToken()}` })).toMatchObject({
      status: 401,
    })
  })
})

test('an expired token is refused to the millisecond, a revoked one within 5 s, at once on the node that did it', async () => {
  const clock = fakeClock()
  const gateway = await startGateway({ clock })
  const expiring = gateway.store.addToken({ expires_at: clock.now() + 1_000 })
  const status = async (token: string) =>
    (await gateway.get('/v1/things/1', { headers: { authorization: `Bearer ${token}` } })).status
  expect(await status(expiring)).toBe(200)
  await clock.advance(1_000)
  expect(await status(expiring)).toBe(401)

  const revoked = gateway.store.addToken({})
  expect(await status(revoked)).toBe(200)
  gateway.store.revoke(revoked)
  expect(await status(revoked)).toBe(200)
  await clock.advance(5_000)
  expect(await status(revoked)).toBe(401)

  const deletedHere = gateway.store.addToken({})
  expect(await status(deletedHere)).toBe(200)
  gateway.store.revoke(deletedHere)
  gateway.door.tokens.forget()
  expect(await status(deletedHere)).toBe(401)
})

test('what a connection sent before lets nobody else in over it', async () => {
  const gateway = await startGateway()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const { token } = gateway
  const wrong = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`
  const other = gateway.store.addToken({ tenant_id: OTHER_TENANT })
  const seen: string[] = []
  for (const each of [token, token, wrong, token, other, `${token} `, '']) {
    const headers = { authorization: `Bearer ${each}` }
    const text = await new Promise<string>((resolve) => {
      httpRequest({ port: gateway.port, path: '/v1/things/1', headers, agent }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part
        })
        response.on('end', () => resolve(body))
      }).end()
    })
    seen.push(/"tenant":"([\w-]+)"/.exec(text)?.[1] ?? /auth\.token/.exec(text)?.[0] ?? text)
  }
  // A blank at the end is no part of a header.
  expect(seen).toEqual([
    OWN_TENANT,
    OWN_TENANT,
    'auth.token',
    OWN_TENANT,
    OTHER_TENANT,
    OWN_TENANT,
    'auth.token',
  ])
})

test('many requests with one token ask the store once', async () => {
  const gateway = await startGateway()
  await Promise.all(Array.from({ length: 20 }, () => gateway.dispatch(toolCall)))
  expect(gateway.store.tokenLookups).toBe(1)
})

test('a master caller works for the tenant it names, by id or name, and for the default one otherwise', async () => {
  const gateway = await startGateway()
  const master = gateway.store.addToken(masterToken)
  const tenant = async (named?: string) => {
    const headers = { authorization: `Bearer ${master}`, ...(named && { 'x-hookhelm-tenant': named }) }
    const response = await gateway.get('/v1/things/1', { headers })
    return (await response.json()) as { tenant?: string; error?: unknown }
  }
  expect(await tenant()).toMatchObject({ tenant: OWN_TENANT })
  expect(await tenant(OTHER_TENANT)).toMatchObject({ tenant: OTHER_TENANT })
  expect(await tenant('globex')).toMatchObject({ tenant: OTHER_TENANT })
  expect(await tenant('nobody')).toMatchObject({ error: { details: { code: 'gateway.not_found' } } })
})

test('others learn nothing about tenants that are not theirs', async () => {
  const gateway = await startGateway()
  const answer = async (named: string) => {
    const response = await gateway.get('/v1/things/1', { headers: { 'x-hookhelm-tenant': named } })
    return { status: response.status, text: await response.text() }
  }
  const foreign = await answer('globex')
  expect(foreign).toMatchObject({ status: 403, text: expect.stringContaining('auth.scope') })
  expect(await answer(OTHER_TENANT)).toEqual(foreign)
  expect(await answer('nobody')).toEqual(foreign)
  expect(await answer('acme')).toMatchObject({ status: 200 })
  expect(await answer(OWN_TENANT)).toMatchObject({ status: 200 })
})

describe('a session by a one-time link', () => {
  async function login(gateway: GatewayFixture, path: string): Promise<{ status: number; cookie: string }> {
    // Not `fetch`, which says that it is no browser that goes to a page.
    return await new Promise((resolve, reject) => {
      const sent = httpRequest(gateway.url + path, { agent: false }, (response) => {
        response.resume()
        resolve({ status: response.statusCode ?? 0, cookie: response.headers['set-cookie']?.join() ?? '' })
      })
      sent.on('error', reject).end()
    })
  }

  test('works once, and the cookie is out of reach for scripts and other sites', async () => {
    const gateway = await startGateway()
    const path = gateway.server.issueLogin()
    const first = await login(gateway, path)
    expect(first.status).toBe(303)
    expect(first.cookie).toMatch(
      /^hookhelm_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    expect(await login(gateway, path)).toEqual({ status: 401, cookie: '' })
    const cookie = first.cookie.split(';')[0] ?? ''
    expect(await ask(gateway, '/v1/things/1', { cookie })).toMatchObject({ status: 200 })
  })

  test('is marked Secure under a name that is not of this machine', async () => {
    const gateway = await startGateway({ hosts: ['hooks.example'] })
    const path = gateway.server.issueLogin()
    const header = await new Promise<string>((resolve) => {
      httpRequest({ port: gateway.port, path, headers: { host: 'hooks.example' } }, (response) =>
        resolve(String(response.headers['set-cookie'])),
      ).end()
    })
    expect(header).toContain('; Secure')
  })

  test.each([-3_600_000, 0, 86_400_000])(
    'a link lasts ten minutes, a session twelve hours, though the wall clock is set by %d ms',
    async (jump) => {
      const clock = fakeClock()
      const gateway = await startGateway({ clock })
      const old = gateway.server.issueLogin()
      const fresh = gateway.server.issueLogin()
      clock.jump(jump)
      const { cookie } = await login(gateway, fresh)
      const session = { cookie: cookie.split(';')[0] ?? '' }
      clock.stall(10 * 60_000)
      expect(await login(gateway, old)).toMatchObject({ status: 401 })
      expect(await ask(gateway, '/v1/things/1', session)).toMatchObject({ status: 200 })
      clock.stall(12 * 60 * 60_000)
      expect(await ask(gateway, '/v1/things/1', session)).toMatchObject({ status: 401 })
    },
  )

  test('changes nothing for a page that is not ours: other ports of this machine get the cookie too', async () => {
    const gateway = await startGateway({ origins: ['https://console.example'] })
    const { cookie } = await login(gateway, gateway.server.issueLogin())
    const post = (headers: Headers) =>
      fetch(`${gateway.url}/v1/call/things.echo`, {
        method: 'POST',
        body: '{"thingId":"1"}',
        headers: { 'content-type': 'application/json', cookie: cookie.split(';')[0] ?? '', ...headers },
      })
    expect((await post({})).status).toBe(403)
    expect((await post({ origin: gateway.url })).status).toBe(200)
    expect(await upgrade(gateway, '/ws', { cookie })).toMatchObject({ status: 403, code: 'auth.origin' })
    expect(await upgrade(gateway, '/ws', { cookie, origin: gateway.url })).toMatchObject({ status: 101 })
  })

  test('ends with logout', async () => {
    const gateway = await startGateway()
    const { cookie } = await login(gateway, gateway.server.issueLogin())
    const headers = { cookie: cookie.split(';')[0] ?? '', origin: gateway.url }
    const out = await fetch(`${gateway.url}/logout`, { method: 'POST', headers, redirect: 'manual' })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await ask(gateway, '/v1/things/1', headers)).toMatchObject({ status: 401 })
  })

  test('4.10 #138 200 bad logins end in 429, and a good link then has to wait as well', async () => {
    const clock = fakeClock()
    const gateway = await startGateway({ clock })
    const good = gateway.server.issueLogin()
    const statuses = new Set<number>()
    for (let tried = 0; tried < 200; tried += 1)
      statuses.add((await login(gateway, `/login?code=${newToken()}`)).status)
    expect([...statuses]).toEqual([401, 429])
    expect(await ask(gateway, good, {})).toMatchObject({
      status: 429,
      code: 'auth.blocked',
      retryAfter: '60',
    })
    clock.stall(60_000)
    expect(await login(gateway, good)).toMatchObject({ status: 303 })
  })
})

describe('a session by a token', () => {
  const post = (gateway: GatewayFixture, body: unknown, headers: Headers = { origin: gateway.url }) =>
    fetch(`${gateway.url}/login`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

  test('is opened for the caller of the token, with a cookie that is out of reach for scripts', async () => {
    const gateway = await startGateway()
    const token = gateway.store.addToken({ tenant_id: OTHER_TENANT, role: 'viewer' })
    const opened = await post(gateway, { token })
    expect(opened.status).toBe(204)
    expect(opened.headers.get('set-cookie')).toMatch(
      /^hookhelm_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    const response = await fetch(`${gateway.url}/v1/things/1`, { headers: { cookie: cookieOf(opened) } })
    expect(await response.json()).toMatchObject({ tenant: OTHER_TENANT })
  })

  test('M15 is opened only from our own page, and only with JSON', async () => {
    const gateway = await startGateway({ hosts: ['hooks.example'] })
    const { token } = gateway
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'null' }] as Headers[]) {
      const refused = await post(gateway, { token }, headers)
      expect([refused.status, cookieOf(refused)]).toEqual([403, ''])
    }
    const form = await post(gateway, { token }, { origin: gateway.url, 'content-type': 'text/plain' })
    expect([form.status, cookieOf(form)]).toEqual([415, ''])
    for (const body of [{}, { token: '' }, { token: 1 }]) expect((await post(gateway, body)).status).toBe(400)
  })

  test('ends when the token is revoked or expires', async () => {
    const clock = fakeClock()
    const gateway = await startGateway({ clock })
    const revoked = gateway.store.addToken({})
    const expiring = gateway.store.addToken({ expires_at: clock.now() + 60_000 })
    const sessions = {
      revoked: { cookie: cookieOf(await post(gateway, { token: revoked })) },
      expiring: { cookie: cookieOf(await post(gateway, { token: expiring })) },
    }
    for (const session of Object.values(sessions))
      expect(await ask(gateway, '/v1/things/1', session)).toMatchObject({ status: 200 })
    gateway.store.revoke(revoked)
    await clock.advance(5_000)
    expect(await ask(gateway, '/v1/things/1', sessions.revoked)).toMatchObject({
      status: 401,
      code: 'auth.token',
    })
    expect(await ask(gateway, '/v1/things/1', sessions.expiring)).toMatchObject({ status: 200 })
    await clock.advance(60_000)
    expect(await ask(gateway, '/v1/things/1', sessions.expiring)).toMatchObject({ status: 401 })
  })

  test('ends an open connection when the token is revoked', async () => {
    const clock = fakeClock()
    const gateway = await startGateway({ clock })
    const token = gateway.store.addToken({})
    const cookie = cookieOf(await post(gateway, { token }))
    const ws = new WebSocket(`${gateway.url.replace('http', 'ws')}/ws`, {
      headers: { cookie, origin: gateway.url },
    })
    const ended = new Promise<number>((resolve) => ws.on('close', resolve))
    await new Promise((resolve) => ws.on('open', resolve))
    gateway.store.revoke(token)
    await clock.advance(5_000)
    expect(await ended).toBeGreaterThan(1_000)
  })

  test('4.10 #138 200 bad tokens end in 429 with the time to wait', async () => {
    const gateway = await startGateway({ clock: fakeClock() })
    const statuses = new Map<number, number>()
    for (let tried = 0; tried < 200; tried += 1) {
      const { status } = await post(gateway, { token: newToken() })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: 20, 429: 180 })
  })

  test('replaces the session that the browser had', async () => {
    const gateway = await startGateway()
    const first = cookieOf(await post(gateway, { token: gateway.token }))
    await post(gateway, { token: gateway.token }, { origin: gateway.url, cookie: first })
    expect(await ask(gateway, '/v1/things/1', { cookie: first })).toMatchObject({ status: 401 })
  })
})
