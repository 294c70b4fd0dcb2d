import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { backoffMs, type DeliverWork, type DeliveryAttempt, DeliveryWorker } from './delivery-worker.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function setUp(deliver: DeliverWork, options: { maxAttempts?: number; store?: Partial<Store> } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-delivery-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true }))
  const keyring = { current: { id: 'k', key: 'a'.repeat(64) } }
  const clock = fakeClock()
  const real = await openSqliteStore({ file: join(folder, 'store.db'), keyring, clock })
  undo.push(() => real.close())
  const tenant = randomUUID()
  await real.createTenant({ id: tenant, name: 'tenant', created_at: clock.now() })
  const store: Store = { ...real, ...options.store }
  const logged: { name: string; fields: Readonly<Record<string, unknown>> }[] = []
  const start = () => {
    const worker = new DeliveryWorker({
      store,
      kinds: { work: deliver },
      clock,
      log: (name, fields) => void logged.push({ name, fields }),
      random: () => 0,
      ...(options.maxAttempts === undefined ? {} : { maxAttempts: options.maxAttempts }),
    })
    undo.push(async () => {
      const stopped = worker.stop(1)
      await clock.advance(1)
      await stopped
    })
    return worker
  }
  const queue = async (key: string) => {
    const delivery = {
      id: randomUUID(),
      tenant,
      kind: 'work',
      dedup_key: key,
      payload: JSON.stringify({ key }),
      created_at: clock.now(),
    }
    await real.recordEvents([], [delivery], [])
    return delivery.id
  }
  const list = async (state?: 'waiting' | 'leased' | 'dead') =>
    (await real.listDeliveries(tenant, state === undefined ? {} : { state }, { limit: 100 })).rows
  return { real, clock, tenant, start, queue, list, logged }
}

/** Lets the worker thread of the store answer. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { interval: 4 }).toBe(true)
}

test('what is due is done once, and its cause queues it once', async () => {
  const seen: string[] = []
  const { start, queue } = await setUp(async ({ payload }) => {
    seen.push(payload)
    return { end: 'done' }
  })
  await queue('a')
  await queue('a')
  await queue('b')
  start()
  await until(() => seen.length === 2)
  expect(seen.toSorted()).toEqual(['{"key":"a"}', '{"key":"b"}'])
})

test('4.9 #130 a poison delivery is tried as often as it may, then laid aside and can be replayed', async () => {
  const attempts: number[] = []
  let isMended = false
  const { real, clock, tenant, start, queue, list, logged } = await setUp(
    async ({ attempt }): Promise<DeliveryAttempt> => {
      attempts.push(attempt)
      return isMended ? { end: 'done' } : { end: 'retry', error: 'receiver down' }
    },
    { maxAttempts: 3 },
  )
  const id = await queue('a')
  const worker = start()
  for (let attempt = 1; attempt <= 3; attempt++) {
    await until(() => attempts.length === attempt)
    await until(async () => (await list('leased')).length === 0)
    await clock.advance(backoffMs(attempt, () => 0))
    worker.wake()
  }
  await until(async () => (await list('dead')).length === 1)
  expect(attempts).toEqual([1, 2, 3])
  expect(await list('dead')).toMatchObject([{ id, attempts: 3, last_error: 'receiver down' }])
  expect(logged).toMatchObject([{ name: 'delivery.dead', fields: { id, attempts: 3 } }])
  isMended = true
  expect(await real.replayDeliveries(tenant, [id])).toBe(1)
  worker.wake()
  await until(async () => (await list('dead')).length === 0)
  await until(() => attempts.length === 4)
  expect(attempts[3]).toBe(1)
})

test('4.9 #129 a lease that ran out is taken again, and the late worker changes nothing', async () => {
  const { real, clock, start, queue, list } = await setUp(async () => ({ end: 'done' }))
  const id = await queue('a')
  const [lost] = await real.claimDeliveries({
    kinds: ['work'],
    limit: 1,
    lease_ms: 1_000,
    worker: 'dies',
  })
  expect(lost).toMatchObject({ id, attempt: 1 })
  await clock.advance(1_001)
  start()
  await until(async () => (await list()).length === 0)
  expect(await real.endDeliveries([{ id, lease: lost?.lease ?? '', end: 'dead', error: 'late' }])).toEqual([])
})

test('a handler that throws is tried again', async () => {
  let isBroken = true
  const { clock, start, queue, list } = await setUp(async () => {
    if (isBroken) throw new Error('bug')
    return { end: 'done' }
  })
  await queue('a')
  const worker = start()
  await until(async () => (await list('waiting')).some(({ last_error }) => last_error === 'bug'))
  isBroken = false
  await clock.advance(1_000)
  worker.wake()
  await until(async () => (await list()).length === 0)
})

test('while the store is down the worker says so, and goes on when it is back', async () => {
  let isDown = true
  const done: string[] = []
  const { real, clock, start, queue, logged } = await setUp(
    async ({ id }) => {
      done.push(id)
      return { end: 'done' }
    },
    {
      store: {
        claimDeliveries: (claim) =>
          isDown ? Promise.reject(new Error('gone')) : real.claimDeliveries(claim),
      },
    },
  )
  await queue('a')
  const worker = start()
  await until(() => worker.failure() === 'gone')
  await clock.advance(1_000)
  await clock.advance(1_000)
  expect(logged.map(({ name }) => name)).toEqual(['delivery.store_failed'])
  isDown = false
  await clock.advance(1_000)
  await until(() => done.length === 1)
  expect(worker.failure()).toBeUndefined()
})

test('stopping waits for what was begun', async () => {
  let finish: () => void = () => {}
  const { start, queue, list } = await setUp(
    () => new Promise((resolve) => (finish = () => resolve({ end: 'done' }))),
  )
  await queue('a')
  const worker = start()
  await until(() => worker.busy() === 1)
  const stopped = worker.stop(1_000)
  finish()
  await stopped
  expect(await list()).toEqual([])
})

test('waiting grows fourfold up to an hour, half of it by chance', () => {
  expect([1, 2, 3, 10].map((attempt) => backoffMs(attempt, () => 1))).toEqual([
    1_000, 4_000, 16_000, 3_600_000,
  ])
  expect(backoffMs(1, () => 0)).toBe(500)
})

test('stopping waits no longer than it may, and the lease keeps what is still under way', async () => {
  const { clock, start, queue, list } = await setUp(() => new Promise(() => {}))
  const id = await queue('a')
  const worker = start()
  await until(() => worker.busy() === 1)
  const stopped = worker.stop(500)
  await clock.advance(500)
  await stopped
  expect(await list('leased')).toMatchObject([{ id }])
})
