import { describe, expect, test } from 'vitest'
import type { NewApproval } from '../stores/approval-store.ts'
import { NOON, newTenant, type OpenStoreUnderTest } from './samples.fixture.ts'
import { shareStore } from './shared-store.fixture.ts'

let count = 0

function approval(tenant_id: string, fields: Partial<NewApproval> = {}): NewApproval {
  count += 1
  return {
    approval_id: `apr_${String(count).padStart(12, '0')}`,
    tenant_id,
    event: 'pre_tool_use',
    event_id: 'e1',
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
    approvers_needed: 1,
    within_ms: 60_000,
    ...fields,
  }
}

const approve = { verdict: 'approve', by: 'ada', from: '127.0.0.1' } as const
const deny = { verdict: 'deny', by: 'bob', from: '127.0.0.1', message: 'not today' } as const

export function approvalConformance(open: OpenStoreUnderTest): void {
  describe('approvals', () => {
    const at = shareStore(open)

    async function asked(fields: Partial<NewApproval> = {}) {
      const tenant = await newTenant(at.store)
      const given = approval(tenant, fields)
      const { approval: row } = await at.store.requestApproval(given, NOON)
      const again = (now = NOON + 1, more: Partial<NewApproval> = {}) =>
        at.store.requestApproval(approval(tenant, { ...fields, ...more }), now)
      return { tenant, given, row, id: given.approval_id, again }
    }

    test('a question is read as it was asked, and its texts are sealed', async () => {
      const { tenant, given, row } = await asked()
      const { within_ms: _, ...asGiven } = given
      expect(row).toEqual({
        ...asGiven,
        ...{ status: 'pending', votes: [], edited: null, created_at: NOON, deadline_at: NOON + 60_000 },
        ...{ decided_at: null, decided_by: null, used_at: null, granted_until: null },
      })
      expect(await at.store.findApproval(tenant, given.approval_id)).toEqual(row)
      const [stored] = await at.database.execute(`select * from approvals where tenant_id = '${tenant}'`)
      expect(JSON.stringify(stored)).not.toContain('push')
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

    test('identical calls at the same time ask once', async () => {
      const tenant = await newTenant(at.store)
      const nodes = [at.store, await at.database.reopen()]
      const asks = Array.from({ length: 20 }, (_, index) =>
        nodes[index % nodes.length]?.requestApproval(approval(tenant), NOON),
      )
      const results = await Promise.all(asks)
      expect(results.filter((result) => result?.isNew)).toHaveLength(1)
      expect(new Set(results.map((result) => result?.approval.approval_id)).size).toBe(1)
      expect(await at.store.countPendingApprovals(tenant)).toBe(1)
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

    test('an answer that came after the call had left counts for the next identical call, once', async () => {
      const { tenant, id, again } = await asked()
      await at.store.answerApproval(tenant, id, approve, NOON + 5)
      expect(await again(NOON + 6)).toMatchObject({
        isNew: false,
        approval: { approval_id: id, status: 'approved', used_at: null },
      })
      expect(await at.store.useApproval(tenant, id, NOON + 6)).toBe(true)
      expect(await at.store.useApproval(tenant, id, NOON + 7)).toBe(false)
      expect(await again(NOON + 8)).toMatchObject({ isNew: true })
    })

    test('an unused answer is too old after the deadline of its question', async () => {
      const { tenant, id, again } = await asked()
      await at.store.answerApproval(tenant, id, approve, NOON + 5)
      expect(await again(NOON + 60_000)).toMatchObject({ isNew: true })
    })

    test('a grant covers identical calls of the session until it ends', async () => {
      const { tenant, id, again } = await asked()
      await at.store.answerApproval(tenant, id, { ...approve, grant_ms: 1_000 }, NOON)
      await at.store.useApproval(tenant, id, NOON)
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
      expect(await at.store.useApproval(other, id, NOON)).toBe(false)
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
      const first = await at.store.listApprovals(tenant, {}, { limit: 1 })
      expect(first.rows).toHaveLength(1)
      const rest = await at.store.listApprovals(tenant, {}, { limit: 1, cursor: first.nextCursor })
      expect(rest).toMatchObject({ rows: [{ approval_id: id }], nextCursor: '' })
      expect(await at.store.endedApprovals([id, second.approval.approval_id])).toEqual([
        { tenant_id: tenant, approval_id: id },
      ])
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
}
