import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { running } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { askingHook, auditSteps, pendingOf, person, push, WITHIN_MS } from './people.fixture.ts'

async function asking(options: Parameters<typeof running>[0] = {}) {
  const gateway = await running(options)
  await gateway.hook(askingHook)
  const held = (command?: string, more: object = {}) =>
    gateway.dispatch('pre_tool_use', push(command), {
      envelope: { session: 's1', agent: 'claude-code', cwd: '/srv/shop' },
      within_ms: WITHIN_MS,
      ...more,
    })
  return { gateway, held, ada: await person(gateway, 'ada') }
}

describe('a call that a hook asks about', () => {
  test('waits, shows what it does, and runs when a person approves it', async () => {
    const { gateway, held, ada } = await asking()
    const call = held()
    const [approval] = await pendingOf(gateway)
    expect(approval).toMatchObject({
      ...{ event: 'pre_tool_use', tool: 'Bash', what: 'git push --force', agent: 'claude-code' },
      ...{ reason: 'a push needs a person', folder: '/srv/shop', session_id: 's1', hook_name: 'careful' },
      input: { command: 'git push --force' },
      can_edit: true,
    })
    expect((await ada.answer('approve', approval.approval_id)).status).toBe(200)
    expect((await call).body.decision).toMatchObject({ kind: 'allow', grant: true })
  })

  test('is blocked with the message of the person who denies it', async () => {
    const { gateway, held, ada } = await asking()
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('deny', approval_id, { message: 'push without --force' })
    expect((await call).body.decision).toMatchObject({
      kind: 'block',
      code: 'approval.denied',
      message: expect.stringContaining('ada denied this: push without --force'),
    })
  })

  test('is blocked if a person withdraws the question', async () => {
    const { gateway, held, ada } = await asking()
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    expect((await ada.answer('cancel', approval_id)).body.approval).toMatchObject({ status: 'cancelled' })
    expect((await call).body.decision).toMatchObject({ kind: 'block', code: 'approval.cancelled' })
  })

  test('of an agent over HTTP waits as long as its address says', async () => {
    const { gateway, ada } = await asking()
    const native = { session_id: 'h1', cwd: '/srv', tool_name: 'Bash', tool_input: { command: 'git push' } }
    const call = gateway.call('POST', '/v1/agents/claude-code/PreToolUse?within_ms=60000', native)
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('approve', approval_id)
    expect((await call).body.hookSpecificOutput).toMatchObject({ permissionDecision: 'allow' })
  })

  test('runs the edited arguments', async () => {
    const { gateway, held, ada } = await asking()
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('approve', approval_id, { input: { command: 'git push --force-with-lease' } })
    expect((await call).body.decision).toMatchObject({
      kind: 'allow',
      input: { command: 'git push --force-with-lease' },
    })
  })

  test('is blocked if another hook blocks the edited arguments', async () => {
    const { gateway, held, ada } = await asking()
    await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'script',
      matcher: 'Bash(rm *)',
      config: { source: `function handle() { return { decision: 'block', reason: 'never delete' } }` },
    })
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('approve', approval_id, { input: { command: 'rm -rf /' } })
    expect((await call).body.decision).toMatchObject({ kind: 'block', reason: 'never delete' })
  })

  test('is denied when its caller can wait no longer; the same call then finds the answer, once', async () => {
    const { gateway, held, ada } = await asking()
    const denied = await held(undefined, { within_ms: 2_001 })
    expect(denied.body.decision).toMatchObject({ kind: 'block', code: 'approval.pending' })
    const [{ approval_id }] = await pendingOf(gateway)
    expect(denied.body.decision.message).toContain(approval_id)
    await ada.answer('approve', approval_id)
    expect((await held()).body.decision).toMatchObject({ kind: 'allow', grant: true })
    const third = held()
    const [next] = await pendingOf(gateway)
    expect(next.approval_id).not.toBe(approval_id)
    await ada.answer('deny', next.approval_id)
    await third
  })

  test('is not covered by an answer for other arguments or another session', async () => {
    const { gateway, held, ada } = await asking()
    const calls = [
      held(),
      held('git push --force origin main'),
      held(undefined, { envelope: { session: 's2' } }),
    ]
    const approvals = await pendingOf(gateway, 3)
    const first = approvals.find(
      (each: { what: string; session_id: string }) =>
        each.what === 'git push --force' && each.session_id === 's1',
    )
    await ada.answer('approve', first.approval_id)
    expect((await calls[0])?.body.decision.kind).toBe('allow')
    for (const { approval_id } of await pendingOf(gateway, 2)) await ada.answer('deny', approval_id)
    const rest = await Promise.all(calls.slice(1))
    expect(rest.map(({ body }) => body.decision.kind)).toEqual(['block', 'block'])
  })

  test('expires at its deadline', async () => {
    const { gateway, held } = await asking({ settings: { approval_timeout_ms: 1_000 } })
    expect((await held()).body.decision).toMatchObject({ kind: 'block', code: 'approval.expired' })
    const { body } = await gateway.call('GET', '/v1/approvals')
    expect(body).toMatchObject({ approvals: [{ status: 'expired' }], pending: 0 })
  })

  test('is cancelled when its caller leaves', async () => {
    const { gateway } = await asking()
    const client = openLines(gateway.socket ?? '')
    client.send({ id: 1, event: 'pre_tool_use', payload: push(), within_ms: WITHIN_MS })
    expect(await client.next()).toMatchObject({
      id: 1,
      pending: expect.stringMatching(/approval apr_[0-9a-f]{16}$/),
      until_ms: expect.any(Number),
    })
    await pendingOf(gateway)
    client.socket.destroy()
    const { body } = await gateway.until(
      () => gateway.call('GET', '/v1/approvals'),
      ({ body: { pending } }) => pending === 0,
    )
    expect(body.approvals).toMatchObject([{ status: 'cancelled', decided_by: 'the caller left' }])
  })

  test('is cancelled when its caller aborts it, and other calls of the connection wait on', async () => {
    const { gateway, ada } = await asking()
    const client = createClient({ socket: gateway.socket ?? '' })
    onTestFinished(() => client.close())
    const leaver = new AbortController()
    const send = (session: string, more: object = {}) =>
      client.dispatch(
        { event: 'pre_tool_use', payload: push(), envelope: { session } },
        { waitMs: WITHIN_MS, ...more },
      )
    const stays = send('stays')
    const [{ approval_id }] = await pendingOf(gateway)
    const leaves = send('leaves', { signal: leaver.signal })
    await pendingOf(gateway, 2)
    leaver.abort()
    await expect(leaves).rejects.toMatchObject({ code: 'engine.aborted' })
    expect(await pendingOf(gateway)).toMatchObject([{ session_id: 'stays' }])
    const { body } = await gateway.call('GET', '/v1/approvals?status=cancelled')
    expect(body.approvals).toMatchObject([{ session_id: 'leaves', decided_by: 'the caller left' }])
    await ada.answer('approve', approval_id)
    expect((await stays).decision).toMatchObject({ kind: 'allow', grant: true })
  })

  test('keeps its question if it comes back in time, and gets one answer for both connections', async () => {
    const { gateway, ada } = await asking()
    const event = {
      event: 'pre_tool_use',
      payload: push(),
      within_ms: WITHIN_MS,
      envelope: { session: 'back' },
    }
    const first = openLines(gateway.socket ?? '')
    first.send({ id: 1, ...event })
    const approval_id = String((await first.next()).pending).slice(-20)
    first.socket.destroy()
    const second = openLines(gateway.socket ?? '')
    second.send({ id: 1, ...event, approval_id })
    expect(String((await second.next()).pending)).toContain(approval_id)
    await ada.answer('approve', approval_id)
    expect(await second.next()).toMatchObject({ decision: { kind: 'allow', grant: true } })
    // As if the answer was lost on its way: the call that waited gets it again, another call does not.
    const third = openLines(gateway.socket ?? '')
    third.send({ id: 1, ...event, approval_id })
    expect(await third.next()).toMatchObject({ decision: { kind: 'allow', grant: true } })
    third.send({ id: 2, ...event, payload: push('git push --force --all'), approval_id })
    expect(await third.next()).toMatchObject({ id: 2, pending: expect.not.stringContaining(approval_id) })
    const { body } = await gateway.call('GET', '/v1/sessions/back/timeline')
    const calls = body.events.filter(({ event }: { event: string }) => event === 'pre_tool_use')
    expect(calls).toHaveLength(2)
  })

  test('is blocked at once if its caller can neither wait nor ask', async () => {
    const { gateway } = await asking()
    const native = { session_id: 'n1', cwd: '/srv', tool_name: 'Bash', tool_input: { command: 'git push' } }
    const { body } = await gateway.call('POST', '/v1/agents/codex/PreToolUse', native)
    const code = 'approval.no_wait'
    expect(JSON.stringify(body)).toContain(`the caller can neither wait nor ask (${code})`)
    expect((await gateway.call('GET', '/v1/approvals')).body.approvals).toEqual([])
  })

  test('does not keep other calls of its connection waiting, however many wait', async () => {
    const { gateway } = await asking()
    const client = openLines(gateway.socket ?? '')
    const count = 400
    for (let id = 1; id <= count; id++)
      client.send({ id, event: 'pre_tool_use', payload: push(`git push ${id}`), within_ms: WITHIN_MS })
    for (let id = 1; id <= count; id++) expect(await client.next()).toHaveProperty('pending')
    client.send({ id: 'free', event: 'pre_tool_use', payload: push('git status'), within_ms: WITHIN_MS })
    expect(await client.next()).toMatchObject({ id: 'free', decision: { kind: 'allow' } })
  })

  test('without within_ms is answered `ask` at once, for a program that asks by itself', async () => {
    const { gateway, held } = await asking()
    expect((await held(undefined, { within_ms: undefined })).body.decision).toMatchObject({ kind: 'ask' })
    expect((await gateway.call('GET', '/v1/approvals')).body.approvals).toEqual([])
  })
})

describe('who may answer', () => {
  test('a viewer and another tenant learn nothing and decide nothing', async () => {
    const { gateway, held, ada } = await asking({ edition: 'standard' })
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    const viewer = await person(gateway, 'vi', 'viewer')
    expect((await viewer.answer('approve', approval_id)).status).toBe(403)
    expect((await viewer.call('GET', '/v1/approvals')).status).toBe(403)
    await gateway.call('POST', '/v1/tenants', { name: 'other' })
    const inOther = { 'x-hookhelm-tenant': 'other' }
    const foreign = await gateway.call('POST', `/v1/approvals/${approval_id}/approve`, {}, inOther)
    expect(foreign.status).toBe(404)
    expect((await gateway.call('GET', '/v1/approvals', undefined, inOther)).body.approvals).toEqual([])
    await ada.answer('deny', approval_id)
    expect((await call).body.decision.kind).toBe('block')
  })

  test('the token that sent the call may not, unless the tenant allows it', async () => {
    const { gateway, held } = await asking()
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    const approve = () => gateway.call('POST', `/v1/approvals/${approval_id}/approve`, {})
    expect(await approve()).toMatchObject({
      status: 403,
      body: { error: { details: { code: 'approval.own' } } },
    })
    await gateway.call('PATCH', '/v1/settings', { settings: { own_approvals: true } })
    expect((await approve()).status).toBe(200)
    expect((await call).body.decision.kind).toBe('allow')
  })

  test('of two people at once one wins, and the other learns who and when', async () => {
    const { gateway, held, ada } = await asking()
    const bob = await person(gateway, 'bob')
    const call = held()
    const [{ approval_id }] = await pendingOf(gateway)
    const answers = await Promise.all([ada.answer('approve', approval_id), bob.answer('deny', approval_id)])
    const [lost] = answers.filter(({ status }) => status === 409)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(lost?.body.error.details.code).toBe('approval.decided')
    expect(lost?.body.error.message).toMatch(/it was (approved by ada|denied by bob) at 2\d{3}-/)
    const won = answers[0]?.status === 200 ? 'allow' : 'block'
    expect((await call).body.decision.kind).toBe(won)
  })

  test('two approvers where the hook asks for two', async () => {
    const gateway = await running()
    await gateway.hook({ ...askingHook, approvers: 2 })
    const [ada, bob] = [await person(gateway, 'ada'), await person(gateway, 'bob')]
    const call = gateway.dispatch('pre_tool_use', push(), { within_ms: WITHIN_MS })
    const [{ approval_id }] = await pendingOf(gateway)
    const first = await ada.answer('approve', approval_id)
    expect(first.body.approvals).toMatchObject([{ status: 'pending' }])
    expect((await ada.answer('approve', approval_id)).body.error.message).toContain('another person')
    await bob.answer('approve', approval_id)
    expect((await call).body.decision).toMatchObject({
      kind: 'allow',
      reason: expect.stringContaining('ada and bob approved this'),
    })
  })
})

test('identical calls of many sessions are answered together', async () => {
  const { gateway, held, ada } = await asking()
  const calls = [1, 2, 3].map((n) => held(undefined, { envelope: { session: `s${n}` } }))
  const [{ approval_id }] = await pendingOf(gateway, 3)
  const { body } = await ada.answer('approve', approval_id, { alike: true })
  expect(body.approvals).toHaveLength(3)
  for (const call of calls) expect((await call).body.decision.kind).toBe('allow')
})

test('a grant lets identical calls of the session pass without a question', async () => {
  const { gateway, held, ada } = await asking()
  const call = held()
  const [{ approval_id }] = await pendingOf(gateway)
  await ada.answer('approve', approval_id, { grant_ms: 60_000 })
  await call
  expect((await held()).body.decision).toMatchObject({ kind: 'allow', grant: true })
  expect((await gateway.call('GET', '/v1/approvals')).body.approvals).toHaveLength(1)
})

test('every step is in the audit with who and from where', async () => {
  const { gateway, held, ada } = await asking()
  const call = held()
  const [{ approval_id }] = await pendingOf(gateway)
  await ada.answer('approve', approval_id, { input: { command: 'git push' } })
  await call
  const details = await auditSteps(gateway)
  expect(details).toMatchObject([
    { name: 'approval_requested', approval_id, by: expect.any(String) },
    { name: 'approval_approved', approval_id, by: 'ada', from: '127.0.0.1', edited: { command: 'git push' } },
  ])
  expect((await gateway.call('POST', '/v1/audit/verify', {})).body.ok).toBe(true)
})

test('an open question survives a restart, and its answer counts for the call that is made again', async () => {
  const { gateway, held } = await asking()
  const call = held().catch((error: unknown) => error)
  const [{ approval_id }] = await pendingOf(gateway)
  await gateway.close()
  await call
  const next = await running({ home: gateway.home })
  const again = next.dispatch('pre_tool_use', push(), {
    envelope: { session: 's1', agent: 'claude-code', cwd: '/srv/shop' },
    within_ms: WITHIN_MS,
  })
  expect((await pendingOf(next))[0].approval_id).toBe(approval_id)
  const ada = await person(next, 'ada again')
  await ada.answer('approve', approval_id)
  expect((await again).body.decision.kind).toBe('allow')
})

test('an answer on one node reaches the call that waits on another', async () => {
  const database = await freshDatabase()
  const options = { database: database.url, env: { HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32) } }
  const { gateway, held } = await asking(options)
  const other = await running(options)
  const bob = await person(other, 'bob')
  const call = held()
  const [{ approval_id }] = await pendingOf(gateway)
  await bob.answer('approve', approval_id)
  expect((await call).body.decision.kind).toBe('allow')
})
