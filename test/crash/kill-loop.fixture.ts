import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, sharedServer, type TestDatabase } from '../postgres/database.ts'
import { type PostgresServer, startServer } from '../postgres/server.ts'
import type { DatabaseKind } from '../runs/runs.fixture.ts'
import { type ChildGateway, childGateway } from './child-gateway.fixture.ts'
import { Promises, type Receiver, receiver } from './promises.fixture.ts'

/** More than a lease: what a killed gateway was delivering is taken up by the next at once. */
const AHEAD_MS = 31_000
/** The same on PostgreSQL, whose own clock counts. */
const expireLeases = (db: TestDatabase) =>
  db.query(`update deliveries set due_at = due_at - ${AHEAD_MS} where state in ('waiting', 'leased')`)

interface Loop {
  readonly home: string
  readonly database?: TestDatabase
  readonly kills: number
  readonly to: Receiver
}

/** Loads a gateway, kills it at any moment, opens it again and looks, over and over; ends it in peace. */
async function killLoop({ home, database, kills, to }: Loop): Promise<void> {
  const readyMs: number[] = []
  const open = async (round: number): Promise<ChildGateway> => {
    const gateway = await childGateway({ home, database: database?.url, aheadMs: round * AHEAD_MS })
    readyMs.push(gateway.readyMs)
    return gateway
  }
  let gateway = await open(0)
  const promises = new Promises(gateway, to)
  try {
    await promises.prepare()
    for (let round = 1; round <= kills; round++) {
      promises.start(gateway)
      await sleep(20 + Math.random() * 250)
      if (round === kills) await promises.untilObserved()
      const death = await gateway.kill()
      await promises.stop()
      if (database !== undefined) await expireLeases(database)
      gateway = await open(round)
      await promises.look(gateway, death)
    }
    await promises.lookAtDeliveries()
  } finally {
    await promises.stop()
    await gateway.end()
  }
  const slowest = Math.max(...readyMs).toFixed(0)
  process.stderr.write(
    `${kills} kills: ${JSON.stringify(promises.counted)}, ready again after ${slowest} ms at most\n`,
  )
}

const DUPLICATES = [
  'select dedup_key from hook_executions group by dedup_key having count(*) > 1',
  'select dedup_key from deliveries group by tenant_id, dedup_key having count(*) > 1',
]

/** The gateway is killed this often, on SQLite or PostgreSQL. */
export function killGateway(kills: number, on: DatabaseKind): void {
  describe('4.9 #119 kill -9 at any moment under mixed load', () => {
    const home = mkdtempSync(join(tmpdir(), 'hookhelm-kill-'))
    let to: Receiver
    beforeAll(async () => {
      to = await receiver()
    })
    afterAll(async () => {
      await to.close()
      rmSync(home, { recursive: true, force: true })
    })

    test(
      `4.9 #119 ${on}: everything acknowledged is there, nothing twice`,
      () =>
        on === 'SQLite'
          ? killOnSqlite(join(home, 'sqlite'), kills, to)
          : killOnPostgres(join(home, 'postgres'), kills, to),
      120_000 + kills * 30_000,
    )
  })
}

async function killOnSqlite(home: string, kills: number, to: Receiver): Promise<void> {
  await killLoop({ home, kills, to })
  const file = new DatabaseSync(join(home, 'hookhelm.db'), { readOnly: true })
  expect(file.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  for (const sql of DUPLICATES) expect(file.prepare(sql).all()).toEqual([])
  file.close()
}

async function killOnPostgres(home: string, kills: number, to: Receiver): Promise<void> {
  const db = await freshDatabase()
  await killLoop({ home, database: db, kills, to })
  for (const sql of DUPLICATES) expect(await db.query(sql)).toEqual([])
  await db.drop()
}

/** The server of the database is killed this often. */
export function killDatabase(kills: number): void {
  describe('4.9 #119 PostgreSQL itself is killed under mixed load', () => {
    const home = mkdtempSync(join(tmpdir(), 'hookhelm-kill-'))
    let to: Receiver
    let server: PostgresServer
    let db: TestDatabase
    beforeAll(async () => {
      to = await receiver()
      server = await startServer({ binaries: (await sharedServer()).binaries })
      db = await freshDatabase(server)
    })
    afterAll(async () => {
      await to.close()
      await server.remove()
      rmSync(home, { recursive: true, force: true })
    })

    test(
      '4.9 #119 the gateway outlives it and forgets nothing it has answered',
      async () => {
        let gateway = await childGateway({ home, database: db.url })
        const promises = new Promises(gateway, to)
        try {
          await promises.prepare()
          for (let round = 1; round <= kills; round++) {
            promises.start(gateway)
            await sleep(100 + Math.random() * 200)
            await server.stop('immediate')
            await sleep(Math.random() * 300)
            await server.start()
            const health = async () => (await gateway.call('GET', '/healthz')).status
            await expect.poll(health, { timeout: 60_000, interval: 50 }).toBe(200)
            await promises.stop()
            const waiting = async () => {
              const { body } = await gateway.call('GET', '/healthz')
              return body.status.find(({ name }: { name: string }) => name === 'audit').details.waiting
            }
            await expect.poll(waiting, { timeout: 60_000, interval: 20 }).toBe(0)
            await promises.look(gateway)
          }
          await gateway.end()
          await expireLeases(db)
          gateway = await childGateway({ home, database: db.url })
          await promises.look(gateway)
          await promises.lookAtDeliveries()
        } finally {
          await promises.stop()
          await gateway.end()
        }
        for (const sql of DUPLICATES) expect(await db.query(sql)).toEqual([])
        process.stderr.write(`${kills} kills of the server: ${JSON.stringify(promises.counted)}\n`)
      },
      120_000 + kills * 30_000,
    )
  })
}
