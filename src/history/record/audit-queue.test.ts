import { expect, test } from 'vitest'
import type { Log } from '../../engine/core/records/sink.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { EventRecord } from '../audit-tables.ts'
import { AuditQueue } from './audit-queue.ts'

/** A store that writes when told to, and fails when told to. */
function slowStore() {
  const groups: string[][] = []
  const open: { resolve(): void; reject(reason: Error): void }[] = []
  const recordEvents = (batch: readonly EventRecord[]) => {
    groups.push(batch.map(({ event_id }) => event_id))
    return new Promise<void>((resolve, reject) => open.push({ resolve, reject }))
  }
  return { groups, recordEvents, next: () => open.shift() }
}

function setUp() {
  const clock = fakeClock()
  const store = slowStore()
  const logged: string[] = []
  const log: Log = (name) => void logged.push(name)
  return { clock, store, logged, queue: new AuditQueue({ store, clock, log }) }
}

const event = (id: string) => ({ event: () => ({ event_id: id }) as EventRecord })

test('what is added within a few milliseconds is written together', async () => {
  const { clock, store, queue } = setUp()
  queue.add(event('a'))
  queue.add(event('b'))
  expect(store.groups).toEqual([])
  await clock.advance(5)
  expect(store.groups).toEqual([['a', 'b']])
})

test('a commit starts at once, and what comes while it is written forms the next group', async () => {
  const { clock, store, queue } = setUp()
  const first = queue.commit(event('a'))
  const second = queue.commit(event('b'))
  queue.add(event('c'))
  expect(store.groups).toEqual([['a']])
  store.next()?.resolve()
  await first
  await clock.advance(0)
  expect(store.groups).toEqual([['a'], ['b', 'c']])
  store.next()?.resolve()
  await expect(second).resolves.toBeUndefined()
})

test('4.9 #123 GC-98 a failed write rejects who waits, keeps the others, and is told', async () => {
  const { clock, store, queue, logged } = setUp()
  queue.add(event('kept'))
  const waited = queue.commit(event('waited'))
  store.next()?.reject(new Error('disk full'))
  await expect(waited).rejects.toThrow('disk full')
  expect(logged).toEqual(['security.hook.audit_write_failed'])
  expect(await queue.status('')).toMatchObject({ state: 'bad', text: 'cannot be written: disk full' })
  await clock.advance(250)
  expect(store.groups.at(-1)).toEqual(['kept'])
  store.next()?.resolve()
  await clock.advance(0)
  expect(await queue.status('')).toMatchObject({ state: 'ok' })
})

test('while the store is down records are kept up to a bound, and what is lost is counted', async () => {
  const { clock, store, queue, logged } = setUp()
  for (let index = 0; index < 20_500; index++) queue.add(event(String(index)))
  // Three groups are under way.
  for (let group = 0; group < 3; group++) store.next()?.reject(new Error('down'))
  await clock.advance(0)
  expect(logged).toContain('security.hook.audit_lost')
  expect(await queue.status('')).toMatchObject({ details: { waiting: 20_000, lost: 500 } })
})

test('whoever answers while writing falls behind is told to wait', async () => {
  const { clock, store, queue } = setUp()
  queue.add(event('a'))
  await clock.advance(5)
  expect(queue.isBehind()).toBe(false)
  await clock.advance(20)
  expect(queue.isBehind()).toBe(true)
  const settled = queue.settled()
  store.next()?.resolve()
  await settled
  expect(queue.isBehind()).toBe(false)
})

test('closing writes everything that is left', async () => {
  const { store, queue } = setUp()
  queue.add(event('a'))
  const closed = queue.close()
  store.next()?.resolve()
  await closed
  expect(store.groups).toEqual([['a']])
})

test('listeners hear of every group that was written', async () => {
  const { clock, store, queue } = setUp()
  let heard = 0
  const undo = queue.onWritten(() => heard++)
  const written = queue.commit(event('a'))
  store.next()?.resolve()
  await written
  expect(heard).toBe(1)
  undo()
  queue.add(event('b'))
  await clock.advance(5)
  store.next()?.resolve()
  await clock.advance(0)
  expect(heard).toBe(1)
})

test('after a failure the store is asked again though nothing waits, so that an idle node becomes ready', async () => {
  const { clock, store, queue, logged } = setUp()
  const waited = queue.commit(event('waited'))
  store.next()?.reject(new Error('disk full'))
  await expect(waited).rejects.toThrow('disk full')
  await clock.advance(250)
  store.next()?.reject(new Error('still full'))
  await clock.advance(0)
  expect(await queue.status('')).toMatchObject({ state: 'bad', text: 'cannot be written: still full' })
  await clock.advance(250)
  store.next()?.resolve()
  await clock.advance(0)
  expect(await queue.status('')).toMatchObject({ state: 'ok' })
  expect(store.groups).toEqual([['waited'], [], []])
  expect(logged).toEqual(['security.hook.audit_write_failed'])
  await clock.advance(1_000)
  expect(store.groups).toHaveLength(3)
})
