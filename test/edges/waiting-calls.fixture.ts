import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { definedFields } from '../../src/engine/core/values/defined-fields.ts'
import { askingHook, person, push } from '../approvals/people.fixture.ts'
import { running } from '../gateway/running.fixture.ts'

const WAIT_MS = 1_200_000

/** So many calls wait for a person at the same time, each of a session of its own. */
export function waitingCalls(count: number): void {
  test(`${count} calls wait at once: a call that needs nobody is decided, and each gets the answer that was given to it`, async () => {
    const gateway = await running({ settings: { approval_budget: { per_session: 1_000 } } })
    await gateway.hook(askingHook)
    const ada = await person(gateway, 'ada')
    const { url, token, socket } = gateway
    const client = createClient({ url, token, ...definedFields({ socket }), timeoutMs: WAIT_MS })
    const held = Array.from({ length: count }, (_, index) =>
      client.dispatch(
        {
          event: 'pre_tool_use',
          payload: push(`git push branch-${index}`),
          envelope: { session: `s${index}` },
        },
        { waitMs: WAIT_MS },
      ),
    )
    const list = async (cursor = '') =>
      (await ada.call('GET', `/v1/approvals?status=pending&limit=200&cursor=${encodeURIComponent(cursor)}`))
        .body
    await expect.poll(async () => (await list()).pending, { timeout: WAIT_MS, interval: 200 }).toBe(count)
    const waiting = new Map<string, string>()
    for (let page = await list(); ; page = await list(page.nextCursor)) {
      for (const { approval_id, session_id } of page.approvals) waiting.set(approval_id, session_id)
      if (page.nextCursor === '') break
    }
    expect(waiting.size).toBe(count)
    expect((await gateway.dispatch('pre_tool_use', push('ls'))).body.decision).toEqual({ kind: 'allow' })
    const approved = new Set<string>()
    const left = [...waiting]
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          const [id, session] = next
          const isApproved = left.length % 2 === 0
          if (isApproved) approved.add(session)
          const { status } = await ada.answer(isApproved ? 'approve' : 'deny', id)
          expect(status).toBe(200)
        }
      }),
    )
    const decisions = await Promise.all(held)
    const wrong = decisions.filter(({ decision }, index) => {
      const right = approved.has(`s${index}`) ? 'allow' : 'block'
      return decision.kind !== right
    })
    expect(wrong).toEqual([])
    await client.close()
  }, 1_800_000)
}
