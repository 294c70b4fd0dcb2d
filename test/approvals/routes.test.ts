import { expect, test } from 'vitest'
import { verifyWebhook } from '../../src/webhooks.ts'
import { quickClock } from '../crash/quick-clock.fixture.ts'
import { type Running, running, shared } from '../gateway/running.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { httpReceiver, smtpReceiver } from '../rules/receivers.fixture.ts'
import { gatewayHome } from '../runs/crash.fixture.ts'
import { askingHook, auditSteps, heldCall, pendingOf, person } from './people.fixture.ts'

const HANG = 120_000
const options = { outbound: { allow: ['127.0.0.1'] } }
const gateway = shared(() => options)

let count = 0
/** A session that no other test has used. */
const envelope = () => {
  count += 1
  return { envelope: { session: `r${count}`, agent: 'claude-code', cwd: '/srv/shop' } }
}

async function setting(at: Pick<Running, 'call'>, settings: object, scope?: 'gateway') {
  const given = { settings, ...(scope === undefined ? {} : { scope }) }
  const { status, body } = await at.call('PATCH', '/v1/settings', given)
  expect({ status, body }).toMatchObject({ status: 200 })
}

/** The tenant with its routes, one hook that asks, and a person who answers. */
async function routed(routes: readonly object[], at: Running = gateway()) {
  await setting(at, { approval_routes: routes })
  const { body } = await at.call('GET', '/v1/hooks')
  if (!body.hooks.some(({ name }: { name: string }) => name === 'careful')) await at.hook(askingHook)
  count += 1
  return { person: await person(at, `p${count}`) }
}

async function messagesOf(at: Pick<Running, 'call'>, id: string) {
  const { body } = await at.call('GET', `/v1/approvals/${id}`)
  return body.approval.messages as { route: string; state: string; member?: string; error: string | null }[]
}

const linksIn = (text: string) => text.match(/http:\/\/[^\s|>"]+\/answer\/[^\s|>"]+/g) ?? []

test(
  'a signed webhook, a Slack-compatible webhook and a mail carry the question with its links, and a failing one comes again',
  async () => {
    const receiver = await httpReceiver((n) => (n === 1 ? 503 : 200))
    const smtp = await smtpReceiver()
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
    await setting(
      gateway(),
      { smtp: { host: '127.0.0.1', port: smtp.port, from: 'ask@hookhelm.example' } },
      'gateway',
    )
    const { person: ada } = await routed([
      { name: 'program', to: { type: 'webhook', url: `${receiver.url}/hook`, secret } },
      { name: 'chat', to: { type: 'slack', url: `${receiver.url}/slack` } },
      { name: 'mail', to: { type: 'email', to: 'ada@example.com' } },
    ])
    const call = heldCall(gateway(), 'git push --force', envelope())
    const [{ approval_id }] = await pendingOf(gateway())
    const received = await gateway().until(
      async () => receiver.received,
      (list) => list.length === 3,
    )
    const hook = received.findLast(({ path }) => path === '/hook')
    expect(verifyWebhook(hook?.headers as never, hook?.body ?? '', { secrets: [secret] })).toBeUndefined()
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({
      type: 'approval.requested',
      data: { approval_id, reason: 'a push needs a person', route: 'program', recipient: 'route program' },
    })
    expect(hook?.body).not.toContain('tool_input')
    const chat = JSON.parse(received.findLast(({ path }) => path === '/slack')?.body ?? '')
    expect(chat.text).toContain('```git push --force```')
    expect(linksIn(chat.text)).toHaveLength(2)
    const [mail] = await gateway().until(
      async () => smtp.mails,
      (list) => list.length === 1,
    )
    expect(mail?.to).toContain('ada@example.com')
    expect(mail?.data).toMatch(/Subject: Approval: claude-code in shop wants git push --force/)
    const messages = await gateway().until(
      () => messagesOf(gateway(), approval_id),
      (rows) => rows.every(({ state }) => state === 'sent'),
    )
    expect(messages.map(({ route }) => route).toSorted()).toEqual(['chat', 'mail', 'program'])
    await ada.answer('deny', approval_id)
    await call
  },
  HANG,
)

test(
  'without an answer the next route is used after its minutes, and at the deadline the call is denied',
  async () => {
    const receiver = await httpReceiver()
    // An hour passes in two minutes; a script would miss its deadline.
    const functions = { ask: () => ({ kind: 'ask', reason: 'a push needs a person' }) }
    const at = await running({ ...options, functions, clock: quickClock(30) })
    await at.hook({ ...askingHook, handler_type: 'function', config: { name: 'ask' } })
    await routed(
      [
        { name: 'first', to: { type: 'slack', url: `${receiver.url}/first` } },
        { name: 'second', after_minutes: 2, to: { type: 'slack', url: `${receiver.url}/second` } },
        { name: 'never', after_minutes: 60, to: { type: 'slack', url: `${receiver.url}/never` } },
      ],
      at,
    )
    await setting(at, { approval_timeout_ms: 240_000 })
    const call = heldCall(at, 'git push', { within_ms: 600_000 })
    const [{ approval_id, created_at }] = await pendingOf(at)
    expect((await call).body.decision).toMatchObject({ kind: 'block', code: 'approval.expired' })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/first', '/second'])
    const [first, second, never] = await messagesOf(at, approval_id)
    expect([first, second, never]).toMatchObject([
      { state: 'sent' },
      { state: 'sent' },
      { state: 'not sent', error: 'not sent: the deadline has passed' },
    ])
    expect((second as unknown as { at: number }).at - created_at).toBeGreaterThanOrEqual(120_000)
  },
  HANG,
)

test(
  'the members of a team get it in their mailboxes and channels; an answer cancels what waits',
  async () => {
    const receiver = await httpReceiver()
    await gateway().call('POST', '/v1/teams', {
      name: 'on-call',
      members: [
        { name: 'ada', channels: [{ type: 'slack', url: `${receiver.url}/ada` }] },
        { name: 'bob', channels: [{ type: 'slack', url: `${receiver.url}/bob` }] },
      ],
    })
    const { person: cy } = await routed([
      { name: 'team', to: { type: 'team', team: 'on-call', members: ['ada'] } },
      { name: 'all', after_minutes: 5, to: { type: 'team', team: 'on-call' } },
      { name: 'gone', to: { type: 'team', team: 'no-such-team' } },
    ])
    const call = heldCall(gateway(), 'git push', envelope())
    const [{ approval_id }] = await pendingOf(gateway())
    const [first] = await gateway().until(
      async () => receiver.received,
      (list) => list.length === 1,
    )
    expect(first?.path).toBe('/ada')
    const { body } = await gateway().call('GET', '/v1/mailbox?team=on-call')
    expect(body.messages).toMatchObject([
      {
        member: 'ada',
        summary: 'claude-code in shop wants git push',
        text: expect.stringContaining('/ui/approvals'),
      },
    ])
    expect(linksIn(body.messages[0].text)).toEqual([])
    await gateway().until(
      () => messagesOf(gateway(), approval_id),
      (rows) => rows.some(({ route, state }) => route === 'gone' && state === 'failed'),
    )
    await cy.answer('approve', approval_id)
    expect((await call).body.decision.kind).toBe('allow')
    const states = (await messagesOf(gateway(), approval_id)).map(
      ({ route, member, state }) => `${route}${member === undefined ? '' : ` ${member}`}: ${state}`,
    )
    expect(states.toSorted()).toEqual(['all: not sent', 'gone: failed', 'team ada: sent', 'team: sent'])
  },
  HANG,
)

test(
  'a hook that names routes uses those, and all if none of them exists',
  async () => {
    const receiver = await httpReceiver()
    const { person: ada } = await routed([
      { name: 'one', to: { type: 'slack', url: `${receiver.url}/one` } },
      { name: 'two', to: { type: 'slack', url: `${receiver.url}/two` } },
    ])
    const ask = { event: 'pre_tool_use', handler_type: 'script', matcher: '^Deploy$' }
    const source = `function handle() { return { decision: 'ask', reason: 'deploys need a person' } }`
    const hookId = await gateway().hook({ ...ask, config: { source }, routes: ['two'] })
    const routesUsed = async () => {
      const call = gateway().dispatch(
        'pre_tool_use',
        { tool_name: 'Deploy', tool_input: { to: 'production' } },
        { ...envelope(), within_ms: 60_000 },
      )
      const [{ approval_id }] = await pendingOf(gateway())
      const messages = await messagesOf(gateway(), approval_id)
      await ada.answer('deny', approval_id)
      await call
      return messages.map(({ route }) => route).toSorted()
    }
    expect(await routesUsed()).toEqual(['two'])
    await gateway().call('PATCH', `/v1/hooks/${hookId}`, { updates: { routes: ['tow'] } })
    expect(await routesUsed()).toEqual(['one', 'two'])
  },
  HANG,
)

test(
  'a gateway that is killed before a message has left sends it after its restart, and its link answers',
  async () => {
    let isUp = false
    const receiver = await httpReceiver(() => (isUp ? 200 : 503))
    const home = gatewayHome()
    const first = await home.open()
    await setting(first, { allowed_hosts: ['127.0.0.1'] }, 'gateway')
    await setting(first, { approval_routes: [{ name: 'chat', to: { type: 'slack', url: receiver.url } }] })
    await first.call('POST', '/v1/hooks', { scope: 'tenant', ...askingHook })
    const payload = { tool_name: 'Bash', tool_input: { command: 'git push' } }
    const event = { event: 'pre_tool_use', payload, envelope: { session: 'k1' }, within_ms: 60_000 }
    const lost = first.call('POST', '/v1/dispatch', event).catch(() => 'lost')
    await first.until(
      async () => receiver.received.length,
      (tries) => tries > 0,
    )
    await first.kill()
    await lost
    isUp = true
    // What the gateway that died held would be free half a minute later.
    await home.execute('update deliveries set due_at = 0')
    const second = await home.open()
    const again = second.call('POST', '/v1/dispatch', event)
    const last = await second.until(
      async () => receiver.received.at(-1),
      () => receiver.received.length > 1,
    )
    const [approve = ''] = linksIn(JSON.parse(last?.body ?? '').text)
    const page = await fetch(second.url + new URL(approve).pathname, { method: 'POST' })
    expect(page.status).toBe(200)
    expect((await again).body.decision).toMatchObject({ kind: 'allow', grant: true })
  },
  HANG,
)

test(
  'PostgreSQL: a link that one node sent is answered on another, and the call that waits on the first goes on',
  async () => {
    const receiver = await httpReceiver()
    const database = await freshDatabase()
    const shared = { ...options, database: database.url, env: { HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32) } }
    const [first, second] = [await running(shared), await running(shared)]
    await setting(first, { approval_routes: [{ name: 'chat', to: { type: 'slack', url: receiver.url } }] })
    await first.hook(askingHook)
    const call = heldCall(first, 'git push')
    const [message] = await first.until(
      async () => receiver.received,
      (list) => list.length === 1,
    )
    const [approve = ''] = linksIn(JSON.parse(message?.body ?? '').text)
    const path = new URL(approve).pathname
    expect((await fetch(second.url + path, { method: 'POST' })).status).toBe(200)
    expect((await call).body.decision).toMatchObject({ kind: 'allow', grant: true })
    expect((await fetch(first.url + path, { method: 'POST' })).status).toBe(409)
  },
  HANG,
)

test(
  'over the budget a call is blocked with its code, and one alert shows in log, audit and status',
  async () => {
    const at = await running({ settings: { approval_budget: { per_session: 2 } } })
    await at.hook(askingHook)
    const calls = [heldCall(at, 'git push a'), heldCall(at, 'git push b')]
    await pendingOf(at, 2)
    for (const command of ['git push c', 'git push d'])
      expect((await heldCall(at, command)).body.decision).toMatchObject({
        kind: 'block',
        code: 'approval.budget',
        message: expect.stringContaining('asked people 2 times within an hour'),
      })
    expect(at.logged.filter(({ name }) => name === 'approval.budget')).toHaveLength(1)
    const steps = await auditSteps(at)
    expect(steps.filter(({ name }) => name === 'approval_over_budget')).toHaveLength(1)
    const { body } = await at.call('GET', '/v1/status')
    const line = body.lines.find(({ name }: { name: string }) => name === 'approvals')
    expect(line).toMatchObject({ state: 'warn', text: expect.stringContaining('(2 so far)') })
    const ada = await person(at, 'ada')
    for (const { approval_id } of await pendingOf(at, 2)) await ada.answer('deny', approval_id)
    await Promise.all(calls)
  },
  HANG,
)

test(
  'a grant is listed and can be revoked: the next identical call is asked about again',
  async () => {
    const { person: ada } = await routed([])
    const here = envelope()
    const first = heldCall(gateway(), 'git push', here)
    const [{ approval_id }] = await pendingOf(gateway())
    await ada.answer('approve', approval_id, { grant_ms: 600_000 })
    await first
    const granted = async () => (await ada.call('GET', '/v1/approvals?granted=true')).body.approvals
    expect(await granted()).toMatchObject([{ approval_id }])
    expect((await heldCall(gateway(), 'git push', here)).body.decision.kind).toBe('allow')
    expect((await ada.answer('revoke', approval_id)).status).toBe(200)
    expect((await ada.answer('revoke', approval_id)).status).toBe(404)
    expect(await granted()).toEqual([])
    const again = heldCall(gateway(), 'git push', here)
    const [next] = await pendingOf(gateway())
    await ada.answer('deny', next.approval_id)
    expect((await again).body.decision.kind).toBe('block')
    const steps = await auditSteps(gateway(), here.envelope.session)
    expect(steps).toContainEqual(expect.objectContaining({ name: 'approval_revoked', by: ada.name }))
  },
  HANG,
)

test(
  'a drafted hook answers for exactly the call it was drafted from, until it expires',
  async () => {
    const at = await running()
    await at.hook(askingHook)
    const ada = await person(at, 'ada')
    const first = heldCall(at, 'git push')
    const [{ approval_id }] = await pendingOf(at)
    const { body } = await ada.call('GET', `/v1/approvals/${approval_id}/draft?for_ms=3600000`)
    await ada.answer('deny', approval_id)
    await first
    expect(body.hook).toMatchObject({
      ...{ event: 'pre_tool_use', scope: 'agent', agent_ids: ['claude-code'], preapproves: true },
      ...{ matcher: '^Bash$', match: { fields: { 'tool_input.command': 'git push' } } },
      expires_at: expect.stringMatching(/^2\d{3}-.*Z$/),
    })
    expect((await ada.call('POST', '/v1/hooks', body.hook)).status).toBe(403)
    const { status, body: saved } = await at.call('POST', '/v1/hooks', body.hook)
    expect({ status, saved }).toMatchObject({ status: 200 })
    expect((await heldCall(at, 'git push')).body.decision).toMatchObject({
      kind: 'allow',
      grant: true,
      reason: 'the hook allow git push allows calls like this',
    })
    expect(await auditSteps(at)).toContainEqual(expect.objectContaining({ name: 'approval_preapproved' }))
    const others = [
      heldCall(at, 'git push --force'),
      at.dispatch(
        'pre_tool_use',
        { tool_name: 'Bash', tool_input: { command: 'git push', timeout: 1 } },
        { envelope: { session: 's1', agent: 'claude-code' }, within_ms: 60_000 },
      ),
    ]
    for (const pending of await pendingOf(at, 2)) await ada.answer('deny', pending.approval_id)
    for (const other of others) expect((await other).body.decision.kind).toBe('block')
    const past = { updates: { expires_at: '2020-01-01T00:00:00Z' } }
    expect((await at.call('PATCH', `/v1/hooks/${saved.hookId}`, past)).status).toBe(200)
    const expired = heldCall(at, 'git push')
    const [asked] = await pendingOf(at)
    await ada.answer('deny', asked.approval_id)
    await expired
    const rows = (await at.call('GET', '/v1/executions?decision=skipped&limit=9')).body.executions
    expect(rows[0]).toMatchObject({ code: 'guard.expired' })
    const { lines } = (await at.call('GET', '/v1/status')).body
    expect(lines.find(({ name }: { name: string }) => name === 'hooks').text).toContain(', 1 expired')
  },
  HANG,
)

test(
  'a hook that preapproves answers neither for a managed hook nor where two people must approve',
  async () => {
    const at = await running()
    const asking = await at.hook({ ...askingHook, approvers: 2 })
    await at.hook({
      ...{ event: 'pre_tool_use', handler_type: 'script', matcher: '^Bash$', preapproves: true },
      config: { source: `function handle() { return { decision: 'allow', grant: true } }` },
    })
    const kind = async () => (await heldCall(at, 'git push', { within_ms: undefined })).body.decision.kind
    expect(await kind()).toBe('ask')
    await at.call('PATCH', `/v1/hooks/${asking}`, { updates: { approvers: 1 } })
    expect(await kind()).toBe('allow')
    await at.call('PATCH', `/v1/hooks/${asking}`, { updates: { locked: true } })
    expect(await kind()).toBe('ask')
  },
  HANG,
)
