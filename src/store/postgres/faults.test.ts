import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, sharedServer, type TestDatabase } from '../../../test/postgres/database.ts'
import { type PostgresServer, startServer } from '../../../test/postgres/server.ts'
import { eventOf, openStore } from '../../../test/store/postgres.fixture.ts'
import { hook as hookOf, newTenant } from '../../../test/store/samples.fixture.ts'
import type { Store } from '../store.ts'

const unavailable = { code: 'store.unavailable' }

/** Until the database is back: what a caller that tries again sees. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  return expect
    .poll(() => ask().catch(() => undefined), { interval: 50 })
    .toBeDefined()
    .then(ask)
}

describe('4.9 #126 a server that restarts', () => {
  let server: PostgresServer
  let db: TestDatabase
  let store: Store

  beforeAll(async () => {
    server = await startServer({ binaries: (await sharedServer()).binaries })
    db = await freshDatabase(server)
    store = await openStore(db)
  })
  afterAll(async () => {
    await store.close()
    await server.remove()
  })

  test('4.9 #126 stopped: every call fails as unavailable; started again: what was acknowledged is there', async () => {
    const tenant = await newTenant(store)
    const hook = await store.createHook(hookOf(tenant), 1)
    let hints = 0
    const undo = store.onHint(() => hints++)
    await server.stop('immediate')
    await expect(store.ping()).rejects.toMatchObject(unavailable)
    await expect(store.findHook(tenant, hook.id)).rejects.toMatchObject(unavailable)
    await expect(store.recordEvents([eventOf(tenant)], [], [])).rejects.toMatchObject(unavailable)
    await expect(store.claimDeliveries(claim)).rejects.toMatchObject(unavailable)
    await expect(store.takeGuards(tenant, [{ kind: 'end_streak', key: 'k' }], 1)).rejects.toMatchObject(
      unavailable,
    )
    await expect(openStore(db)).rejects.toMatchObject(unavailable)
    hints = 0
    await server.start()
    expect(await untilAnswered(() => store.findHook(tenant, hook.id))).toEqual(hook)
    // A hint may have been lost meanwhile, so coming back is one.
    await expect.poll(() => hints).toBeGreaterThan(0)
    const heard = hints
    await store.toggleHook(tenant, hook.id, { enabled: false }, 2)
    await expect.poll(() => hints).toBeGreaterThan(heard)
    undo()
  })

  test('4.9 #126 a call under way while the server crashes fails as unavailable', async () => {
    const tenant = await newTenant(store)
    const blocker = new pg.Client(db.superUrl)
    blocker.on('error', () => {})
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('lock table settings')
    const waiting = expect(store.readSettings(tenant)).rejects.toMatchObject(unavailable)
    await expect.poll(() => waitingForLocks(db)).toBe(1)
    await server.stop('immediate')
    await waiting
    await server.start()
    expect(await untilAnswered(() => store.readSettings(tenant))).toEqual({})
    // A group that was refused can be written again, in a chain that holds.
    await store.recordEvents([eventOf(tenant)], [], [])
    expect(await store.verifyAudit()).toEqual({ checked: 1 })
  })
})

describe('4.9 #126 a server that stays up', () => {
  let db: TestDatabase
  let store: Store
  let tenant: string

  beforeAll(async () => {
    db = await freshDatabase()
    store = await openStore(db, { poolSize: 2 })
    tenant = await newTenant(store)
  })
  afterAll(async () => {
    await store.close()
    await db.drop()
  })

  test('4.9 #126 terminated backends are replaced, and a dead idle connection costs nobody the process', async () => {
    for (let round = 0; round < 5; round++) {
      // Of two connections one may be found dead only now.
      await untilAnswered(() => store.ping().then(() => true))
      expect(await db.terminateBackends()).toBeGreaterThan(0)
      expect(await untilAnswered(() => store.readSettings(tenant))).toEqual({})
    }
  })

  test('4.9 #126 a call whose backend is terminated fails as unavailable', async () => {
    const { release } = await hold(db, 'settings')
    const waiting = expect(store.readSettings(tenant)).rejects.toMatchObject(unavailable)
    await expect.poll(() => waitingForLocks(db)).toBe(1)
    await db.terminateBackends()
    await waiting
    await release()
    expect(await untilAnswered(() => store.readSettings(tenant))).toEqual({})
  })

  test('4.9 #126 read-only after a failover: reads answer, writes are unavailable, and all is well after it', async () => {
    await store.writeSettings(tenant, { a: 1 }, 1)
    await db.setReadOnly(true)
    expect(await untilAnswered(() => store.readSettings(tenant))).toEqual({ a: 1 })
    await expect(store.writeSettings(tenant, { a: 2 }, 2)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('25006'),
    })
    await expect(store.recordEvents([eventOf(tenant)], [], [])).rejects.toMatchObject(unavailable)
    await db.setReadOnly(false)
    await untilAnswered(async () => {
      await store.writeSettings(tenant, { a: 3 }, 3)
      return true
    })
    expect(await store.readSettings(tenant)).toEqual({ a: 3 })
  })

  test('4.9 #126 a pool with nothing left to give says so instead of waiting for ever', async () => {
    const { release } = await hold(db, 'settings')
    const calls = Array.from({ length: 6 }, () => store.readSettings(tenant))
    const outcomes = await Promise.allSettled(calls)
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable })
    await release()
    expect(await store.readSettings(tenant)).toEqual({ a: 3 })
  })

  test('4.9 #126 a server without a free connection is unavailable', async () => {
    await db.query(`alter role ${db.role} connection limit 0`)
    await expect(openStore(db)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('53300'),
    })
    await db.query(`alter role ${db.role} connection limit -1`)
  })

  test('4.9 #126 a closed store answers as unavailable, and can be closed again', async () => {
    const other = await openStore(db)
    await other.close()
    await other.close()
    await expect(other.ping()).rejects.toMatchObject(unavailable)
  })
})

const claim = { kinds: ['hook'], limit: 10, now: 1, lease_ms: 1, worker: 'w' }

async function hold(db: TestDatabase, table: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client(db.superUrl)
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query(`lock table ${table}`)
  return { release: () => client.end().catch(() => {}) }
}

async function waitingForLocks(db: TestDatabase): Promise<number> {
  const rows = await db.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rows.length
}
