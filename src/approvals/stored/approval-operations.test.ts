import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import { OWNER_MEMBER } from '../../access/tenant-tables.ts'
import { parseJson } from '../../safe/json.ts'
import type { Store } from '../../store/store.ts'
import type { ApprovalLink, RoutedApproval } from './approval-tables.ts'

let count = 0

function approval(tenant_id: string, fields: Partial<RoutedApproval> = {}): RoutedApproval {
  count += 1
  return {
    approval_id: `apr_${String(count).padStart(12, '0')}`,
    tenant_id,
    event: 'pre_tool_use',
    event_id: `e${count}`,
    hook_id: 'h1',
    hook_name: 'careful',
    agent: 'claude-code',
    session_id: 's1',
    run_id: null,
    folder: '/srv/shop',
    tool: 'Bash',
    what: 'git push --force',
    reason: 'a push needs a person',
    input: { command: 'git push --force' },
    input_hash: 'hash-1',
    requested_by: 'socket',
    caller_id: 'socket',
    caller_key: fields.session_id === null ? null : `session ${fields.session_id ?? 's1'}`,
    member_id: null,
    approvers_needed: 1,
    within_ms: 60_000,
    wait_ms: 0,
    ...fields,
  }
}

/** A question within its budget. */
async function request(store: Store, given: RoutedApproval, now: number) {
  const result = await store.requestApproval(given, now)
  if (result.approval === undefined) throw new Error('over the budget')
  return result
}

const approve = { verdict: 'approve', by: 'ada', from: '127.0.0.1' } as const
const deny = { verdict: 'deny', by: 'bob', from: '127.0.0.1', message: 'not today' } as const

onEachStore('approvals', (open) => {
  const at = shareStore(open)

  async function asked(fields: Partial<RoutedApproval> = {}) {
    const tenant = await newTenant(at.store)
    const given = approval(tenant, fields)
    const { approval: row } = await request(at.store, given, NOON)
    const again = (now = NOON + 1, more: Partial<RoutedApproval> = {}) =>
      request(at.store, approval(tenant, { ...fields, ...more }), now)
    return { tenant, given, row, id: given.approval_id, again }
  }

  test('a question is read as it was asked, and its texts are sealed', async () => {
    const { tenant, given, row } = await asked()
    const { within_ms: _, wait_ms: __, caller_key: ___, ...asGiven } = given
    expect(row).toEqual({
      ...asGiven,
      ...{ status: 'pending', votes: [], edited: null, created_at: NOON, deadline_at: NOON + 60_000 },
      ...{ decided_at: null, decided_by: null, used_at: null, granted_until: null },
    })
    expect(await at.store.findApproval(tenant, given.approval_id)).toEqual(row)
    const [stored] = await at.database.execute(`select * from approvals where tenant_id = '${tenant}'`)
    expect(JSON.stringify(stored)).not.toContain('push')
  })

  test('numbers beyond 2⁵³ keep their digits', async () => {
    const account = (digits: string) => parseJson(`{"account":${digits},"list":[{"x":1e999}]}`)
    const { tenant, id, row } = await asked({ input: account('9007199254740993') })
    expect(JSON.stringify(row.input)).toBe('{"account":9007199254740993,"list":[{"x":1e999}]}')
    const edited = account('-9007199254740995')
    await at.store.answerApproval(tenant, id, { ...approve, edited }, NOON)
    const found = await at.store.findApproval(tenant, id)
    expect(JSON.stringify([found?.input, found?.edited])).toBe(JSON.stringify([row.input, edited]))
  })

  test('the same call of the same session finds the pending question; other arguments, sessions and tenants do not', async () => {
    const { id, again } = await asked()
    expect(await again()).toMatchObject({ isNew: false, approval: { approval_id: id } })
    expect(await again(NOON, { input_hash: 'hash-2' })).toMatchObject({ isNew: true })
    expect(await again(NOON, { session_id: 's2' })).toMatchObject({ isNew: true })
    expect(await again(NOON, { session_id: null })).toMatchObject({ isNew: true })
    expect(await again(NOON, { session_id: null })).toMatchObject({ isNew: false })
    const other = await asked()
    expect(other.row.approval_id).not.toBe(id)
  })

  test('the questions of a run are found by it', async () => {
    const { tenant, id, again } = await asked({ run_id: 'run_1' })
    await again(NOON, { run_id: 'run_2', input_hash: 'hash-2' })
    const { rows } = await at.store.listApprovals(tenant, { run_id: 'run_1' }, { limit: 10 })
    expect(rows.map(({ approval_id }) => approval_id)).toEqual([id])
  })

  test('of a removed approver no vote counts, and what it approved ends unless its call has run', async () => {
    const two = { approvers_needed: 2, wait_ms: 0 }
    const { tenant, id } = await asked(two)
    const gone = {
      id: randomUUID(),
      tenant_id: tenant,
      name: 'gone',
      kind: 'person',
      created_at: NOON,
    } as const
    await at.store.saveMember(gone)
    const ask = async (input_hash: string) => {
      const given = approval(tenant, { ...two, input_hash })
      await at.store.requestApproval(given, NOON)
      return given
    }
    const vote = { ...approve, by: 'gone', member: gone.id }
    const [unused, used] = [await ask('hash-2'), await ask('hash-3')]
    await at.store.answerApproval(tenant, id, vote, NOON + 1)
    for (const { approval_id } of [unused, used]) {
      await at.store.answerApproval(tenant, approval_id, vote, NOON + 1)
      await at.store.answerApproval(tenant, approval_id, { ...approve, grant_ms: 50_000 }, NOON + 2)
    }
    expect(await at.store.useApproval(tenant, used.approval_id, used.event_id, NOON + 3)).toBe(true)
    expect(await at.store.deleteMember(gone, NOON + 4)).toBe(true)
    expect(await at.store.findApproval(tenant, id)).toMatchObject({ status: 'pending', votes: [] })
    expect(await at.store.findApproval(tenant, unused.approval_id)).toMatchObject({ status: 'cancelled' })
    expect(await at.store.useApproval(tenant, unused.approval_id, unused.event_id, NOON + 5)).toBe(false)
    expect(await at.store.findApproval(tenant, used.approval_id)).toMatchObject({
      ...{ status: 'approved', used_at: NOON + 3, granted_until: NOON + 4 },
    })
  })

  test('identical calls that wait at the same time ask once each, and one event on two connections asks once', async () => {
    const tenant = await newTenant(at.store)
    const nodes = [at.store, await at.database.reopen()]
    const asks = Array.from({ length: 20 }, (_, index) =>
      nodes[index % nodes.length]?.requestApproval(
        approval(tenant, { event_id: `same ${index >> 1}`, wait_ms: 60_000 }),
        NOON,
      ),
    )
    const results = await Promise.all(asks)
    expect(results.filter((result) => result?.isNew)).toHaveLength(10)
    expect(new Set(results.map((result) => result?.approval?.approval_id)).size).toBe(10)
    expect(await at.store.countIdenticalApprovals(tenant, ['hash-1', 'hash-2'])).toEqual({ 'hash-1': 10 })
  })

  test('of calls that come at the same time, one takes over the question of a call that no longer waits', async () => {
    const { tenant, id, given } = await asked({ wait_ms: 60_000 })
    const nodes = [at.store, await at.database.reopen()]
    const ask = (more: object = {}) =>
      Promise.all(
        nodes.map((node) => node.requestApproval(approval(tenant, { wait_ms: 60_000, ...more }), NOON + 1)),
      )
    const ids = async (results: ReturnType<typeof ask>) =>
      (await results).map((result) => result.approval?.approval_id)
    expect(await ids(ask())).not.toContain(id)
    await at.store.releaseApprovals([id])
    expect((await ids(ask())).filter((each) => each === id)).toHaveLength(1)
    await at.store.releaseApprovals([id])
    for (const other of [{ member_id: OWNER_MEMBER }, { session_id: 's2' }])
      expect(await ids(ask(other))).not.toContain(id)
    await at.store.answerApproval(tenant, id, approve, NOON + 2)
    expect((await ids(ask())).filter((each) => each === id)).toHaveLength(1)
    // The call that had waited first has lost it.
    expect(await at.store.useApproval(tenant, id, given.event_id, NOON + 3)).toBe(false)
    const { event_id } = given
    const back = await request(at.store, approval(tenant, { event_id, wait_ms: 60_000 }), NOON + 3)
    expect(back).toMatchObject({ isNew: true })
  })

  test('of two answers at the same time one counts, and the other learns whose', async () => {
    const { tenant, id } = await asked()
    const node = await at.database.reopen()
    const answers = await Promise.all([
      at.store.answerApproval(tenant, id, approve, NOON + 5),
      node.answerApproval(tenant, id, deny, NOON + 5),
    ])
    const [winner] = answers.filter((answer) => answer?.counted)
    expect(answers.filter((answer) => answer?.counted)).toHaveLength(1)
    const loser = answers.find((answer) => !answer?.counted)
    expect(loser?.approval).toMatchObject({
      status: winner?.approval.status,
      decided_by: winner?.approval.decided_by,
      decided_at: NOON + 5,
    })
  })

  test('an answer after the deadline does not count, and the sweep ends the question once', async () => {
    const { tenant, id } = await asked()
    expect(await at.store.answerApproval(tenant, id, approve, NOON + 60_000)).toMatchObject({
      counted: false,
    })
    const mine = (keys: readonly { approval_id: string }[]) =>
      keys.filter(({ approval_id }) => approval_id === id)
    expect(mine(await at.store.expireApprovals(1_000, NOON + 59_999))).toEqual([])
    expect(mine(await at.store.expireApprovals(1_000, NOON + 60_000))).toEqual([
      { tenant_id: tenant, approval_id: id },
    ])
    expect(mine(await at.store.expireApprovals(1_000, NOON + 60_000))).toEqual([])
    expect(await at.store.findApproval(tenant, id)).toMatchObject({ status: 'expired' })
  })

  test('a call whose question has passed its deadline asks anew, and learns which question that ended', async () => {
    const { tenant, id, again } = await asked()
    expect(await again(NOON + 59_999)).toMatchObject({ isNew: false, expired: [] })
    expect(await again(NOON + 60_000)).toMatchObject({
      isNew: true,
      expired: [{ tenant_id: tenant, approval_id: id }],
    })
    expect(await at.store.findApproval(tenant, id)).toMatchObject({ status: 'expired' })
  })

  test('an answer that came after the call had left counts for the next identical call, once', async () => {
    const { tenant, id, again } = await asked()
    await at.store.answerApproval(tenant, id, approve, NOON + 5)
    expect(await again(NOON + 6)).toMatchObject({
      isNew: false,
      approval: { approval_id: id, status: 'approved', used_at: NOON + 6 },
    })
    expect(await again(NOON + 8)).toMatchObject({ isNew: true })
  })

  test('the event that asked finds its own answer again, a used one once, and other arguments and callers do not', async () => {
    const { tenant, given, id, again } = await asked()
    const { event_id } = given
    await at.store.answerApproval(tenant, id, approve, NOON + 5)
    await at.store.useApproval(tenant, id, event_id, NOON + 6)
    const own = { isNew: false, approval: { approval_id: id, status: 'approved', used_at: NOON + 6 } }
    const stranger = { event_id, caller_id: 'another token' }
    expect(await again(NOON + 7, stranger)).toMatchObject({ isNew: true })
    expect(await again(NOON + 90_000, { event_id })).toMatchObject(own)
    expect(await again(NOON + 90_001, { event_id })).toMatchObject({ isNew: true })
    expect(await again(NOON + 7, { event_id, input_hash: 'hash-2' })).toMatchObject({ isNew: true })
    const ended = await asked()
    await at.store.endApproval(ended.tenant, ended.id, { status: 'cancelled', by: 'ada' }, NOON + 5)
    const same = { event_id: ended.given.event_id }
    expect(await ended.again(NOON + 6, same)).toMatchObject({
      isNew: false,
      approval: { status: 'cancelled' },
    })
  })

  test('an unused answer is too old after the deadline of its question', async () => {
    const { tenant, id, again } = await asked()
    await at.store.answerApproval(tenant, id, approve, NOON + 5)
    expect(await again(NOON + 60_000)).toMatchObject({ isNew: true })
  })

  test('a grant covers identical calls of the session until it ends', async () => {
    const { tenant, given, id, again } = await asked()
    await at.store.answerApproval(tenant, id, { ...approve, grant_ms: 1_000 }, NOON)
    await at.store.useApproval(tenant, id, given.event_id, NOON)
    expect(await again(NOON + 999)).toMatchObject({ isNew: false, approval: { approval_id: id } })
    expect(await again(NOON + 999, { session_id: 's2' })).toMatchObject({ isNew: true })
    expect(await again(NOON + 1_000)).toMatchObject({ isNew: true })
  })

  test('two approvers: the same person counts once, and one denial ends it', async () => {
    const { tenant, id } = await asked({ approvers_needed: 2 })
    const first = await at.store.answerApproval(tenant, id, approve, NOON + 1)
    expect(first).toMatchObject({ counted: true, approval: { status: 'pending', decided_at: null } })
    expect(await at.store.answerApproval(tenant, id, approve, NOON + 2)).toMatchObject({ counted: false })
    const second = await at.store.answerApproval(tenant, id, { ...approve, by: 'cy' }, NOON + 3)
    expect(second?.approval).toMatchObject({ status: 'approved', decided_by: 'cy' })
    expect(second?.approval.votes.map(({ by }) => by)).toEqual(['ada', 'cy'])
    const denied = await asked({ approvers_needed: 2 })
    const answer = await at.store.answerApproval(denied.tenant, denied.id, deny, NOON + 1)
    expect(answer?.approval).toMatchObject({ status: 'denied', votes: [{ message: 'not today' }] })
  })

  test('an edit is kept, the original stays, and both are sealed', async () => {
    const { tenant, id, given } = await asked()
    const edited = { command: 'git push --force-with-lease' }
    const answer = await at.store.answerApproval(tenant, id, { ...approve, edited }, NOON + 1)
    expect(answer?.approval).toMatchObject({ edited, input: given.input })
    const [stored] = await at.database.execute(`select * from approvals where tenant_id = '${tenant}'`)
    expect(JSON.stringify(stored)).not.toContain('force')
  })

  test('a cancelled question takes no answer, and no other tenant finds or ends it', async () => {
    const { tenant, id } = await asked()
    const other = await newTenant(at.store)
    expect(await at.store.findApproval(other, id)).toBeUndefined()
    expect(await at.store.answerApproval(other, id, approve, NOON)).toBeUndefined()
    expect(await at.store.endApproval(other, id, { status: 'cancelled', by: 'x' }, NOON)).toBe(false)
    expect(await at.store.useApproval(other, id, 'e1', NOON)).toBe(false)
    expect(await at.store.endApproval(tenant, id, { status: 'cancelled', by: 'caller' }, NOON)).toBe(true)
    expect(await at.store.endApproval(tenant, id, { status: 'cancelled', by: 'caller' }, NOON)).toBe(false)
    expect(await at.store.answerApproval(tenant, id, approve, NOON)).toMatchObject({ counted: false })
  })

  test('the list is newest first, by status, session and call, in pages', async () => {
    const { tenant, id, again } = await asked()
    const second = await again(NOON + 1, { input_hash: 'hash-2', session_id: 's2' })
    await at.store.answerApproval(tenant, id, deny, NOON + 2)
    const ids = async (filter: Parameters<typeof at.store.listApprovals>[1]) =>
      (await at.store.listApprovals(tenant, filter, { limit: 10 })).rows.map((row) => row.approval_id)
    expect(await ids({})).toEqual([second.approval.approval_id, id])
    expect(await ids({ status: 'denied' })).toEqual([id])
    expect(await ids({ session_id: 's2' })).toEqual([second.approval.approval_id])
    expect(await ids({ input_hash: 'hash-1' })).toEqual([id])
    expect(await ids({ agent: 'claude-code', hook_id: 'h1' })).toHaveLength(2)
    expect(await ids({ agent: 'codex' })).toEqual([])
    expect(await ids({ hook_id: 'h2' })).toEqual([])
    const first = await at.store.listApprovals(tenant, {}, { limit: 1 })
    expect(first.rows).toHaveLength(1)
    const rest = await at.store.listApprovals(tenant, {}, { limit: 1, cursor: first.nextCursor })
    expect(rest).toMatchObject({ rows: [{ approval_id: id }], nextCursor: '' })
    expect(await at.store.endedApprovals([id, second.approval.approval_id])).toEqual([
      { tenant_id: tenant, approval_id: id },
    ])
  })

  const message = (key: string, after_ms = 0) => ({
    ...{ id: randomUUID(), key, after_ms, payload: JSON.stringify({ to: key }) },
  })
  const claim = (now: number) =>
    at.store.claimDeliveries({ kinds: ['approval_message'], limit: 99, lease_ms: 1, worker: 'w', now })

  test('the messages of a question are stored with it, due one after the other, and end with it', async () => {
    const messages = [message('first'), message('second', 30_000)]
    const { tenant, id, again } = await asked({ messages })
    const states = async () =>
      (await at.store.listApprovalMessages(tenant, [id])).map(({ key, state }) => `${key} ${state}`)
    expect(await states()).toEqual(['first waiting', 'second waiting'])
    await again(NOON + 1, { messages: [message('first')] })
    expect(await states()).toEqual(['first waiting', 'second waiting'])
    const mine = (await claim(NOON)).filter((each) => each.tenant === tenant)
    expect(mine.map(({ payload }) => payload)).toEqual(['{"to":"first"}'])
    await at.store.endDeliveries(
      mine.map(({ id: each, lease }) => ({ id: each, lease, end: 'done' })),
      NOON,
    )
    await at.store.answerApproval(tenant, id, approve, NOON + 5)
    expect(await at.store.listApprovalMessages(tenant, [id])).toMatchObject([
      { key: 'first', state: 'done', last_error: null },
      { key: 'second', state: 'done', last_error: 'not sent: approved by ada' },
    ])
    expect((await claim(NOON + 40_000)).filter((each) => each.tenant === tenant)).toEqual([])
    expect(await at.store.listApprovalMessages(await newTenant(at.store), [id])).toEqual([])
  })

  test('a cancelled and an expired question send nothing more; one that needs a second answer does', async () => {
    const cancelled = await asked({ messages: [message('m')] })
    await at.store.endApproval(cancelled.tenant, cancelled.id, { status: 'cancelled', by: 'caller' }, NOON)
    const expired = await asked({ messages: [message('m', 59_999)] })
    await at.store.expireApprovals(1_000, NOON + 60_000)
    const half = await asked({ messages: [message('m')], approvers_needed: 2 })
    await at.store.answerApproval(half.tenant, half.id, approve, NOON + 1)
    const states = await Promise.all(
      [cancelled, expired, half].map(async ({ tenant, id }) => {
        const [row] = await at.store.listApprovalMessages(tenant, [id])
        return [row?.state, row?.last_error]
      }),
    )
    expect(states).toEqual([
      ['done', 'not sent: cancelled: caller'],
      ['done', 'not sent: the deadline has passed'],
      ['waiting', null],
    ])
  })

  test('a clock that was set back leaves a message its own time', async () => {
    const { tenant, id } = await asked({ messages: [message('late', 7_200_000)], within_ms: 9_000_000 })
    const due = async () => (await at.store.listApprovalMessages(tenant, [id]))[0]?.due_at
    const longest = { lease_ms: 1, retry_ms: 1, answer_ms: 1, guard_ms: 1 }
    await at.store.clampWindows(longest, NOON)
    expect(await due()).toBe(NOON + 7_200_000)
    await at.store.clampWindows(longest, NOON - 1_000)
    expect(await due()).toBe(NOON - 1_000 + 7_200_000)
  })

  async function linked(fields: Partial<ApprovalLink> = {}) {
    const question = await asked()
    const { tenant: tenant_id, id: approval_id } = question
    const link = {
      ...{ link_id: randomUUID(), tenant_id, approval_id, verdict: 'approve' as const, route: 'ops' },
      ...{ recipient: 'ada', member_id: null, input_hash: 'hash-1', digest: 'd', expires_at: NOON + 60_000 },
      ...fields,
    }
    await at.store.createApprovalLinks([link], NOON)
    const answer = (more = {}, now = NOON + 1) =>
      at.store.answerApproval(tenant_id, approval_id, { ...approve, link_id: link.link_id, ...more }, now)
    return { ...question, link, answer }
  }

  test('a link is found as it was stored and answers once', async () => {
    const { link, answer } = await linked()
    expect(await at.store.findApprovalLink(link.link_id)).toEqual({
      ...link,
      created_at: NOON,
      used_at: null,
    })
    const node = await at.database.reopen()
    const given = { ...approve, link_id: link.link_id }
    const answers = await Promise.all([
      answer(),
      node.answerApproval(link.tenant_id, link.approval_id, { ...given, by: 'bob' }, NOON + 1),
    ])
    expect(answers.filter((each) => each?.counted)).toHaveLength(1)
    expect(await at.store.findApprovalLink(link.link_id)).toMatchObject({ used_at: NOON + 1 })
    expect(await at.store.findApprovalLink('another')).toBeUndefined()
  })

  test('a used link does not vote for a second person', async () => {
    const { tenant, id } = await asked({ approvers_needed: 2 })
    const link = {
      ...{ link_id: randomUUID(), tenant_id: tenant, approval_id: id, verdict: 'approve' as const },
      ...{
        route: 'ops',
        recipient: 'ada',
        member_id: null,
        input_hash: 'hash-1',
        digest: 'd',
        expires_at: NOON + 60_000,
      },
    }
    await at.store.createApprovalLinks([link], NOON)
    const given = { ...approve, link_id: link.link_id }
    expect(await at.store.answerApproval(tenant, id, given, NOON)).toMatchObject({ counted: true })
    const again = await at.store.answerApproval(tenant, id, { ...given, by: 'bob' }, NOON + 1)
    expect(again).toMatchObject({ counted: false, approval: { status: 'pending' } })
  })

  test.each<[string, Partial<ApprovalLink>, object]>([
    ['the other verdict', {}, { verdict: 'deny' }],
    ['arguments that were replaced', { input_hash: 'hash-2' }, {}],
    ['a time that is over', { expires_at: NOON + 1 }, {}],
  ])('a link does not count for %s', async (_, fields, given) => {
    const { answer } = await linked(fields)
    expect(await answer(given)).toMatchObject({ counted: false, approval: { status: 'pending' } })
  })

  test('a link of another question does not count', async () => {
    const [first, second] = [await linked(), await linked()]
    expect(await first.answer({ link_id: second.link.link_id })).toMatchObject({ counted: false })
  })

  test('questions and alerts from a clock that was ahead do not count against the budget', async () => {
    const { tenant } = await asked()
    const ahead = NOON + 365 * 86_400_000
    const ask = (now: number) =>
      at.store.requestApproval(approval(tenant, { budget: { tenant: 1 }, input_hash: randomUUID() }), now)
    expect(await ask(ahead)).toMatchObject({ isNew: true, approval: {} })
    expect(await ask(ahead)).toMatchObject({ isNew: true, alert: { refused: 1 } })
    expect(await ask(NOON + 3_600_000)).toMatchObject({ isNew: true, approval: {} })
    expect(await ask(NOON + 3_600_001)).toMatchObject({ isNew: true, alert: { refused: 1 } })
    expect(await ask(NOON + 3_600_002)).toMatchObject({ isNew: false, alert: { refused: 2 } })
  })

  test('over the budget a question is refused, with one alert an hour for each subject', async () => {
    const budget = { session: 2, agent: 3 }
    const { tenant, again } = await asked({ budget })
    const ask = (n: number, more = {}) =>
      at.store.requestApproval(approval(tenant, { budget, input_hash: `other-${n}`, ...more }), NOON + n)
    expect(await ask(1)).toMatchObject({ isNew: true })
    expect(await ask(2)).toMatchObject({
      approval: undefined,
      isNew: true,
      alert: { scope: 'session', subject: 'session s1', questions: 2, refused: 1, since: NOON + 2 },
    })
    expect(await ask(3)).toMatchObject({ isNew: false, alert: { refused: 2 } })
    // A question that is already open is found, and another session has its own budget.
    expect(await again(NOON + 4)).toMatchObject({ isNew: false })
    expect(await ask(5, { session_id: 's2' })).toMatchObject({ isNew: true })
    expect(await ask(6, { session_id: 's3' })).toMatchObject({ alert: { scope: 'agent', questions: 3 } })
    expect(await at.store.listApprovalAlerts(tenant, 1_000, NOON + 6)).toHaveLength(2)
    expect(await at.store.listApprovalAlerts(await newTenant(at.store), 1_000, NOON + 6)).toEqual([])
    expect(await ask(3_600_010)).toMatchObject({ isNew: true })
    expect(await at.store.countPendingApprovals(tenant)).toBe(4)
  })

  test('ended questions go with the history; open ones and grants that count stay', async () => {
    const [ended, open, granted] = [await asked(), await asked(), await asked()]
    await at.store.answerApproval(ended.tenant, ended.id, deny, NOON + 1)
    await at.store.answerApproval(granted.tenant, granted.id, { ...approve, grant_ms: 60_000 }, NOON + 1)
    const link = { link_id: randomUUID(), tenant_id: ended.tenant, approval_id: ended.id } as const
    await at.store.createApprovalLinks([
      {
        ...{
          ...link,
          verdict: 'deny',
          route: 'ops',
          recipient: 'ada',
          member_id: null,
          input_hash: 'hash-1',
          digest: 'd',
        },
        expires_at: NOON + 60_000,
      },
    ])
    await at.store.prune({ keep_executions_ms: 10_000, keep_deliveries_ms: NOON }, NOON + 20_000)
    const found = await Promise.all(
      [ended, open, granted].map(async ({ tenant, id }) => (await at.store.findApproval(tenant, id))?.status),
    )
    expect(found).toEqual([undefined, 'pending', 'approved'])
    expect(await at.store.findApprovalLink(link.link_id)).toBeUndefined()
  })

  test('a revoked grant covers no further call', async () => {
    const { tenant, given, id, again } = await asked()
    await at.store.answerApproval(tenant, id, { ...approve, grant_ms: 60_000 }, NOON)
    await at.store.useApproval(tenant, id, given.event_id, NOON)
    const granted = async (now: number) =>
      (await at.store.listApprovals(tenant, { granted: true }, { limit: 9 }, now)).rows.length
    expect([await granted(NOON + 1), await granted(NOON + 60_000)]).toEqual([1, 0])
    expect(await at.store.revokeGrant(await newTenant(at.store), id, NOON + 2)).toBe(false)
    expect(await at.store.revokeGrant(tenant, id, NOON + 2)).toBe(true)
    expect(await at.store.revokeGrant(tenant, id, NOON + 2)).toBe(false)
    expect(await granted(NOON + 2)).toBe(0)
    expect(await again(NOON + 3)).toMatchObject({ isNew: true })
  })

  test('a clock that was set back leaves a question its own time', async () => {
    const { tenant, id } = await asked()
    const longest = { lease_ms: 1, retry_ms: 1, answer_ms: 1, guard_ms: 1 }
    await at.store.clampWindows(longest, NOON - 3_600_000)
    expect(await at.store.findApproval(tenant, id)).toMatchObject({
      deadline_at: NOON - 3_600_000 + 60_000,
    })
  })
})
