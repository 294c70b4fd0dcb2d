import { expect, test } from 'vitest'
import { askingHook, person, push } from '../approvals/people.fixture.ts'
import { running } from '../gateway/running.fixture.ts'

const AT_ONCE = 20
const WAIT_MS = 60_000

/** So many callers leave at the moment at which a person approves. */
export function leavingCallers(count: number): void {
  test(`${count} callers leave at the moment of approval: each approval releases one call at most, and a cancelled one none`, async () => {
    const gateway = await running({ settings: { approval_budget: { per_session: 1_000 } } })
    await gateway.hook(askingHook)
    const ada = await person(gateway, 'ada')
    const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' }
    const ask = (index: number) => {
      const leaving = new AbortController()
      const body = JSON.stringify({
        event: 'pre_tool_use',
        payload: push(`git push branch-${index}`),
        envelope: { session: `s${index}` },
        within_ms: WAIT_MS,
      })
      const { signal } = leaving
      const kind = fetch(`${gateway.url}/v1/dispatch`, { method: 'POST', headers, body, signal })
        .then(async (response) => ((await response.json()) as { decision: { kind: string } }).decision.kind)
        .catch(() => 'left')
      return { kind, leave: () => leaving.abort() }
    }
    const pending = async (index: number): Promise<string | undefined> => {
      const { body } = await ada.call('GET', `/v1/approvals?status=pending&session_id=s${index}`)
      return body.approvals[0]?.approval_id
    }
    let left = 0

    const one = async (index: number) => {
      const first = ask(index)
      const id = await gateway.until(
        () => pending(index),
        (found) => found !== undefined,
      )
      const answered = ada.answer('approve', id ?? '')
      // Before the answer, while it is stored, and after it.
      await new Promise((resolve) => setTimeout(resolve, (index % 25) * 4))
      first.leave()
      const got = await first.kind
      const { status } = await answered
      const { body } = await gateway.until(
        () => ada.call('GET', `/v1/approvals/${id}`),
        ({ body: { approval } }) => approval.status !== 'pending',
      )
      const isApproved = body.approval.status === 'approved'
      // What the person and the caller were told is what is on record.
      expect([index, status === 200]).toEqual([index, isApproved])
      if (got === 'left') left += 1
      else expect([got, isApproved]).toEqual(['allow', true])
      // The caller may come back with the same call. An answer that it did not get counts for that one, and for no other.
      let released = got === 'left' ? 0 : 1
      for (;;) {
        const again = ask(index)
        const came = await gateway.until(
          async () => (await pending(index)) ?? (await Promise.race([again.kind, undefined])),
          (seen) => seen !== undefined,
        )
        if (came !== 'allow') {
          await ada.answer('deny', came ?? '')
          expect(await again.kind).toBe('block')
          break
        }
        released += 1
        expect(released).toBe(1)
      }
      // An answer that was sent while the caller left counts as taken.
      if (!isApproved) expect([index, released]).toEqual([index, 0])
    }
    let next = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let index = next++; index < count; index = next++) await one(index)
      }),
    )
    process.stdout.write(`${left} of ${count} callers had left before the answer\n`)
  }, 1_800_000)
}
