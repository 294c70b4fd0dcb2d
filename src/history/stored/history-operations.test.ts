import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { coded, event, hook, NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import type { ExecutionRecord, HistoryFilter } from '../audit-tables.ts'

const decisions: readonly ExecutionRecord['decision'][] = ['allow', 'block', 'allow', 'error']

onEachStore('history', (open) => {
  const at = shareStore(open)

  /** Twelve executions of three hooks in four events, all of one tenant. */
  async function filled() {
    const tenant = await newTenant(at.store)
    const hooks = [hook(tenant), hook(tenant), hook(tenant)]
    for (const one of hooks) await at.store.createHook(one, NOON)
    const events = decisions.map((decision, n) =>
      event(tenant, {
        event_id: `e${n}`,
        event: n % 2 === 0 ? 'pre_tool_use' : 'stop',
        time: NOON + n,
        session_id: n < 2 ? 'early' : 'late',
        agent_id: n === 3 ? 'agent' : null,
        hooks: hooks.map(({ id }, h) => ({ hook_id: id, decision, shadow: h === 2 && n === 1 })),
      }),
    )
    await at.store.recordEvents(events, [], [])
    return { tenant, hooks: hooks.map(({ id }) => id) }
  }

  test('newest first, in pages, each row once', async () => {
    const { tenant } = await filled()
    const whole = await at.store.history(tenant, {}, { limit: 100 })
    expect(whole.nextCursor).toBe('')
    expect(whole.rows.map((row) => row.created_at - NOON)).toEqual([3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0])
    expect(await pages(tenant, {}, 5)).toEqual(whole.rows.map((row) => row.id))
    expect((await at.store.history(tenant, {}, { limit: 12 })).nextCursor).toBe('')
  })

  test.each<[HistoryFilter, number]>([
    [{ event: 'stop' }, 6],
    [{ decision: 'block' }, 3],
    [{ decision: 'allow' }, 6],
    [{ session_id: 'early' }, 6],
    [{ agent_id: 'agent' }, 3],
    [{ event_id: 'e2' }, 3],
    [{ event_id: 'nothing' }, 0],
    [{ hook_id: randomUUID() }, 0],
    [{ hook_id: 'no id' }, 0],
    [{ except_sessions: 'ear' }, 6],
    [{ shadow: true }, 1],
    [{ shadow: false }, 11],
    [{ since: NOON + 1 }, 9],
    [{ until: NOON + 1 }, 6],
    [{ since: NOON + 1, until: NOON + 2 }, 6],
    [{ event: 'pre_tool_use', decision: 'allow', session_id: 'late' }, 3],
    [{ event_id: 'e1', shadow: true, event: 'stop' }, 1],
    [{ event_id: 'e1', since: NOON + 2 }, 0],
    [{ decision: 'timeout' }, 0],
  ])('may be narrowed down: %j', async (filter, count) => {
    const { tenant } = await filled()
    expect(await pages(tenant, filter, 4)).toHaveLength(count)
  })

  test('of one hook', async () => {
    const { tenant, hooks } = await filled()
    const hook_id = hooks[1] ?? ''
    expect(await pages(tenant, { hook_id }, 3)).toHaveLength(4)
    expect(await pages(tenant, { hook_id, decision: 'error' }, 3)).toHaveLength(1)
  })

  test('a page stays where it was while rows come in', async () => {
    const { tenant } = await filled()
    const before = (await at.store.history(tenant, {}, { limit: 100 })).rows.map((row) => row.id)
    const first = await at.store.history(tenant, {}, { limit: 4 })
    await at.store.recordEvents([event(tenant, { time: NOON + 50, hooks: [{}, {}] })], [], [])
    const second = await at.store.history(tenant, {}, { limit: 4, cursor: first.nextCursor })
    expect([...first.rows, ...second.rows].map((row) => row.id)).toEqual(before.slice(0, 8))
  })

  test.each(['x', 'bm90', '', 'W251bGwsMV0'])('a cursor that no page answered: %j', async (cursor) => {
    const tenant = await newTenant(at.store)
    const page = at.store.history(tenant, {}, { limit: 1, cursor })
    if (cursor === '') expect((await page).rows).toEqual([])
    else await expect(page).rejects.toMatchObject(coded('gateway.request'))
  })

  test('a tail begins now and misses nothing after that, oldest first', async () => {
    const { tenant } = await filled()
    const other = await newTenant(at.store)
    const start = await at.store.tail(tenant, undefined, 10)
    expect(start.rows).toEqual([])
    const one = event(tenant, { time: NOON + 100, hooks: [{}, {}] })
    // Its time is before that of the existing rows.
    const two = event(tenant, { time: NOON - 100, hooks: [{}] })
    await at.store.recordEvents([one], [], [])
    await at.store.recordEvents([event(other, { hooks: [{}] })], [], [])
    await at.store.recordEvents([two], [], [])
    const keys = [...one.executions, ...two.executions].map((row) => row.dedup_key)
    const first = await at.store.tail(tenant, start.nextCursor, 2)
    const second = await at.store.tail(tenant, first.nextCursor, 2)
    expect([...first.rows, ...second.rows].map((row) => row.dedup_key)).toEqual(keys)
    const third = await at.store.tail(tenant, second.nextCursor, 2)
    expect(third.rows).toEqual([])
    await at.store.recordEvents([event(tenant, { hooks: [{}] })], [], [])
    expect((await at.store.tail(tenant, third.nextCursor, 2)).rows).toHaveLength(1)
    await expect(at.store.tail(tenant, 'x', 2)).rejects.toMatchObject(coded('gateway.request'))
  })

  async function pages(tenant: string, filter: HistoryFilter, limit: number) {
    const ids: string[] = []
    for (let cursor = ''; ; ) {
      const page = await at.store.history(tenant, filter, { limit, ...(cursor === '' ? {} : { cursor }) })
      expect(page.rows.length).toBeLessThanOrEqual(limit)
      ids.push(...page.rows.map((row) => row.id))
      if (page.nextCursor === '') return ids
      cursor = page.nextCursor
    }
  }
})
