import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { event, keyring, newTenant } from '../conformance/samples.fixture.ts'
import { openSqlite } from './sqlite.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

const started = vi.hoisted((): Worker[] => [])

vi.mock('node:worker_threads', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:worker_threads')>()
  return {
    ...original,
    Worker: class extends original.Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args)
        started.push(this)
      }
    },
  }
})

afterEach(() => {
  started.length = 0
})

test('4.9 #122 when the worker dies everybody who waits is told, and whoever comes later', async () => {
  const database = await openSqlite()
  const tenant = await newTenant(database.store)
  const record = () => database.store.recordEvents([event(tenant)], [], [])
  await record()
  // Until the lock is gone, nothing of these can be answered.
  const other = new DatabaseSync(database.file)
  other.exec('begin immediate')
  const waiting = Array.from({ length: 50 }, record)
  const [worker] = started
  void worker?.terminate()
  waiting.push(...Array.from({ length: 50 }, record))
  other.exec('rollback')
  other.close()
  const ends = await Promise.allSettled(waiting)
  for (const end of ends)
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'store.unavailable' } })
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
