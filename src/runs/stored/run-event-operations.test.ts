import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { coded, NOON, newRun, newTenant, runEvent } from '../../../test/store/samples.fixture.ts'
import type { RunRow } from './run-tables.ts'

onEachStore('events of runs', (open) => {
  const at = shareStore(open)
  const newSession = async (tenant?: string): Promise<RunRow> =>
    at.store.createRun(
      newRun(tenant ?? (await newTenant(at.store))),
      { hostname: null, executor_profile: null },
      NOON,
    )

  test('AO-43 events are read in the order in which they were appended, by session and by tenant', async () => {
    const { store } = at
    const one = await newSession()
    const two = await newSession(one.tenant_id)
    const { position: start } = await store.tailRunEvents(one.tenant_id, { limit: 9 })
    // The times of runners do not order them.
    const events = [one, two, one, one].map((run, n) =>
      runEvent(run, {
        created_at: NOON - n,
        data: { n, 'ü\0': ['\ud800'] },
        run_id: n === 2 ? null : run.run_id,
      }),
    )
    await store.appendRunEvents(events.slice(0, 3))
    await store.appendRunEvents(events.slice(3))
    const { rows, position } = await store.tailRunEvents(one.tenant_id, { after: start, limit: 9 })
    expect(rows).toEqual(events.map((event) => ({ ...event, position: expect.stringMatching(/^\d+$/) })))
    const positions = rows.map((row) => Number(row.position))
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    expect(position).toBe(rows.at(-1)?.position)
    const own = await store.listRunEvents(one.tenant_id, { session_id: one.session_id }, { limit: 9 })
    expect(own).toEqual([rows[0], rows[2], rows[3]])
  })

  test('a reader continues after any position that it has seen', async () => {
    const { store } = at
    const run = await newSession()
    const { tenant_id, session_id } = run
    await store.appendRunEvents(Array.from({ length: 7 }, () => runEvent(run)))
    const all = await store.listRunEvents(tenant_id, { session_id }, { limit: 9 })
    for (const [index, { position: after }] of all.entries()) {
      const rest = all.slice(index + 1, index + 4)
      expect(await store.listRunEvents(tenant_id, { session_id }, { after, limit: 3 })).toEqual(rest)
      expect(await store.tailRunEvents(tenant_id, { after, limit: 3 })).toEqual({
        rows: rest,
        position: rest.at(-1)?.position ?? after,
      })
    }
    expect(await store.tailRunEvents(tenant_id, { limit: 3 })).toEqual({
      rows: [],
      position: all[6]?.position,
    })
    for (const after of ['x', '-1', '1.5', '1; drop']) {
      await expect(store.tailRunEvents(tenant_id, { after, limit: 3 })).rejects.toMatchObject(
        coded('gateway.request'),
      )
      await expect(store.listRunEvents(tenant_id, { session_id }, { after, limit: 3 })).rejects.toMatchObject(
        coded('gateway.request'),
      )
    }
  })

  test('an event that is appended again stays as it is, and its hook counts once', async () => {
    const { store } = at
    const run = await newSession()
    const first = runEvent(run, { event_type: 'hook_start' })
    await store.appendRunEvents([first, runEvent(run, { event_type: 'hook_complete' })])
    await store.appendRunEvents([
      { ...first, data: { other: 1 } },
      runEvent(run, { event_type: 'hook_start' }),
    ])
    const { tenant_id, session_id } = run
    const events = await store.listRunEvents(tenant_id, { session_id }, { limit: 9 })
    expect(events.map((event) => event.event_type)).toEqual(['hook_start', 'hook_complete', 'hook_start'])
    expect(events[0]?.data).toEqual(first.data)
    expect(await store.findRun(tenant_id, run.run_id)).toMatchObject({ hooks: 2 })
  })

  test('AO-48 a deleted session leaves an event at its position, and its own events are gone', async () => {
    const { store } = at
    const one = await newSession()
    const two = await newSession(one.tenant_id)
    const other = await newSession()
    const { tenant_id: tenant } = one
    const [first, second, last] = [runEvent(two), runEvent(one), runEvent(two)]
    await store.appendRunEvents([first, second])
    await store.stopRun(tenant, one.run_id, NOON)
    await store.confirmFinish(tenant, one.run_id)
    const { position: before } = await store.tailRunEvents(tenant, { limit: 9 })
    expect(await store.deleteRunSession(tenant, one.session_id, NOON + 7)).toBe(true)
    expect(await store.deleteRunSession(tenant, one.session_id, NOON + 8)).toBe(false)
    await store.appendRunEvents([last])
    const { rows, position } = await store.tailRunEvents(tenant, { after: '0', limit: 9 })
    expect(rows).toMatchObject([
      { event_id: first.event_id },
      {
        ...{ event_type: 'session_deleted', session_id: one.session_id, run_id: null, tenant_id: tenant },
        ...{ event_id: `${one.session_id}-deleted`, created_at: NOON + 7 },
        data: { created_by: one.created_by },
      },
      { event_id: last.event_id },
    ])
    expect(position).toBe(rows[2]?.position)
    const replayed = await store.tailRunEvents(tenant, { after: before, limit: 1 })
    expect(replayed).toEqual({ rows: [rows[1]], position: rows[1]?.position })
    expect(await store.tailRunEvents(tenant, { after: replayed.position, limit: 1 })).toMatchObject({
      rows: [rows[2]],
    })
    expect((await store.tailRunEvents(other.tenant_id, { after: '0', limit: 9 })).rows).toEqual([])
  })

  test('events of a session that is not there are refused, with all that come with them', async () => {
    const { store } = at
    const run = await newSession()
    const other = await newSession()
    for (const session_id of ['ses_none', other.session_id])
      await expect(
        store.appendRunEvents([runEvent(run), runEvent({ ...run, session_id })]),
      ).rejects.toMatchObject(coded('gateway.not_found'))
    const { tenant_id, session_id } = run
    expect(await store.listRunEvents(tenant_id, { session_id }, { limit: 9 })).toEqual([])
    await store.appendRunEvents([])
  })

  test('many events, many writers and several tenants: each position is taken once', async () => {
    const { store } = at
    const [one, two] = [await newSession(), await newSession()]
    const second = await at.database.reopen()
    await store.appendRunEvents(Array.from({ length: 450 }, () => runEvent(one)))
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? store : second).appendRunEvents([runEvent(two), runEvent(one), runEvent(two)]),
      ),
    )
    for (const [run, count] of [
      [one, 470],
      [two, 40],
    ] as const) {
      const { rows } = await store.tailRunEvents(run.tenant_id, { after: '0', limit: 999 })
      expect(rows).toHaveLength(count)
      expect(new Set(rows.map((row) => row.position)).size).toBe(count)
    }
  })
})
