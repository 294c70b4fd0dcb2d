import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { DeliveryWorker } from '../../src/deliveries/delivery-worker.ts'
import { type Clock, systemClock } from '../../src/engine/core/time/clock.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../src/store/store.ts'
import { askingHook, heldCall, pendingOf, person } from '../approvals/people.fixture.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { freshDatabase, type TestDatabase } from '../postgres/database.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const soon = { interval: 25 }

/** The clock of a machine whose wall clock is wrong. */
function skewedClock(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms }
}

/** Counts how often a node looked for due deliveries. */
function countingClaims() {
  let claims = 0
  const aroundStore = (store: Store): Store => ({
    ...store,
    async claimDeliveries(claim) {
      const claimed = await store.claimDeliveries(claim)
      claims += 1
      return claimed
    },
  })
  return { aroundStore, claims: () => claims }
}

async function ownDatabase(): Promise<TestDatabase> {
  const db = await freshDatabase()
  onTestFinished(() => db.drop())
  return db
}

/** Holds every request until the test answers them. */
async function holdingReceiver() {
  const ids: string[] = []
  const held: ServerResponse[] = []
  let isOpen = false
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']))
    request.resume()
    if (isOpen) response.end('{}')
    else held.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ids,
    answerAll() {
      isOpen = true
      for (const response of held) response.end('{}')
    },
  }
}

const skews = [
  ['an hour ahead', HOUR_MS],
  ['an hour behind', -HOUR_MS],
  ['a year ahead', YEAR_MS],
  ['a year behind', -YEAR_MS],
] as const

test.each(skews.slice(1, 3))(
  '4.9 #128 a node whose wall clock is %s: 20 of 20 webhooks are delivered once',
  async (_, skew) => {
    const db = await ownDatabase()
    const receiver = await holdingReceiver()
    const [first, second] = [countingClaims(), countingClaims()]
    const options = {
      database: db.url,
      edition: 'standard',
      env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
      outbound: { allow: ['127.0.0.1'] },
    } as const
    const a = await running({ ...options, aroundStore: first.aroundStore })
    const b = await running({ ...options, aroundStore: second.aroundStore, clock: skewedClock(skew) })
    const config = { url: receiver.url }
    await a.hook({ event: 'session_end', handler_type: 'http', timeout_ms: 10_000, config })
    const loaded = async (node: Running) =>
      (await node.call('GET', '/v1/status')).body.lines.find(({ name }: { name: string }) => name === 'hooks')
    await expect.poll(() => loaded(b), soon).toEqual(await loaded(a))
    await Promise.all(
      Array.from({ length: 20 }, (__, index) =>
        (index % 2 === 0 ? a : b).dispatch('session_end', { reason: 'exit' }),
      ),
    )
    await expect.poll(() => receiver.ids.length, soon).toBeGreaterThanOrEqual(20)
    // Both look again while every delivery is under way.
    const before = [first.claims(), second.claims()]
    await expect.poll(() => first.claims() - (before[0] ?? 0), soon).toBeGreaterThanOrEqual(2)
    await expect.poll(() => second.claims() - (before[1] ?? 0), soon).toBeGreaterThanOrEqual(2)
    receiver.answerAll()
    await expect
      .poll(async () => (await a.call('GET', '/v1/deliveries')).body.deliveries.length, soon)
      .toBe(0)
    expect(receiver.ids).toHaveLength(20)
    expect(new Set(receiver.ids).size).toBe(20)
  },
)

test.each(skews)(
  'a node whose wall clock is %s shares cooldowns, kept answers and budgets by the clock of the database',
  async (_, skew) => {
    const db = await ownDatabase()
    const fired: string[] = []
    const options = {
      database: db.url,
      edition: 'standard',
      env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
      functions: {
        fire: (__: never, { envelope }: { envelope: { id?: string } }) => void fired.push(envelope.id ?? ''),
      },
    } as const
    const a = await running(options)
    const b = await running({ ...options, clock: skewedClock(skew) })
    const config = { name: 'fire' }
    await a.hook({ event: 'pre_tool_use', handler_type: 'function', cooldown_ms: 60_000, config })
    const call = { tool_name: 'Bash', tool_input: {} }
    const nodes = [b, a, b, a]
    await expect
      .poll(async () => {
        await b.dispatch('pre_tool_use', call)
        return fired.length
      }, soon)
      .toBe(1)
    for (const node of nodes) await node.dispatch('pre_tool_use', call)
    expect(fired).toHaveLength(1)
    // The window of a node that is ahead ends for the others when a minute has passed.
    await db.query('update guard_state set until = until - 60000')
    await a.dispatch('pre_tool_use', call)
    expect(fired).toHaveLength(2)
    const request = { idempotency_key: 'same' }
    const kept = await b.dispatch('pre_tool_use', call, request)
    expect((await a.dispatch('pre_tool_use', call, request)).body).toEqual(kept.body)
  },
)

test('a live node keeps its lease though another is an hour ahead, and the lease of a dead one is taken over', async () => {
  const db = await ownDatabase()
  const keyring = { current: { id: 'k', key: 'ab'.repeat(32) } }
  const open = async () => {
    const store = await openPostgresStore({ url: db.url, keyring, edition: 'standard' })
    onTestFinished(() => store.close())
    return store
  }
  const [one, two] = [await open(), await open()]
  const tenant = randomUUID()
  await one.createTenant({ id: tenant, name: 'acme', created_at: 0 })
  const ran: string[] = []
  let isDead = false
  const dying: Store = {
    ...one,
    claimDeliveries: async (claim) => (isDead ? [] : one.claimDeliveries(claim)),
    extendLeases: async (...args) => (isDead ? undefined : one.extendLeases(...args)),
  }
  const start = (name: string, store: Store, clock: Clock) => {
    const kinds = {
      work: async () => {
        ran.push(name)
        if (name === 'live') await new Promise<never>(() => {})
        return { end: 'done' } as const
      },
    }
    const worker = new DeliveryWorker({ store, kinds, clock, log: () => {}, leaseMs: 2_000 })
    onTestFinished(() => worker.stop(1))
  }
  const job = { id: randomUUID(), tenant, kind: 'work', dedup_key: 'k', payload: '{}', created_at: 0 }
  start('live', dying, systemClock)
  await one.recordEvents([], [job], [])
  await expect.poll(() => ran, soon).toEqual(['live'])
  const second = countingClaims()
  start('ahead', second.aroundStore(two), skewedClock(HOUR_MS))
  // Longer than the lease, which the live node renews.
  await expect.poll(second.claims, soon).toBeGreaterThanOrEqual(5)
  expect(ran).toEqual(['live'])
  isDead = true
  await expect.poll(() => ran, soon).toEqual(['live', 'ahead'])
})

test.each(skews)(
  'a node whose wall clock is %s neither ends the question of another node nor answers it, and a person on it does',
  async (_, skew) => {
    const db = await ownDatabase()
    const options = {
      database: db.url,
      edition: 'standard',
      env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
    } as const
    const a = await running(options)
    let looks = 0
    const aroundStore = (store: Store): Store => ({
      ...store,
      async expireApprovals(...args) {
        const expired = await store.expireApprovals(...args)
        looks += 1
        return expired
      },
    })
    const b = await running({ ...options, aroundStore, clock: skewedClock(skew) })
    await a.hook(askingHook)
    const [right, skewed] = [await person(a, 'ada'), await person(b, 'bob')]
    const [first, second] = [heldCall(a, 'git push one'), heldCall(a, 'git push two')]
    const [one, two] = await pendingOf(a, 2)
    // The skewed node looked for questions that are due.
    const before = looks
    await expect.poll(() => looks, soon).toBeGreaterThan(before + 1)
    expect(await pendingOf(b, 2)).toMatchObject([{ status: 'pending' }, { status: 'pending' }])
    expect((await skewed.answer('approve', one.approval_id)).status).toBe(200)
    expect((await right.answer('deny', two.approval_id)).status).toBe(200)
    const kinds = (await Promise.all([first, second])).map(({ body }) => body.decision.kind)
    expect(kinds.toSorted()).toEqual(['allow', 'block'])
    // A question of the skewed node is open as long as its caller waits.
    const third = heldCall(b, 'git push three')
    const [asked] = await pendingOf(a)
    expect((await right.answer('approve', asked.approval_id)).status).toBe(200)
    expect((await third).body.decision.kind).toBe('allow')
  },
)
