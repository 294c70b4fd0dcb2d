import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { event, keyring, newTenant } from '../../../test/store/samples.fixture.ts'
import { openSqlite } from '../../../test/store/sqlite.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

const started: Worker[] = []
/** Node reports each thread that starts. A mock of its module would come too late if another file has loaded the store. */
const keepWorker = (message: unknown) => started.push((message as { readonly worker: Worker }).worker)

beforeAll(() => subscribe('worker_threads', keepWorker))
afterAll(() => unsubscribe('worker_threads', keepWorker))
afterEach(() => {
  started.length = 0
})

test('4.9 #122 when the worker dies everybody who waits is told, and whoever comes later', async () => {
  const database = await openSqlite()
  const tenant = await newTenant(database.store)
  const record = () => database.store.recordEvents([event(tenant)], [], [])
  const waiting = Array.from({ length: 50 }, record)
  void started[0]?.terminate()
  // The worker may still answer these; sooner or later one is sent to a worker that ends.
  for (let told = false; !told; ) {
    const next = record()
    waiting.push(next)
    await next.catch(() => {
      told = true
    })
  }
  const ends = await Promise.allSettled(waiting)
  const failed = ends.filter((end) => end.status === 'rejected')
  expect(failed.length).toBeGreaterThan(0)
  for (const { reason } of failed) expect(reason).toMatchObject({ code: 'store.unavailable' })
  await expect(database.store.ping()).rejects.toMatchObject({ code: 'store.unavailable' })
  // Nothing that was acknowledged is lost.
  const again = await openSqliteStore({ file: database.file, keyring })
  const { broken } = await again.verifyAudit()
  expect(broken).toBeUndefined()
  await again.close()
  await database.dispose()
})

test('a worker that cannot start is an error, not a hang', async () => {
  const opening = openSqliteStore({ file: '/nowhere/hookhelm.db', keyring })
  void started[0]?.terminate()
  await expect(opening).rejects.toMatchObject({ code: 'store.unavailable' })
})

test('what was asked before close is answered, what is asked after it is refused', async () => {
  const database = await openSqlite()
  const asked = Array.from({ length: 20 }, () => newTenant(database.store))
  const closing = database.store.close()
  await expect(database.store.ping()).rejects.toMatchObject({
    code: 'store.unavailable',
    message: 'the store was closed',
  })
  await closing
  await expect(Promise.all(asked)).resolves.toHaveLength(20)
  await expect(database.store.close()).resolves.toBeUndefined()
  await database.dispose()
})

test('a key that is none is refused at the start', async () => {
  const database = await openSqlite()
  const bad = { current: { id: 'k', key: 'short' } }
  await expect(openSqliteStore({ file: database.file, keyring: bad })).rejects.toMatchObject({
    code: 'secret.key',
  })
  await database.dispose()
})

test('what is not plain data is refused with a code', async () => {
  const database = await openSqlite()
  const settings = { a: () => {} }
  await expect(database.store.writeSettings('x', settings, 0)).rejects.toMatchObject({
    code: 'gateway.request',
  })
  await database.dispose()
})
