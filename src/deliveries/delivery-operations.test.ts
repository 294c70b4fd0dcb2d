import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { coded, delivery, NOON, newTenant, otherKeyring } from '../../test/store/samples.fixture.ts'
import type { ClaimedDelivery, NewDelivery } from './delivery-table.ts'

const HOUR_MS = 3_600_000
const held = ({ id, lease }: ClaimedDelivery) => ({ id, lease })

onEachStore('deliveries', (open) => {
  const at = shareStore(open)
  const claim = (kind: string, fields: { limit?: number; now?: number; worker?: string } = {}) => {
    const now = fields.now ?? NOON
    return at.store.claimDeliveries({
      kinds: [kind],
      limit: 100,
      worker: 'w',
      lease_ms: 1_000,
      ...fields,
      now,
    })
  }
  const queue = async (...fields: readonly Partial<NewDelivery>[]) => {
    const tenant = await newTenant(at.store)
    const kind = randomUUID()
    const jobs = fields.map((some) => delivery(tenant, kind, some))
    await at.store.recordEvents([], jobs, [])
    return { tenant, kind, jobs }
  }
  const only = (claimed: readonly ClaimedDelivery[]): ClaimedDelivery => {
    expect(claimed).toHaveLength(1)
    return claimed[0] as ClaimedDelivery
  }

  test('a delivery is claimed with everything it was written with', async () => {
    const { kind, jobs } = await queue({ payload: '{"ä":"\\u0000"}' })
    const { due_at: _, ...rest } = jobs[0] as NewDelivery
    expect(await claim(kind)).toEqual([{ ...rest, attempt: 1, lease: expect.any(String) }])
  })

  test('the oldest due come first, those not yet due not at all, of any kind asked for', async () => {
    const { kind, jobs } = await queue({ due_at: NOON }, { due_at: NOON - 5 }, { due_at: NOON + 1 })
    const other = await queue({ due_at: NOON - 3 })
    const both = { kinds: [kind, other.kind], now: NOON, lease_ms: 9, worker: 'w' }
    const first = await at.store.claimDeliveries({ ...both, limit: 2 })
    expect(first.map((row) => row.id)).toEqual([jobs[1]?.id, other.jobs[0]?.id])
    const rest = await at.store.claimDeliveries({ ...both, limit: 9 })
    expect(rest.map((row) => row.id)).toEqual([jobs[0]?.id])
    expect(await at.store.claimDeliveries({ ...both, kinds: [], limit: 9 })).toEqual([])
  })

  test('the same cause queues its work once', async () => {
    const { tenant, kind } = await queue({ dedup_key: 'same' })
    await at.store.recordEvents([], [delivery(tenant, kind, { dedup_key: 'same' })], [])
    const one = only(await claim(kind))
    await at.store.endDeliveries([{ ...held(one), end: 'done' }], NOON)
    await at.store.recordEvents([], [delivery(tenant, kind, { dedup_key: 'same' })], [])
    expect(await claim(kind)).toEqual([])
  })

  test('4.9 #128 what two workers take at once is taken by exactly one of them', async () => {
    const { kind } = await queue(...Array.from({ length: 60 }, () => ({})))
    const second = await at.database.reopen()
    const ask = { kinds: [kind], limit: 10, now: NOON, lease_ms: 1_000 }
    const taken = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? at.store : second).claimDeliveries({ ...ask, worker: `w${n}` }),
      ),
    )
    const ids = taken.flat().map((row) => row.id)
    expect(new Set(ids).size).toBe(ids.length)
    const rest = await claim(kind)
    expect(ids.length + rest.length).toBe(60)
  })

  test('4.9 #129 a lease that ran out is taken again, and the late worker changes nothing', async () => {
    const { kind } = await queue({})
    const first = only(await claim(kind))
    expect(await claim(kind, { now: NOON + 999 })).toEqual([])
    const second = only(await claim(kind, { now: NOON + 1_000 }))
    expect(second).toMatchObject({ id: first.id, attempt: 2 })
    expect(second.lease).not.toBe(first.lease)
    expect(await at.store.endDeliveries([{ ...held(first), end: 'done' }], NOON)).toEqual([])
    expect(await at.store.endDeliveries([{ ...held(second), end: 'done' }], NOON)).toEqual([second.id])
    expect(await at.store.endDeliveries([{ ...held(second), end: 'done' }], NOON)).toEqual([])
    expect(await at.store.endDeliveries([], NOON)).toEqual([])
  })

  test('a lease can be made longer by whoever holds it', async () => {
    const { kind } = await queue({}, {})
    const claimed = await claim(kind)
    await at.store.extendLeases([held(claimed[0] as ClaimedDelivery)], 5_000, NOON)
    await at.store.extendLeases([{ id: claimed[1]?.id ?? '', lease: 'forged' }], 5_000, NOON)
    const again = await claim(kind, { now: NOON + 2_000 })
    expect(again.map((row) => row.id)).toEqual([claimed[1]?.id])
  })

  test('a retry waits until it is due and remembers the error', async () => {
    const { tenant, kind } = await queue({})
    const one = only(await claim(kind))
    const end = { ...held(one), end: 'retry', retry_ms: 49, error: 'HTTP 500 \u0000' } as const
    expect(await at.store.endDeliveries([end], NOON + 1)).toEqual([one.id])
    expect(await at.store.nextDelivery([kind], NOON)).toBe(NOON + 50)
    expect(await claim(kind, { now: NOON + 49 })).toEqual([])
    const { rows } = await at.store.listDeliveries(tenant, {}, { limit: 9 })
    expect(rows).toEqual([
      {
        id: one.id,
        tenant_id: tenant,
        kind,
        dedup_key: one.dedup_key,
        state: 'waiting',
        attempts: 1,
        due_at: NOON + 50,
        last_error: 'HTTP 500 \u0000',
        created_at: NOON,
      },
    ])
    expect(only(await claim(kind, { now: NOON + 50 })).attempt).toBe(2)
  })

  test('without a time the store asks its own clock, for claims, leases, retries and replays', async () => {
    const { tenant, kind } = await queue({ due_at: Date.now() - HOUR_MS }, { due_at: Date.now() + HOUR_MS })
    const own = { kinds: [kind], limit: 9, lease_ms: HOUR_MS, worker: 'w' }
    const one = only(await at.store.claimDeliveries(own))
    expect(await at.store.claimDeliveries(own)).toEqual([])
    const dueAt = async () =>
      (await at.store.listDeliveries(tenant, {}, { limit: 9 })).rows.find(({ id }) => id === one.id)?.due_at
    const aboutAnHour = () => expect.closeTo((Date.now() + HOUR_MS) / 60_000, -0.5)
    expect(((await dueAt()) ?? 0) / 60_000).toEqual(aboutAnHour())
    await at.store.extendLeases([held(one)], 2 * HOUR_MS)
    expect(((await dueAt()) ?? 0) / 60_000 - 60).toEqual(aboutAnHour())
    await at.store.endDeliveries([{ ...held(one), end: 'retry', retry_ms: HOUR_MS, error: 'x' }])
    expect(((await dueAt()) ?? 0) / 60_000).toEqual(aboutAnHour())
    const fresh = delivery(tenant, kind)
    const { due_at: _, ...dueAtOnce } = fresh
    await at.store.recordEvents([], [dueAtOnce], [])
    expect(only(await at.store.claimDeliveries(own)).id).toBe(fresh.id)
  })

  test('leases, retries and kept answers from a clock that was ahead are shortened to their length', async () => {
    const year = 365 * 24 * HOUR_MS
    const { tenant, kind } = await queue({ due_at: NOON }, { due_at: NOON + 1 }, { due_at: NOON + 2 })
    const [leased, retried] = await claim(kind, { limit: 2, now: NOON + year })
    if (leased === undefined || retried === undefined) throw new TypeError('nothing was claimed')
    await at.store.endDeliveries([{ ...held(retried), end: 'retry', retry_ms: 1, error: 'x' }], NOON + year)
    await at.store.recordEvents(
      [],
      [],
      [{ tenant, key: 'k', request_hash: 'h', answer: 'a', keep_ms: 1 }],
      NOON + year,
    )
    const longest = { lease_ms: 10, retry_ms: 20, answer_ms: 30, guard_ms: 40 }
    expect(await at.store.clampWindows(longest, NOON + 1)).toBeGreaterThanOrEqual(3)
    expect(await at.store.clampWindows(longest, NOON + 1)).toBe(0)
    const claimedAt = async (now: number) => (await claim(kind, { now })).map(({ id }) => id)
    expect(await claimedAt(NOON + 10)).toHaveLength(1)
    expect(await claimedAt(NOON + 11)).toEqual([leased.id])
    expect(await claimedAt(NOON + 20)).toEqual([])
    expect(await claimedAt(NOON + 21)).toEqual([retried.id])
    expect(await at.store.findAnswer(tenant, 'k', NOON + 30)).toBeDefined()
    expect(await at.store.findAnswer(tenant, 'k', NOON + 31)).toBeUndefined()
  })

  test('4.9 #130 a dead letter is kept, and replayed from the first attempt on', async () => {
    const { tenant, kind, jobs } = await queue({}, {}, {})
    const claimed = await claim(kind)
    await at.store.endDeliveries(
      claimed.map((row) => ({ ...held(row), end: 'dead', error: 'gave up' }) as const),
      NOON,
    )
    expect(await claim(kind, { now: NOON + 9_999 })).toEqual([])
    expect(await at.store.nextDelivery([kind], NOON)).toBeUndefined()
    const dead = await at.store.listDeliveries(tenant, { state: 'dead' }, { limit: 9 })
    expect(dead.rows.map((row) => row.last_error)).toEqual(['gave up', 'gave up', 'gave up'])
    expect(await at.store.replayDeliveries(tenant, [jobs[0]?.id ?? '', randomUUID(), 'no id'], NOON)).toBe(1)
    expect(await at.store.replayDeliveries(tenant, [], NOON)).toBe(0)
    expect(only(await claim(kind))).toMatchObject({ id: jobs[0]?.id, attempt: 1, payload: '{"n":1}' })
    expect(await at.store.replayDeliveries(tenant, 'all', NOON)).toBe(2)
    expect(await at.store.replayDeliveries(tenant, 'all', NOON)).toBe(0)
    expect(await claim(kind)).toHaveLength(2)
  })

  test('a list goes newest first, in pages, by state and kind; done ones are not in it', async () => {
    const { tenant, kind } = await queue(...[0, 1, 2, 3, 4].map((n) => ({ created_at: NOON + n })))
    const two = await claim(kind, { limit: 2 })
    await at.store.endDeliveries([{ ...held(two[0] as ClaimedDelivery), end: 'done' }], NOON)
    const seen: number[] = []
    for (let cursor = ''; ; ) {
      const page = await at.store.listDeliveries(
        tenant,
        { kind },
        { limit: 2, ...(cursor ? { cursor } : {}) },
      )
      seen.push(...page.rows.map((row) => row.created_at))
      if (page.nextCursor === '') break
      cursor = page.nextCursor
    }
    expect(seen).toHaveLength(4)
    expect(seen).toEqual(seen.toSorted((a, b) => b - a))
    const leased = await at.store.listDeliveries(tenant, { state: 'leased', kind }, { limit: 9 })
    expect(leased.rows.map((row) => row.id)).toEqual([two[1]?.id])
    expect((await at.store.listDeliveries(tenant, { kind: 'other' }, { limit: 9 })).rows).toEqual([])
    await expect(at.store.listDeliveries(tenant, {}, { limit: 9, cursor: 'x' })).rejects.toMatchObject(
      coded('gateway.request'),
    )
  })

  test('deliveries are found by their dedup keys, done ones too', async () => {
    const { tenant, kind, jobs } = await queue({}, {}, {})
    const [first] = await claim(kind, { limit: 1 })
    await at.store.endDeliveries([{ ...held(first as ClaimedDelivery), end: 'done' }], NOON)
    const keys = jobs.map(({ dedup_key }) => dedup_key)
    const found = await at.store.findDeliveries(tenant, [...keys, 'none'])
    expect(found.map(({ state }) => state).toSorted()).toEqual(['done', 'waiting', 'waiting'])
    expect(found.find(({ state }) => state === 'done')).toEqual({
      ...{ dedup_key: first?.dedup_key, state: 'done', attempts: 1, last_error: null },
    })
    expect(await at.store.findDeliveries(await newTenant(at.store), keys)).toEqual([])
    expect(await at.store.findDeliveries(tenant, [])).toEqual([])
  })

  test('the next one is the first that comes due, a lease that ends included', async () => {
    const { kind } = await queue({ due_at: NOON + 70 }, { due_at: NOON })
    expect(await at.store.nextDelivery([kind, 'other'], NOON)).toBe(NOON)
    await claim(kind)
    expect(await at.store.nextDelivery([kind], NOON)).toBe(NOON + 70)
    await claim(kind, { now: NOON + 70 })
    expect(await at.store.nextDelivery([kind], NOON)).toBe(NOON + 1_000)
    expect(await at.store.nextDelivery(['other'], NOON)).toBeUndefined()
    expect(await at.store.nextDelivery([], NOON)).toBeUndefined()
  })

  test('4.11 #152 one payload that no key opens is laid aside, and the others go on', async () => {
    const { tenant, kind, jobs } = await queue({ due_at: NOON - 2 })
    const other = await at.database.reopen(otherKeyring)
    await other.recordEvents([], [delivery(tenant, kind, { payload: 'mine' })], [])
    const ask = { kinds: [kind], limit: 1, now: NOON, lease_ms: 9, worker: 'w' }
    expect((await other.claimDeliveries(ask)).map((row) => row.payload)).toEqual(['mine'])
    const { rows } = await other.listDeliveries(tenant, { state: 'dead' }, { limit: 9 })
    expect(rows).toMatchObject([
      { id: jobs[0]?.id, last_error: expect.stringContaining('secret.unreadable') },
    ])
  })
})
