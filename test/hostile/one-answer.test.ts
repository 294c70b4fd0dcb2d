import { describe, expect, onTestFinished, test } from 'vitest'
import { askingHook, heldCall, pendingOf, person, push, WITHIN_MS } from '../approvals/people.fixture.ts'
import { as, socketOf, tokenFor } from '../gateway/doors.fixture.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { httpReceiver } from '../rules/receivers.fixture.ts'

const HANG = 120_000
const ENVELOPE = { session: 's1', agent: 'claude-code', cwd: '/srv/shop' }

const stores = {
  SQLite: async () => ({}),
  PostgreSQL: async () => {
    const database = await freshDatabase()
    onTestFinished(() => database.drop())
    return { database: database.url, env: { HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32) } }
  },
}

async function asking(hook: object = {}, options: object = {}) {
  const gateway = await running(options)
  await gateway.hook({ ...askingHook, ...hook })
  return { gateway, ada: await person(gateway, 'ada'), bob: await person(gateway, 'bob') }
}

/** Identical calls that wait at once, and how many of them have run so far. */
function identicalCalls(gateway: Running, count: number) {
  let ran = 0
  const calls = Array.from({ length: count }, () =>
    heldCall(gateway).then(({ body }) => {
      if (body.decision.kind === 'allow') ran += 1
      return body.decision.kind as string
    }),
  )
  return {
    calls,
    ran: (wanted: number) =>
      gateway.until(
        async () => ran,
        (n) => n >= wanted,
      ),
  }
}

describe.each(Object.entries(stores))('on %s', (_, options) => {
  test(
    'one answer releases one of five identical calls, and more only as many as the person says',
    async () => {
      const { gateway, ada } = await asking({}, await options())
      const { calls, ran } = identicalCalls(gateway, 5)
      const waiting = await pendingOf(gateway, 5)
      expect(waiting.map(({ identical }: { identical: number }) => identical)).toEqual(Array(5).fill(5))
      expect((await ada.answer('approve', waiting[4].approval_id)).body.approvals).toHaveLength(1)
      expect(await ran(1)).toBe(1)
      const rest = await pendingOf(gateway, 4)
      expect(rest[0].identical).toBe(4)
      const two = { alike: true, calls: 2 }
      expect((await ada.answer('approve', rest[0].approval_id, two)).body.approvals).toHaveLength(2)
      expect(await ran(3)).toBe(3)
      const [last] = await pendingOf(gateway, 2)
      await ada.answer('deny', last.approval_id, { alike: true })
      expect((await Promise.all(calls)).toSorted()).toEqual(['allow', 'allow', 'allow', 'block', 'block'])
    },
    HANG,
  )

  test(
    'where two people must approve, two votes release one of five identical calls',
    async () => {
      const { gateway, ada, bob } = await asking({ approvers: 2 }, await options())
      const { calls, ran } = identicalCalls(gateway, 5)
      const [{ approval_id }] = await pendingOf(gateway, 5)
      await ada.answer('approve', approval_id)
      await bob.answer('approve', approval_id)
      expect(await ran(1)).toBe(1)
      const [{ approval_id: next }] = await pendingOf(gateway, 4)
      await bob.answer('deny', next, { alike: true })
      expect((await Promise.all(calls)).filter((kind) => kind === 'allow')).toHaveLength(1)
    },
    HANG,
  )

  test(
    'a used approval gives its answer again once, and only to the caller that sent the call',
    async () => {
      const { gateway, ada } = await asking({}, await options())
      const [own, other] = [
        await tokenFor(gateway, { role: 'agent', name: 'own' }),
        await tokenFor(gateway, { role: 'agent', name: 'other' }),
      ]
      const send = (token: string, more: object = {}) =>
        gateway.call(
          'POST',
          '/v1/dispatch',
          { event: 'pre_tool_use', payload: push(), envelope: ENVELOPE, within_ms: 2_001, ...more },
          as(token),
        )
      const first = send(own.token, { within_ms: WITHIN_MS })
      const [{ approval_id }] = await pendingOf(gateway)
      // Others that name it while it waits have questions of their own.
      const early = await Promise.all([
        send(other.token, { approval_id }),
        send(other.token, { approval_id }),
      ])
      expect(early.map(({ body }) => body.decision.code)).toEqual(['approval.pending', 'approval.pending'])
      await ada.answer('approve', approval_id)
      expect((await first).body.decision.kind).toBe('allow')
      const kinds: string[] = []
      for (const token of [other.token, own.token, own.token, own.token])
        kinds.push((await send(token, { approval_id })).body.decision.kind)
      expect(kinds).toEqual(['block', 'allow', 'block', 'block'])
    },
    HANG,
  )
})

test(
  'a caller that sends its waiting call again on further connections gets one answer',
  async () => {
    const { gateway, ada } = await asking()
    const event = { event: 'pre_tool_use', payload: push(), envelope: ENVELOPE, within_ms: WITHIN_MS }
    const lines = Array.from({ length: 5 }, () => openLines(gateway.socket ?? ''))
    lines[0]?.send({ id: 1, ...event })
    const approval_id = String((await lines[0]?.next())?.pending).slice(-20)
    for (const line of lines.slice(1)) {
      line.send({ id: 1, ...event, approval_id })
      expect(String((await line.next()).pending)).toContain(approval_id)
    }
    await ada.answer('approve', approval_id)
    const answers = await Promise.all(lines.map((line) => line.next()))
    const kinds = answers.map((answer) => (answer.decision as { kind: string } | undefined)?.kind ?? 'error')
    expect(kinds).toEqual(['error', 'error', 'error', 'error', 'allow'])
  },
  HANG,
)

test(
  'a link of a message answers one of several identical calls, and its page says how many wait',
  async () => {
    const { gateway } = await asking({}, { outbound: { allow: ['127.0.0.1'] } })
    const receiver = await httpReceiver()
    const approval_routes = [{ name: 'chat', to: { type: 'slack', url: receiver.url } }]
    await gateway.call('PATCH', '/v1/settings', { settings: { approval_routes } })
    const { calls, ran } = identicalCalls(gateway, 3)
    const messages = await gateway.until(
      async () => receiver.received,
      (received) => received.length === 3,
    )
    const [approve = ''] = messages[0]?.body.match(/http:[^|"]+\/answer\/[^|"]+/) ?? []
    expect(await (await fetch(approve)).text()).toContain('3 identical calls wait; this answers one of them.')
    expect((await fetch(approve, { method: 'POST' })).status).toBe(200)
    expect(await ran(1)).toBe(1)
    expect((await fetch(approve, { method: 'POST' })).status).not.toBe(200)
    const [{ approval_id }, { approval_id: other }] = await pendingOf(gateway, 2)
    for (const id of [approval_id, other]) await gateway.call('POST', `/v1/approvals/${id}/cancel`, {})
    expect((await Promise.all(calls)).filter((kind) => kind === 'allow')).toHaveLength(1)
  },
  HANG,
)

test('an answer for all calls gives no grant to one that could not get it by itself', async () => {
  const { gateway, ada } = await asking()
  const { session: _, ...nameless } = ENVELOPE
  const calls = [heldCall(gateway), heldCall(gateway, undefined, { envelope: nameless })]
  const waiting = await pendingOf(gateway, 2)
  const named = waiting.find(({ session_id }: { session_id: string | null }) => session_id !== null)
  await ada.answer('approve', named.approval_id, { alike: true, grant_ms: 60_000 })
  for (const call of calls) expect((await call).body.decision.kind).toBe('allow')
  const { body } = await gateway.call('GET', '/v1/approvals?granted=true')
  expect(body.approvals).toMatchObject([{ session_id: 's1' }])
  const again = await heldCall(gateway, undefined, { envelope: nameless, within_ms: 2_001 })
  expect(again.body.decision.code).toBe('approval.pending')
})

describe('a token that is bound to an agent', () => {
  const claim = { event: 'pre_tool_use', payload: push(), envelope: ENVELOPE, within_ms: 2_001 }
  const claims = [
    { agent: 'claude-code' },
    { agentId: 'claude-code' },
    { agent: 'claude-code', agentId: 'bot' },
    { agent: 'bot', agentId: 'claude-code' },
  ]

  async function bound() {
    const { gateway, ada } = await asking()
    const { token } = await tokenFor(gateway, { role: 'agent', agentId: 'bot', name: 'bot' })
    const granted = heldCall(gateway)
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('approve', approval_id, { grant_ms: 60_000 })
    await granted
    return { gateway, token, ada }
  }

  test('is refused at gates through every door if the envelope names another agent', async () => {
    const { gateway, token } = await bound()
    const { agent: _, ...rest } = ENVELOPE
    for (const other of claims) {
      const event = { ...claim, envelope: { ...rest, ...other } }
      const overHttp = await gateway.call('POST', '/v1/dispatch', event, as(token))
      expect([other, overHttp.status, overHttp.body.error.details.code]).toEqual([other, 403, 'auth.scope'])
      const lines = openLines(gateway.socket ?? '', { hookhelm: 1, token })
      lines.send({ id: 1, ...event })
      expect(await lines.next()).toMatchObject({ id: 1, error: { code: 'auth.scope' } })
      const frames = await socketOf({ url: gateway.url, token })
      const answer = await frames.call('dispatch', event)
      expect([other, JSON.stringify(answer)]).toEqual([other, expect.stringContaining('auth.scope')])
    }
    const native = { session_id: 's1', cwd: '/srv/shop', tool_name: 'Bash', tool_input: push().tool_input }
    const path = '/v1/agents/claude-code/PreToolUse?within_ms=2001'
    expect((await gateway.call('POST', path, native, as(token))).status).toBe(403)
  })

  test('is recorded elsewhere as its own agent, and gets no answer for another by naming its host', async () => {
    const { gateway, token } = await bound()
    const told = { event: 'notification', payload: {}, envelope: { ...ENVELOPE, session: 'told' } }
    expect((await gateway.call('POST', '/v1/dispatch', told, as(token))).status).toBe(200)
    const events = await gateway.until(
      () => gateway.call('GET', '/v1/sessions/told/timeline'),
      ({ body }) => body.events?.length === 1,
    )
    expect(JSON.stringify(events.body)).not.toContain('claude-code')
    const { agent: host, ...rest } = ENVELOPE
    const { body } = await gateway.call(
      'POST',
      '/v1/dispatch',
      { ...claim, envelope: { ...rest, host } },
      as(token),
    )
    expect(body.decision.code).toBe('approval.pending')
  })
})
