import { expect, test } from 'vitest'
import { onEachStore } from '../../test/store/each-store.fixture.ts'
import { delivery, event, NOON, newTenant, type StoreUnderTest } from '../../test/store/samples.fixture.ts'

const AGE_MS = { keep_executions_ms: 0, keep_deliveries_ms: NOON }

onEachStore('pruning', (open) => {
  const on = async (work: (database: StoreUnderTest, tenant: string) => Promise<void>) => {
    const database = await open()
    try {
      await work(database, await newTenant(database.store))
    } finally {
      await database.dispose()
    }
  }

  test('old executions, events and sessions go, and what is left verifies', () =>
    on(async ({ store, execute }, tenant) => {
      for (let n = 0; n < 6; n++)
        await store.recordEvents(
          [event(tenant, { event_id: `e${n}`, time: NOON + n, session_id: `s${n}`, hooks: [{}, {}] })],
          [],
          [],
        )
      // 4 events, their executions and their sessions.
      expect(await store.prune(AGE_MS, NOON + 4)).toBe(16)
      expect((await store.history(tenant, {}, { limit: 100 })).rows).toHaveLength(4)
      expect(await store.findEvent(tenant, 'e3')).toBeUndefined()
      expect(await store.findEvent(tenant, 'e4')).toBeDefined()
      expect((await store.listSessions(tenant, {}, { limit: 9 })).rows).toHaveLength(2)
      expect(await store.verifyAudit()).toEqual({ checked: 4 })
      await store.recordEvents([event(tenant, { hooks: [{}] })], [], [])
      expect(await store.verifyAudit()).toEqual({ checked: 5 })
      await execute('delete from hook_executions where seq = 9')
      expect((await store.verifyAudit()).broken).toMatchObject({ seq: 9 })
    }))

  test('everything may go, and the chain goes on', () =>
    on(async ({ store }, tenant) => {
      await store.recordEvents([event(tenant, { hooks: [{}, {}] })], [], [])
      await store.prune(AGE_MS, NOON + 1)
      expect(await store.verifyAudit()).toEqual({ checked: 0 })
      await store.recordEvents([event(tenant, { hooks: [{}] })], [], [])
      expect(await store.verifyAudit()).toEqual({ checked: 1 })
    }))

  test('more rows than a step are pruned', () =>
    on(async ({ store }, tenant) => {
      for (let n = 0; n < 3; n++)
        await store.recordEvents(
          Array.from({ length: 400 }, () => event(tenant, { hooks: [{}] })),
          [],
          [],
        )
      expect(await store.prune(AGE_MS, NOON + 1)).toBe(2_400)
    }))

  test('kept answers, guards and done deliveries go by their own times; dead ones stay with the history', () =>
    on(async ({ store }, tenant) => {
      const answer = { tenant, key: 'k', request_hash: 'h', answer: 'a', keep_ms: 10 }
      const jobs = [delivery(tenant, 'k'), delivery(tenant, 'k'), delivery(tenant, 'k')]
      await store.recordEvents([], jobs, [answer], NOON)
      await store.takeGuards(tenant, [{ kind: 'cooldown', key: 'c', windowMs: 10 }], NOON)
      const claimed = await store.claimDeliveries({
        kinds: ['k'],
        limit: 2,
        now: NOON,
        lease_ms: 5,
        worker: 'w',
      })
      const [one, two] = claimed.map(({ id, lease }) => ({ id, lease }))
      if (one === undefined || two === undefined) throw new TypeError('nothing was claimed')
      await store.endDeliveries(
        [
          { ...one, end: 'done' },
          { ...two, end: 'dead', error: 'x' },
        ],
        NOON,
      )
      expect(await store.prune({ keep_executions_ms: NOON, keep_deliveries_ms: 10 }, NOON + 10)).toBe(0)
      expect(await store.prune({ keep_executions_ms: NOON, keep_deliveries_ms: 10 }, NOON + 11)).toBe(3)
      const { rows } = await store.listDeliveries(tenant, {}, { limit: 9 })
      expect(rows.map((row) => row.state).toSorted()).toEqual(['dead', 'waiting'])
      // Its dedup key is free again.
      const done = jobs.find((job) => job.id === one.id)
      if (done !== undefined) await store.recordEvents([], [done], [])
      expect((await store.listDeliveries(tenant, {}, { limit: 9 })).rows).toHaveLength(3)
      expect(await store.prune(AGE_MS, NOON + 1)).toBe(1)
    }))
})
