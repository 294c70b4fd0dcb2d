import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { httpReceiver } from '../rules/receivers.fixture.ts'
import { askingHook, heldCall, pendingOf, person, push, WITHIN_MS } from './people.fixture.ts'

const HANG = 120_000
const ENVELOPE = { session: 's1', agent: 'claude-code', cwd: '/srv/shop' }

async function asking(hook: object = {}) {
  const gateway = await running()
  await gateway.hook({ ...askingHook, ...hook })
  const [ada, bob] = [await person(gateway, 'ada'), await person(gateway, 'bob')]
  return { gateway, ada, bob }
}

/** The decision of a call that asks nobody, or `asked` if a person has to answer it. */
async function outcomeOf(gateway: Running, command: string | undefined, envelope: object) {
  const { body } = await heldCall(gateway, command, { envelope, within_ms: 2_001 })
  return body.decision.code === 'approval.pending' ? 'asked' : body.decision.kind
}

describe('an approval covers only what the person saw', () => {
  test(
    'a grant does not cover the same command in another folder or of another agent',
    async () => {
      const { gateway, ada } = await asking()
      const call = heldCall(gateway)
      const [{ approval_id }] = await pendingOf(gateway)
      await ada.answer('approve', approval_id, { grant_ms: 60_000 })
      await call
      expect(await outcomeOf(gateway, undefined, ENVELOPE)).toBe('allow')
      expect(await outcomeOf(gateway, undefined, { ...ENVELOPE, cwd: '/' })).toBe('asked')
      expect(await outcomeOf(gateway, undefined, { ...ENVELOPE, agent: 'codex' })).toBe('asked')
    },
    HANG,
  )

  test(
    'one answer for identical calls does not decide the call that runs in another folder',
    async () => {
      const { gateway, ada } = await asking()
      const calls = ['/srv/shop', '/'].map((cwd, n) =>
        heldCall(gateway, undefined, { envelope: { ...ENVELOPE, session: `s${n}`, cwd } }),
      )
      const approvals = await pendingOf(gateway, 2)
      const shown = approvals.find(({ folder }: { folder: string }) => folder === '/srv/shop')
      await ada.answer('approve', shown.approval_id, { alike: true })
      expect((await calls[0])?.body.decision.kind).toBe('allow')
      const [{ approval_id, folder }] = await pendingOf(gateway)
      expect(folder).toBe('/')
      await ada.answer('deny', approval_id)
      expect((await calls[1])?.body.decision.kind).toBe('block')
    },
    HANG,
  )

  test('a grant is refused where no session limits it, and where several people must approve', async () => {
    const { gateway, ada } = await asking()
    const call = heldCall(gateway, undefined, { envelope: { agent: 'claude-code' } })
    const [{ approval_id }] = await pendingOf(gateway)
    const refused = await ada.answer('approve', approval_id, { grant_ms: 60_000 })
    expect(refused.status).toBe(400)
    expect(refused.body.error.message).toContain('session')
    await ada.answer('deny', approval_id)
    await call

    const two = await asking({ approvers: 2 })
    const other = heldCall(two.gateway)
    const [{ approval_id: second }] = await pendingOf(two.gateway)
    expect((await two.ada.answer('approve', second, { grant_ms: 60_000 })).status).toBe(400)
    await two.ada.answer('deny', second)
    await other
  })

  test('an edit must have the type of the arguments', async () => {
    const { gateway, ada } = await asking()
    const call = heldCall(gateway)
    const [{ approval_id }] = await pendingOf(gateway)
    for (const input of ['git push', null, ['git push'], 1, true])
      expect([input, (await ada.answer('approve', approval_id, { input })).status]).toEqual([input, 400])
    await ada.answer('deny', approval_id)
    expect((await call).body.decision.kind).toBe('block')
  })

  test('the card names the folder in which the command runs', async () => {
    const { gateway, ada } = await asking()
    const start = { session_id: 'c1', cwd: gateway.home, source: 'startup' }
    await gateway.call('POST', '/v1/agents/claude-code/SessionStart', start)
    const native = {
      ...{ session_id: 'c1', cwd: '/', tool_name: 'Bash' },
      tool_input: { command: 'git push' },
    }
    const call = gateway.call('POST', '/v1/agents/claude-code/PreToolUse?within_ms=60000', native)
    const [{ approval_id, folder }] = await pendingOf(gateway)
    expect(folder).toBe('/')
    await ada.answer('deny', approval_id)
    await call
  })
})

describe('where two people must approve', () => {
  const second = {
    ...askingHook,
    name: 'two people',
    approvers: 2,
    config: { source: `function handle() { return { decision: 'ask', reason: 'two people' } }` },
  }

  test('a hook that asks for one does not lower the number', async () => {
    const { gateway, ada, bob } = await asking({ priority: 10 })
    await gateway.hook(second)
    const call = heldCall(gateway)
    const [{ approval_id, approvers_needed }] = await pendingOf(gateway)
    expect(approvers_needed).toBe(2)
    await ada.answer('approve', approval_id)
    expect((await pendingOf(gateway))[0].approval_id).toBe(approval_id)
    await bob.answer('approve', approval_id)
    expect((await call).body.decision.kind).toBe('allow')
  })

  test('one person cannot edit a call into one that needs two', async () => {
    const { gateway, ada } = await asking()
    await gateway.hook({ ...second, matcher: 'Bash(git push --force*)' })
    const call = heldCall(gateway, 'git push')
    const [{ approval_id, approvers_needed }] = await pendingOf(gateway)
    expect(approvers_needed).toBe(1)
    await ada.answer('approve', approval_id, { input: { command: 'git push --force' } })
    const [next] = await pendingOf(gateway)
    expect(next).toMatchObject({ approvers_needed: 2, input: { command: 'git push --force' } })
    await ada.answer('deny', next.approval_id)
    expect((await call).body.decision.kind).toBe('block')
  })

  test('an answer of one person does not count after a hook began to ask for two', async () => {
    const { gateway, ada } = await asking()
    const call = heldCall(gateway)
    const [{ approval_id }] = await pendingOf(gateway)
    await ada.answer('approve', approval_id, { grant_ms: 60_000 })
    expect((await call).body.decision.kind).toBe('allow')
    await gateway.hook(second)
    expect(await outcomeOf(gateway, undefined, ENVELOPE)).toBe('asked')
  })

  test('an edit is approved by two who both saw it', async () => {
    const { gateway, ada, bob } = await asking({ approvers: 2 })
    const eve = await person(gateway, 'eve')
    const call = heldCall(gateway)
    const [{ approval_id }] = await pendingOf(gateway)
    const input = { command: 'git push --force origin main' }
    await ada.answer('approve', approval_id)
    await bob.answer('approve', approval_id, { input })
    expect((await pendingOf(gateway))[0]).toMatchObject({ edited: input })
    const unseen = await eve.answer('approve', approval_id)
    expect(unseen.status).toBe(409)
    expect(unseen.body.error.message).toContain('edited')
    await eve.answer('approve', approval_id, { input })
    expect((await call).body.decision).toMatchObject({ kind: 'allow', input })
  })
})

test.each([-3_600_000, 86_400_000])(
  'a question reaches its route, and its link answers, though the wall clock is set by %d ms',
  async (jump) => {
    const clock = fakeClock()
    const gateway = await running({ clock, socket: false, outbound: { allow: ['127.0.0.1'] } })
    const receiver = await httpReceiver()
    await gateway.hook(askingHook)
    const approval_routes = [{ name: 'chat', to: { type: 'slack', url: receiver.url } }]
    await gateway.call('PATCH', '/v1/settings', { settings: { approval_routes } })
    clock.jump(jump)
    const call = heldCall(gateway)
    const [message] = await gateway.until(
      async () => receiver.received,
      (received) => received.length === 1,
    )
    const [approve = ''] = message?.body.match(/http:[^|"]+\/answer\/[^|"]+/) ?? []
    expect((await fetch(approve)).status).toBe(200)
    expect((await fetch(approve, { method: 'POST' })).status).toBe(200)
    expect((await call).body.decision.kind).toBe('allow')
  },
  HANG,
)

test.each([
  [-1, 200, 'allow'],
  [0, 409, 'block'],
  [1, 409, 'block'],
])('an answer %d ms after the deadline gets %d, and the call is answered %s', async (late, status, kind) => {
  const clock = fakeClock()
  const gateway = await running({ clock, socket: false })
  await gateway.hook(askingHook)
  await gateway.call('PATCH', '/v1/settings', { settings: { approval_timeout_ms: 10_000 } })
  const ada = await person(gateway, 'ada')
  const call = heldCall(gateway)
  const [{ approval_id, created_at, deadline_at }] = await pendingOf(gateway)
  expect(deadline_at - created_at).toBe(10_000)
  clock.stall(10_000 + late)
  expect((await ada.answer('approve', approval_id)).status).toBe(status)
  await clock.advance(1_000)
  expect((await call).body.decision.kind).toBe(kind)
})

test('of many people who approve, deny and cancel at once one wins, and the call gets that answer', async () => {
  const { gateway } = await asking()
  const people: Awaited<ReturnType<typeof person>>[] = []
  for (let n = 0; n < 30; n++) people.push(await person(gateway, `person-${n}`))
  const call = heldCall(gateway)
  const [{ approval_id }] = await pendingOf(gateway)
  const verdicts = ['approve', 'deny', 'cancel'] as const
  const kinds = { approve: 'allow', deny: 'block', cancel: 'block' }
  const answers = await Promise.all(
    people.map(async (who, n) => {
      const verdict = verdicts[n % 3] ?? 'deny'
      const input = verdict === 'approve' ? { input: { command: `git push ${who.name}` } } : {}
      const { status } = await who.answer(verdict, approval_id, input)
      return { who, verdict, status, ...input }
    }),
  )
  const [winner, ...others] = answers.filter(({ status }) => status === 200)
  expect([others, answers.filter(({ status }) => status === 409).length]).toEqual([[], 29])
  const { decision } = (await call).body
  expect(decision.kind).toBe(kinds[winner?.verdict ?? 'deny'])
  expect(decision.input).toEqual(winner?.input)
  if (winner?.verdict !== 'cancel') expect(decision.reason).toContain(winner?.who.name)
})

test('a number beyond 2⁵³ is asked about, shown, edited and answered digit by digit', async () => {
  const { gateway, ada } = await asking({
    matcher: '^Pay$',
    config: { source: `function handle() { return { decision: 'ask', reason: 'money' } }` },
  })
  const text = async (verb: string, path: string, body?: string, token = gateway.token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}${path}`, { method: verb, headers, body: body ?? null })
    return response.text()
  }
  const call = text(
    'POST',
    '/v1/dispatch',
    `{"event":"pre_tool_use","payload":{"tool_name":"Pay","tool_input":{"account":9007199254740993}},
      "envelope":{"session":"s1"},"within_ms":${WITHIN_MS}}`,
  )
  const asked = Promise.race([call, pendingOf(gateway)])
  const [{ approval_id }] = (await asked) as Awaited<ReturnType<typeof pendingOf>>
  expect(await text('GET', `/v1/approvals/${approval_id}`)).toContain('"input":{"account":9007199254740993}')
  const edit = '{"input":{"account":9007199254740995}}'
  await text('POST', `/v1/approvals/${approval_id}/approve`, edit, ada.token)
  expect(await call).toContain('"input":{"account":9007199254740995}')
})

test('a caller that says it can wait for years waits for the answer', async () => {
  const { gateway, ada } = await asking()
  const call = heldCall(gateway, undefined, { within_ms: 1e12 })
  const [{ approval_id }] = await pendingOf(gateway)
  await ada.answer('approve', approval_id)
  expect((await call).body.decision.kind).toBe('allow')
})

describe('the budget of questions', () => {
  test('of an agent counts whatever session it names, and calls that name no agent', async () => {
    const { gateway } = await asking()
    const settings = { approval_budget: { per_agent: 2 } }
    expect((await gateway.call('PATCH', '/v1/settings', { settings })).status).toBe(200)
    const codesOf = (envelopes: readonly object[]) =>
      Promise.all(
        envelopes.map(async (envelope, n) => {
          const call = await heldCall(gateway, `git push ${n}`, { envelope, within_ms: 2_001 })
          return call.body.decision.code
        }),
      )
    const named = await codesOf(['a', 'b', 'c'].map((session) => ({ session, agent: 'claude-code' })))
    const unnamed = await codesOf(['a', 'b', 'c'].map((session) => ({ session })))
    for (const codes of [named, unnamed])
      expect(codes.toSorted()).toEqual(['approval.budget', 'approval.pending', 'approval.pending'])
  })
})

describe('a hook that allows calls like one', () => {
  async function drafted(input: object, envelope: object = ENVELOPE) {
    const gateway = await running()
    await gateway.hook({
      ...askingHook,
      matcher: '.',
      config: { source: `function handle() { return { decision: 'ask', reason: 'always' } }` },
    })
    const ada = await person(gateway, 'ada')
    const send = (tool_input: object, where: object = envelope, more: object = {}) =>
      gateway.dispatch('pre_tool_use', { tool_name: 'Tool', tool_input }, { envelope: where, ...more })
    const call = send(input, envelope, { within_ms: WITHIN_MS })
    const [{ approval_id }] = await pendingOf(gateway)
    const { body } = await gateway.call('GET', `/v1/approvals/${approval_id}/draft`)
    await ada.answer('deny', approval_id)
    await call
    await gateway.hook(body.hook)
    const kindOf = async (given: object, where?: object) => (await send(given, where)).body.decision.kind
    return { kindOf, notes: body.notes }
  }

  test(
    'allows that call, and none with other, missing or further arguments, whatever they contain',
    async () => {
      const hostile = {
        command: `rm -rf "$(pwd)"/* '..' \\ \n\t\u202e \${x} */`,
        'a.b': 'dot',
        '': 'no name',
        'with "quotes" \\ and \n': true,
        empty: {},
        none: null,
        list: ['a', 1, { deep: ['b'] }, []],
        nested: { '': { command: 'x' }, size: 2 },
      }
      const { kindOf, notes } = await drafted(hostile)
      expect(notes).toEqual([])
      expect(await kindOf(hostile)).toBe('allow')
      const { empty: _, ...withoutEmpty } = hostile
      for (const other of [
        { ...hostile, command: `${hostile.command} ` },
        { ...hostile, 'a.b': 'other' },
        { ...hostile, '': 'other' },
        { ...hostile, 'with "quotes" \\ and \n': false },
        { ...hostile, empty: { force: true } },
        { ...hostile, empty: 0 },
        { ...withoutEmpty, force: true },
        { ...hostile, none: false },
        { ...hostile, list: ['a', 1, { deep: ['c'] }, []] },
        { ...hostile, list: [...hostile.list, 'more'] },
        { ...hostile, nested: { '': { command: 'y' }, size: 2 } },
        { ...hostile, further: true },
        {},
      ])
        expect([other, await kindOf(other)]).toEqual([other, 'ask'])
    },
    HANG,
  )

  test('counts in the folder of the call only', async () => {
    const { kindOf } = await drafted({ command: 'rm -rf build' })
    expect(await kindOf({ command: 'rm -rf build' })).toBe('allow')
    expect(await kindOf({ command: 'rm -rf build' }, { ...ENVELOPE, cwd: '/' })).toBe('ask')
    expect(await kindOf({ command: 'rm -rf build' }, { session: 's1', agent: 'claude-code' })).toBe('ask')
  })

  test('does not answer when its condition cannot be evaluated', async () => {
    const gateway = await running()
    await gateway.hook(askingHook)
    await gateway.hook({
      ...{ event: 'pre_tool_use', handler_type: 'script', preapproves: true, matcher: '^Bash$' },
      if_expr: 'tool_input.limit < 10',
      config: { source: `function handle() { return { decision: 'allow', grant: true } }` },
    })
    const { body } = await gateway.dispatch('pre_tool_use', push(), { envelope: ENVELOPE })
    expect(body.decision).toMatchObject({ kind: 'ask' })
    const history = await gateway.until(
      () => gateway.call('GET', '/v1/executions?decision=skipped'),
      (answer) => answer.body.executions?.length > 0,
    )
    expect(history.body.executions[0]).toMatchObject({ error: expect.stringContaining('if_expr failed') })
  })
})
