import { describe, expect, onTestFinished, test } from 'vitest'
import { askingHook, heldCall, pendingOf, person, push, WITHIN_MS } from '../approvals/people.fixture.ts'
import { as, socketOf, tokenFor } from '../gateway/doors.fixture.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { httpReceiver } from '../rules/receivers.fixture.ts'

const HANG = 120_000
const ENVELOPE = { session: 's1', agent: 'claude-code', cwd: '/srv/shop' }
const SHORT_MS = 2_001

const stores = {
  SQLite: async () => ({}),
  PostgreSQL: async () => {
    const database = await freshDatabase()
    onTestFinished(() => database.drop())
    return { database: database.url, env: { HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32) } }
  },
}

async function member(gateway: Running, params: object, headers = {}) {
  const { status, body } = await gateway.call('POST', '/v1/members', params, headers)
  expect([status, body]).toEqual([200, { member: expect.objectContaining(params) }])
  return body.member as { id: string; name: string }
}

/** Answers with a token of its own. */
async function answerer(gateway: Running, name: string, of: string) {
  const { token } = await tokenFor(gateway, { role: 'approver', name, member: of })
  return (verdict: 'approve' | 'deny', id: string, more: object = {}) =>
    gateway.call('POST', `/v1/approvals/${id}/${verdict}`, more, as(token))
}

const callAs = (gateway: Running, token: string, more: object = {}) =>
  gateway.call(
    'POST',
    '/v1/dispatch',
    { event: 'pre_tool_use', payload: push(), envelope: ENVELOPE, within_ms: WITHIN_MS, ...more },
    as(token),
  )

describe.each(Object.entries(stores))('on %s', (_, options) => {
  test(
    'the tokens of one member are one approver, and those of two are two',
    async () => {
      const gateway = await running(await options())
      await gateway.hook({ ...askingHook, approvers: 2 })
      await member(gateway, { name: 'ada', kind: 'person' })
      const [desk, phone] = [await answerer(gateway, 'desk', 'ada'), await answerer(gateway, 'phone', 'ada')]
      const bob = await person(gateway, 'bob')
      const call = heldCall(gateway)
      const [{ approval_id }] = await pendingOf(gateway)
      expect((await desk('approve', approval_id)).status).toBe(200)
      const again = await phone('approve', approval_id)
      expect([again.status, again.body.error.message]).toEqual([
        409,
        'you have answered; another person has to answer too',
      ])
      expect((await pendingOf(gateway))[0].votes).toHaveLength(1)
      expect((await bob.answer('approve', approval_id)).status).toBe(200)
      expect((await call).body.decision.kind).toBe('allow')
    },
    HANG,
  )

  test(
    'the vote of a removed member does not count',
    async () => {
      const gateway = await running(await options())
      await gateway.hook({ ...askingHook, approvers: 2 })
      const gone = await member(gateway, { name: 'gone', kind: 'person' })
      const approve = await answerer(gateway, 'desk', 'gone')
      const [ada, bob] = [await person(gateway, 'ada'), await person(gateway, 'bob')]
      const call = heldCall(gateway)
      const [{ approval_id }] = await pendingOf(gateway)
      expect((await approve('approve', approval_id)).status).toBe(200)
      expect((await gateway.call('DELETE', `/v1/members/${gone.id}`)).status).toBe(200)
      const first = await ada.answer('approve', approval_id)
      expect(first.body.approvals).toMatchObject([{ status: 'pending' }])
      const second = await bob.answer('approve', approval_id)
      expect(second.body.approvals).toMatchObject([{ status: 'approved' }])
      expect((await call).body.decision.kind).toBe('allow')
    },
    HANG,
  )

  test(
    'a removed member has no token, link, grant or open connection, and its waiting calls are blocked',
    async () => {
      const gateway = await running({ ...(await options()), outbound: { allow: ['127.0.0.1'] } })
      await gateway.hook(askingHook)
      const bot = await member(gateway, { name: 'bot', kind: 'machine' })
      const ada = await member(gateway, { name: 'ada', identities: ['ada@example.com', 'Ada L.'] })
      const { token } = await tokenFor(gateway, { role: 'operator', name: 'bot', member: bot.id })
      const approve = await answerer(gateway, 'desk', 'ada')
      const granted = callAs(gateway, token)
      const [{ approval_id }] = await pendingOf(gateway)
      await approve('approve', approval_id, { grant_ms: 600_000 })
      expect((await granted).body.decision.kind).toBe('allow')
      const frames = await socketOf({ url: gateway.url, token })
      const lines = openLines(gateway.socket ?? '', { hookhelm: 1, token })
      lines.send({ id: 1, event: 'notification', payload: {} })
      expect(await lines.next()).toMatchObject({ id: 1, decision: { kind: 'allow' } })
      const stream = await fetch(`${gateway.url}/v1/changes/tail`, {
        headers: { ...as(token), accept: 'text/event-stream' },
      })
      const waiting = callAs(gateway, token, { payload: push('git push --all') })
      await pendingOf(gateway)
      expect((await gateway.call('DELETE', `/v1/members/${bot.name}`)).status).toBe(200)
      expect((await waiting).body.decision).toMatchObject({ kind: 'block', code: 'approval.cancelled' })
      await Promise.all([frames.closed, lines.closed, stream.text().catch(() => '')])
      expect((await callAs(gateway, token)).status).toBe(401)
      expect((await gateway.call('GET', '/v1/approvals?granted=true')).body.approvals).toEqual([])
      const { body } = await gateway.call('GET', '/v1/tokens')
      expect(JSON.stringify(body)).not.toContain(bot.id)

      // Of the one who answers: a link that she has not used, and a grant that she gave.
      const receiver = await httpReceiver()
      const channel = { type: 'slack', url: receiver.url }
      const definition = { name: 'ops', members: [{ name: 'Ada L.', channels: [channel] }] }
      expect((await gateway.call('POST', '/v1/teams', definition)).status).toBe(201)
      const approval_routes = [{ name: 'team', to: { type: 'team', team: 'ops' } }]
      await gateway.call('PATCH', '/v1/settings', { settings: { approval_routes } })
      const { token: other } = await tokenFor(gateway, { role: 'agent', name: 'other' })
      const first = callAs(gateway, other)
      const [{ approval_id: second }] = await pendingOf(gateway)
      await approve('approve', second, { grant_ms: 600_000 })
      await first
      const last = callAs(gateway, other, { payload: push('git push --tags') })
      const links = await gateway.until(
        async () =>
          receiver.received.flatMap(({ body: text }) => text.match(/http:[^|"]+\/answer\/[^|"]+/g) ?? []),
        (found) => found.length > 0,
      )
      const answer = () => fetch(links.at(-2) ?? '', { method: 'POST' })
      expect((await gateway.call('DELETE', `/v1/members/${ada.id}`)).status).toBe(200)
      expect((await answer()).status).toBe(404)
      expect((await gateway.call('GET', '/v1/approvals?granted=true')).body.approvals).toEqual([])
      const [{ approval_id: open }] = await pendingOf(gateway)
      expect((await approve('approve', open)).status).toBe(401)
      await gateway.call('POST', `/v1/approvals/${open}/cancel`, {})
      expect((await last).body.decision.kind).toBe('block')
    },
    HANG,
  )
})

test('who sent a call does not answer it with another token, or by a link', async () => {
  const gateway = await running({ outbound: { allow: ['127.0.0.1'] } })
  await gateway.hook(askingHook)
  const receiver = await httpReceiver()
  const channels = [{ type: 'slack', url: receiver.url }]
  await gateway.call('POST', '/v1/teams', { name: 'ops', members: [{ name: 'Ada', channels }] })
  const approval_routes = [{ name: 'team', to: { type: 'team', team: 'ops' } }]
  await gateway.call('PATCH', '/v1/settings', { settings: { approval_routes } })
  await member(gateway, { name: 'ada' })
  const { token } = await tokenFor(gateway, { role: 'operator', name: 'laptop', member: 'ada' })
  const phone = await answerer(gateway, 'phone', 'ada')
  const call = callAs(gateway, token)
  const [{ approval_id }] = await pendingOf(gateway)
  const refused = await phone('approve', approval_id)
  expect([refused.status, refused.body.error.details.code]).toEqual([403, 'approval.own'])
  const [approve = ''] = await gateway.until(
    async () => receiver.received.flatMap(({ body }) => body.match(/http:[^|"]+\/answer\/[^|"]+/g) ?? []),
    (found) => found.length > 0,
  )
  expect((await fetch(approve, { method: 'POST' })).status).toBe(403)
  await (await person(gateway, 'bob')).answer('deny', approval_id)
  expect((await call).body.decision.kind).toBe('block')
})

test('members are managed by admins of their tenant, who remove nobody above them', async () => {
  const gateway = await running({ edition: 'standard' })
  await gateway.call('POST', '/v1/tenants', { name: 'acme' })
  const inAcme = { 'x-hookhelm-tenant': 'acme' }
  const chief = await member(gateway, { name: 'chief' }, inAcme)
  await tokenFor(gateway, { role: 'owner', name: 'chief', member: chief.id }, 'acme')
  const { token: admin } = await tokenFor(gateway, { role: 'admin' }, 'acme')
  for (const role of ['agent', 'viewer', 'approver', 'operator']) {
    const { token } = await tokenFor(gateway, { role }, 'acme')
    const answers = [
      await gateway.call('GET', '/v1/members', undefined, as(token)),
      await gateway.call('POST', '/v1/members', { name: 'eve' }, as(token)),
      await gateway.call('DELETE', `/v1/members/${chief.id}`, undefined, as(token)),
    ]
    expect([role, answers.map(({ status }) => status)]).toEqual([role, [403, 403, 403]])
  }
  expect((await gateway.call('DELETE', '/v1/members/chief', undefined, as(admin))).status).toBe(403)
  expect((await gateway.call('GET', '/v1/members?master=true', undefined, as(admin))).status).toBe(403)
  expect((await gateway.call('DELETE', '/v1/members/owner?master=true')).status).toBe(409)
  // Neither name nor identity of another member can be claimed, nor a member of another tenant.
  const claims = [{ name: 'CHIEF' }, { name: 'eve', identities: ['Chief'] }]
  for (const claim of claims)
    expect((await gateway.call('POST', '/v1/members', claim, as(admin))).status).toBe(409)
  const foreign = { role: 'approver', name: 'spy', member: chief.id }
  expect((await gateway.call('POST', '/v1/tokens', foreign)).status).toBe(404)
  expect((await gateway.call('DELETE', `/v1/members/${chief.id}`)).status).toBe(404)
})

describe('a caller that names another session in each event', () => {
  const asks = (more: object) => ({
    ...{ event: 'pre_tool_use', handler_type: 'script', matcher: '^Bash$' },
    config: { source: `function handle() { return { decision: 'allow' } }` },
    ...more,
  })

  /** Sends calls with different session ids on a connection of this process, and says what became of each. */
  async function calls(gateway: Running, envelopes: readonly object[], agent?: string) {
    const kinds: string[] = []
    const lines = openLines(gateway.socket ?? '', { hookhelm: 1, pid: process.pid })
    for (const [id, envelope] of envelopes.entries()) {
      lines.send({ id, event: 'pre_tool_use', payload: push(), envelope: { agent, ...envelope } })
      const { decision } = (await lines.next()) as { decision: { kind: string; code?: string } }
      kinds.push(decision.code ?? decision.kind)
    }
    return kinds
  }
  const sessions = (cwd: string) => ['a', 'b', 'c'].map((session) => ({ session, turn: 't', cwd }))

  test('draws on one quota, one dedup window and one budget of questions', async () => {
    const gateway = await running()
    const quota = await gateway.hook(asks({ max_invocations_per_turn: 2 }))
    expect(await calls(gateway, sessions('/srv/shop'))).toEqual(['allow', 'allow', 'guard.quota'])
    // Another folder is another caller, and so is another process.
    expect(await calls(gateway, sessions('/srv/other'))).toEqual(['allow', 'allow', 'guard.quota'])
    await gateway.call('DELETE', `/v1/hooks/${quota}`)
    const once = await gateway.hook(asks({ dedup_window_ms: 60_000 }))
    await calls(gateway, sessions('/srv/shop'))
    const { body } = await gateway.until(
      () => gateway.call('GET', `/v1/executions?hookId=${once}`),
      ({ body: page }) => page.executions?.length === 3,
    )
    expect(body.executions.map(({ decision }: { decision: string }) => decision).toSorted()).toEqual([
      ...['allow', 'skipped', 'skipped'],
    ])
    await gateway.call('DELETE', `/v1/hooks/${once}`)
    await gateway.hook(askingHook)
    await gateway.call('PATCH', '/v1/settings', { settings: { approval_budget: { per_session: 2 } } })
    const lines = openLines(gateway.socket ?? '', { hookhelm: 1, pid: process.pid })
    const codes: unknown[] = []
    for (const [id, envelope] of sessions('/srv/shop').entries()) {
      lines.send({ id, event: 'pre_tool_use', payload: push(), envelope, within_ms: SHORT_MS })
      for (let line = await lines.next(); ; line = await lines.next()) {
        if (line.decision === undefined) continue
        codes.push((line.decision as { code?: string }).code)
        break
      }
    }
    expect(codes).toEqual(['approval.pending', 'approval.pending', 'approval.budget'])
  })

  test('of a coding agent stays in the turn that its last prompt began', async () => {
    const gateway = await running()
    await gateway.hook(asks({ max_invocations_per_turn: 2 }))
    let id = 0
    const send = async (event: string, native: object) => {
      // The parent of this process takes the place of the agent that starts clients.
      const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'claude-code', pid: process.pid })
      lines.send({ id: ++id, event, native: { cwd: gateway.home, hook_event_name: event, ...native } })
      return JSON.stringify(await lines.next())
    }
    const call = (session_id: string) =>
      send('PreToolUse', { session_id, tool_name: 'Bash', tool_input: { command: 'ls' } })
    const blocked = async (names: readonly string[]) => {
      const answers: boolean[] = []
      for (const name of names) answers.push((await call(name)).includes('deny'))
      return answers
    }
    await send('UserPromptSubmit', { session_id: 'a', prompt: 'go' })
    expect(await blocked(['a', 'b', 'c', 'd'])).toEqual([false, false, true, true])
    await send('UserPromptSubmit', { session_id: 'a', prompt: 'go on' })
    expect(await blocked(['a', 'x', 'y'])).toEqual([false, false, true])
  })

  test('on a connection that names no process counts with all such callers of its folder', async () => {
    const gateway = await running()
    await gateway.hook(asks({ max_invocations_per_turn: 2 }))
    const kinds: string[] = []
    for (const [id, envelope] of sessions('/srv/shop').entries()) {
      const lines = openLines(gateway.socket ?? '', { hookhelm: 1 })
      lines.send({ id, event: 'pre_tool_use', payload: push(), envelope })
      const { decision } = (await lines.next()) as { decision: { kind: string; code?: string } }
      kinds.push(decision.code ?? decision.kind)
    }
    expect(kinds).toEqual(['allow', 'allow', 'guard.quota'])
  })

  test('of a plugin counts as the process that it runs in', async () => {
    const gateway = await running()
    await gateway.hook(asks({ max_invocations_per_turn: 2 }))
    const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'opencode', pid: process.pid })
    const blocked: boolean[] = []
    for (const [id, sessionID] of ['a', 'b', 'c', 'd'].entries()) {
      const input = { tool: 'bash', sessionID, callID: `call_${id}` }
      const native = { input, output: { args: { command: 'ls' } }, directory: gateway.home }
      lines.send({ id, event: 'tool.execute.before', native })
      blocked.push(JSON.stringify(await lines.next()).includes('block'))
    }
    expect(blocked).toEqual([false, false, true, true])
  })

  test.each([
    ['folder', { cwd: '/srv/shop' }],
    ['member', {}],
  ])('is counted by %s where a hook says so, over HTTP too', async (count_per, envelope) => {
    const gateway = await running()
    await gateway.hook(asks({ max_invocations_per_turn: 2, count_per }))
    const tokens = [
      await tokenFor(gateway, {
        role: 'agent',
        name: 'one',
        member: (await member(gateway, { name: 'bot' })).id,
      }),
      await tokenFor(gateway, { role: 'agent', name: 'two', member: 'bot' }),
    ]
    const codes: unknown[] = []
    for (const [n, session] of ['a', 'b', 'c'].entries()) {
      const { body } = await callAs(gateway, tokens[n % 2]?.token ?? '', {
        envelope: { session, turn: session, ...envelope },
        within_ms: undefined,
      })
      codes.push(body.decision.code)
    }
    expect(codes).toEqual([undefined, undefined, 'guard.quota'])
  })
})
