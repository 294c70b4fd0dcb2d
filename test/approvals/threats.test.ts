import { globSync, readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quickClock } from '../crash/quick-clock.fixture.ts'
import { type Running, running, shared } from '../gateway/running.fixture.ts'
import { auditSteps, heldCall, pendingOf, person } from './people.fixture.ts'

const HANG = 120_000
const ask = () => ({ kind: 'ask', reason: 'a push needs a person' })
const options = { outbound: { allow: ['127.0.0.1'] }, functions: { ask } }
const gateway = shared(() => ({ ...options, edition: 'standard' as const }))

/** A chat that keeps what it gets, by the path that it was sent to. */
const texts = new Map<string, string>()
let chat: Server
beforeAll(async () => {
  chat = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    texts.set(request.url ?? '', JSON.parse(body).text)
    response.end('ok')
  })
  await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve))
})
afterAll(() => chat.close())

let count = 0

/** A question with its two links. */
async function asked({ at = gateway(), command = 'git push --force', hook = {}, settings = {} } = {}) {
  count += 1
  const [session, path] = [`t${count}`, `/${count}`]
  const { port } = chat.address() as AddressInfo
  const route = { name: 'chat', to: { type: 'slack', url: `http://127.0.0.1:${port}${path}` } }
  const changed = { approval_routes: [route], approval_links: null, own_approvals: null, ...settings }
  expect((await at.call('PATCH', '/v1/settings', { settings: changed })).status).toBe(200)
  const { body } = await at.call('GET', '/v1/hooks')
  for (const { id, source } of body.hooks) if (source === 'user') await at.call('DELETE', `/v1/hooks/${id}`)
  await at.hook({
    ...{ event: 'pre_tool_use', handler_type: 'function', name: 'careful', matcher: '^Bash$' },
    ...{ config: { name: 'ask' }, ...hook },
  })
  const call = heldCall(at, command, { envelope: { session, agent: 'claude-code', cwd: '/srv/shop' } })
  const [approval] = await pendingOf(at)
  const text = await at.until(
    async () => texts.get(path) ?? '',
    (found) => found !== '',
  )
  const [approve = '', deny = ''] = (text.match(/https?:[^|]+(?=\|)/g) ?? []).map(
    (link) => new URL(link).pathname,
  )
  const status = async () =>
    (await at.call('GET', `/v1/approvals/${approval.approval_id}`)).body.approval.status as string
  const open = (link: string, init: RequestInit = {}) => fetch(at.url + link, { redirect: 'manual', ...init })
  const decided = async () => (await call).body.decision
  const end = async () => {
    if ((await status()) === 'pending')
      await at.call('POST', `/v1/approvals/${approval.approval_id}/cancel`, {})
    return decided()
  }
  return {
    at,
    session,
    approval,
    approve,
    deny,
    text,
    status,
    open,
    decided,
    end,
    id: approval.approval_id as string,
  }
}

describe('a link in a message', () => {
  test(
    'shows exactly what it is about, and no GET, HEAD, preview or prefetch decides',
    async () => {
      const { approve, deny, open, status, end } = await asked({ command: 'git push --force\norigin main' })
      for (const init of [
        {},
        { method: 'HEAD' },
        { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0', range: 'bytes=0-32768' } },
        { headers: { 'sec-purpose': 'prefetch', purpose: 'prefetch' } },
      ])
        for (const link of [approve, deny]) expect((await open(link, init)).status).toBe(200)
      for (const method of ['PUT', 'DELETE', 'PATCH'])
        expect((await open(approve, { method })).status).toBeGreaterThanOrEqual(400)
      expect(await status()).toBe('pending')
      const page = await (await open(approve)).text()
      expect(page).toContain('command:\ngit push --force\norigin main')
      expect(page).toContain('a push needs a person')
      expect(page).toContain('You answer as route chat')
      await end()
    },
    HANG,
  )

  test(
    'answers once, in the name of its recipient, and the audit says who and from where',
    async () => {
      const { approve, open, status, end, at, session, id } = await asked()
      expect(await (await open(approve, { method: 'POST' })).text()).toContain('You approved the call')
      expect(await status()).toBe('approved')
      const replayed = await open(approve, { method: 'POST' })
      expect(replayed.status).toBe(409)
      expect(await replayed.text()).toContain('It was approved by route chat')
      expect((await open(approve)).status).toBe(410)
      expect(await end()).toMatchObject({ kind: 'allow', grant: true })
      expect(await auditSteps(at, session)).toMatchObject([
        { name: 'approval_requested', approval_id: id },
        { name: 'approval_approved', by: 'route chat', from: '127.0.0.1, link of route chat' },
        {
          name: 'approval_refused',
          by: 'route chat',
          message: expect.stringContaining('approve: it was approved'),
        },
      ])
    },
    HANG,
  )

  test(
    'denies with a message that the model reads, and cannot be turned into an approval',
    async () => {
      const { deny, open, end } = await asked()
      const body = new URLSearchParams({ message: 'not on a Friday', verdict: 'approve' })
      expect((await open(deny, { method: 'POST', body })).status).toBe(200)
      expect(await end()).toMatchObject({
        kind: 'block',
        code: 'approval.denied',
        message: expect.stringContaining('route chat denied this: not on a Friday'),
      })
    },
    HANG,
  )

  test(
    'reads no more of a message than fits, also if its length is not known before',
    async () => {
      const { deny, open, status, end } = await asked()
      const chunk = new TextEncoder().encode('message=a'.repeat(1_000))
      const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
      const init = { method: 'POST', body, duplex: 'half' } as RequestInit
      const refused = await open(deny, init).then(
        (response) => response.status,
        () => 'the connection ended',
      )
      expect([413, 'the connection ended']).toContain(refused)
      expect(await status()).toBe('pending')
      await end()
    },
    HANG,
  )

  test(
    'of two clicks at the same moment one counts',
    async () => {
      const { approve, deny, open, end } = await asked()
      const answers = await Promise.all(
        [approve, deny, approve, deny].map(async (link) => (await open(link, { method: 'POST' })).status),
      )
      expect(answers.toSorted()).toEqual([200, 409, 409, 409])
      await end()
    },
    HANG,
  )

  test(
    'is worth nothing once the question is cancelled',
    async () => {
      const { approve, open, end, status } = await asked()
      await end()
      expect(await (await open(approve)).text()).toContain('The question is closed: cancelled by')
      expect((await open(approve, { method: 'POST' })).status).toBe(409)
      expect(await status()).toBe('cancelled')
    },
    HANG,
  )

  test(
    'is worth nothing after the deadline',
    async () => {
      const { approve, open, at, status, decided } = await asked({ settings: { approval_timeout_ms: 2_500 } })
      expect(await decided()).toMatchObject({ kind: 'block', code: 'approval.expired' })
      await at.call('PATCH', '/v1/settings', { settings: { approval_timeout_ms: null } })
      expect((await open(approve, { method: 'POST' })).status).toBe(409)
      expect(await (await open(approve)).text()).toContain('The question is closed: expired')
      expect(await status()).toBe('expired')
    },
    HANG,
  )

  test(
    'of one question opens no other, and a changed link is refused',
    async () => {
      const at = await running(options)
      const first = await asked({ at })
      const [, own = ''] = /^\/answer\/(.*)$/.exec(first.approve) ?? []
      const [id = '', secret = ''] = own.split('.')
      const [, other = ''] = first.deny.split('.')
      const forged = [
        `/answer/${id}.${other}`,
        `/answer/${id}.${secret.slice(0, -2)}AA`,
        `/answer/${'0'.repeat(24)}.${secret}`,
        `/answer/${id}`,
        `/answer/${id}.`,
        '/answer/..%2f..%2fui',
      ]
      for (const link of forged)
        for (const method of ['GET', 'POST']) {
          const response = await first.open(link, { method })
          expect([link, response.status]).toEqual([link, 404])
          if (!link.includes('%')) expect(await response.text()).toContain('approval.link')
        }
      expect(await first.status()).toBe('pending')
      const steps = await auditSteps(at, first.session)
      expect(steps.filter(({ name }) => name === 'approval_refused').length).toBeGreaterThan(0)
      // A source that guesses is blocked, even for a link that is right.
      for (let n = 0; n < 20; n += 1) await first.open(`/answer/${id}.${other}`)
      expect((await first.open(first.approve, { method: 'POST' })).status).toBe(429)
      expect(await first.status()).toBe('pending')
      await first.end()
    },
    HANG,
  )

  test(
    'is stored only as a hash',
    async () => {
      const { approve, deny, at, end } = await asked()
      const files = globSync(`${at.home}/**/*.db*`).map((file) => readFileSync(file, 'latin1'))
      expect(
        files.some((content) => content.includes(approve.slice('/answer/'.length).split('.')[0] ?? '')),
      ).toBe(true)
      for (const link of [approve, deny])
        expect(files.some((content) => content.includes(link.split('.')[1] ?? 'none'))).toBe(false)
      await end()
    },
    HANG,
  )
})

describe('the page of a link', () => {
  test(
    'cannot be framed, runs no script, and tells no other site where it was',
    async () => {
      const { approve, open, end } = await asked()
      const { headers } = await open(approve)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('script-src')
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
      })
      await end()
    },
    HANG,
  )

  test(
    'shows hostile texts as texts',
    async () => {
      const command = `</pre><script>alert(1)</script><img src=x onerror=alert(1)>\u202egnp.exe\u0000`
      const { approve, open, end, text } = await asked({
        command,
        hook: { name: '<b>careful</b> <!channel>' },
      })
      const page = await (await open(approve)).text()
      expect(page).not.toMatch(/<script|<img|<b>careful/)
      expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
      expect(page).toContain('\\u{202e}gnp.exe\\u{0}')
      expect(text).not.toMatch(/<!channel|<script|\u202e/)
      expect(text).toContain('`&lt;b&gt;careful&lt;/b&gt; &lt;!channel&gt;`')
      await end()
    },
    HANG,
  )
})

describe('a session of a browser', () => {
  async function cookieOf(at: Running, token: string) {
    const response = await fetch(`${at.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: at.url },
      body: JSON.stringify({ token }),
    })
    expect(response.status).toBe(204)
    return response.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const approve = (at: Running, id: string, headers: Record<string, string>) =>
    fetch(`${at.url}/v1/approvals/${id}/approve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    })

  test(
    'is of no use to a page of another site',
    async () => {
      const { at, id, approve: link, open, status, end } = await asked()
      const ada = await person(at, `ada${count}`)
      const cookie = await cookieOf(at, ada.token)
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
        expect((await approve(at, id, { cookie, origin })).status).toBe(403)
        expect((await open(link, { method: 'POST', headers: { cookie, origin } })).status).toBe(403)
      }
      expect((await approve(at, id, { cookie })).status).toBe(403)
      expect(await status()).toBe('pending')
      expect((await approve(at, id, { cookie, origin: at.url })).status).toBe(200)
      await end()
    },
    HANG,
  )

  test(
    'ends: an old one answers nothing',
    async () => {
      const clock = quickClock(1)
      const at = await running({ ...options, clock, settings: { approval_timeout_ms: 7 * 86_400_000 } })
      const { id, status, end } = await asked({ at })
      const ada = await person(at, 'ada')
      const cookie = await cookieOf(at, ada.token)
      clock.skip(13 * 3_600_000)
      expect((await approve(at, id, { cookie, origin: at.url })).status).toBe(401)
      expect(await status()).toBe('pending')
      await end()
    },
    HANG,
  )

  test(
    'is asked for where the tenant says so, and must belong to an approver of the tenant who did not make the call',
    async () => {
      const {
        at,
        approve: link,
        open,
        status,
        end,
        session,
      } = await asked({ settings: { approval_links: 'sign_in' } })
      const [ada, vi] = [await person(at, `ada${count}`), await person(at, `vi${count}`, 'viewer')]
      const owner = await cookieOf(at, at.token)
      const post = async (cookie?: string) => {
        const headers = { origin: at.url, ...(cookie === undefined ? {} : { cookie }) }
        return (await open(link, { method: 'POST', headers })).status
      }
      expect(await (await open(link)).text()).toContain('Sign in to answer')
      expect(await post()).toBe(401)
      expect(await post(await cookieOf(at, vi.token))).toBe(403)
      // The token of the owner made the call.
      expect(await post(owner)).toBe(403)
      expect(await status()).toBe('pending')
      expect(await post(await cookieOf(at, ada.token))).toBe(200)
      expect(await end()).toMatchObject({ kind: 'allow' })
      const steps = await auditSteps(at, session)
      expect(steps.map(({ name, by }) => `${name} ${by}`)).toEqual([
        expect.stringContaining('approval_requested'),
        `approval_refused ${vi.name}`,
        'approval_refused admin',
        `approval_approved ${ada.name}`,
      ])
    },
    HANG,
  )

  test(
    'of another tenant does not answer, and the link alone is not enough where two people must approve',
    async () => {
      const { at, approve: link, open, status, end } = await asked({ hook: { approvers: 2 } })
      expect((await open(link, { method: 'POST' })).status).toBe(401)
      await at.call('POST', '/v1/tenants', { name: `other${count}` })
      const { body } = await at.call(
        'POST',
        '/v1/tokens',
        { name: 'eve', role: 'owner' },
        { 'x-hookhelm-tenant': `other${count}` },
      )
      const cookie = await cookieOf(at, body.token)
      expect((await open(link, { method: 'POST', headers: { cookie, origin: at.url } })).status).toBe(403)
      expect(await status()).toBe('pending')
      await end()
    },
    HANG,
  )
})

test(
  'the subject of a mail cannot begin another header',
  async () => {
    const { smtpReceiver } = await import('../rules/receivers.fixture.ts')
    const smtp = await smtpReceiver()
    const at = await running({
      ...options,
      settings: { smtp: { host: '127.0.0.1', port: smtp.port, from: 'ask@hookhelm.example' } },
    })
    const to = { type: 'email', to: 'ada@example.com' }
    const { end } = await asked({
      at,
      command: 'push\r\nBcc: eve@evil.example\r\n\r\n<script>alert(1)</script>',
      settings: {
        approval_routes: [
          { name: 'mail', to },
          {
            name: 'chat',
            to: {
              type: 'slack',
              url: `http://127.0.0.1:${(chat.address() as AddressInfo).port}/${count + 1}`,
            },
          },
        ],
      },
    })
    const [mail] = await at.until(
      async () => smtp.mails,
      (list) => list.length === 1,
    )
    const [head = ''] = mail?.data.split('\n\n') ?? []
    expect(head).not.toMatch(/^bcc:/im)
    expect(head).toMatch(/^content-type: text\/plain/im)
    expect(mail?.to).not.toContain('eve')
    await end()
  },
  HANG,
)

test(
  'links name the public address, and the gateway answers there and at no other name',
  async () => {
    const at = await running({ ...options, settings: { public_url: 'https://hooks.example' } })
    const { text, approve, end } = await asked({ at })
    expect(text).toContain('<https://hooks.example/answer/')
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve) =>
        request(`${at.url}${approve}`, { headers: { host } }, ({ statusCode }) => resolve(statusCode)).end(),
      )
    expect([await statusFor('hooks.example'), await statusFor('evil.example')]).toEqual([200, 421])
    await end()
  },
  HANG,
)
