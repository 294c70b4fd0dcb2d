import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/postgres/database.ts'
import { deliveryOf, eventOf, openStore } from '../../../test/store/postgres.fixture.ts'
import {
  hook as hookOf,
  newRun,
  newRunner,
  newTenant,
  runEvent,
} from '../../../test/store/samples.fixture.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { beginAs, urlForRole } from '../../database/postgres/connection-pool.ts'
import type { Store } from '../store.ts'
import { rolesOfDatabase } from './roles.ts'

let db: TestDatabase
let one: Store
let two: Store
let tenant: string

beforeAll(async () => {
  db = await freshDatabase()
  ;[one, two] = await Promise.all([openStore(db), openStore(db)])
  tenant = await newTenant(one)
})
afterAll(async () => {
  await Promise.all([one.close(), two.close()])
  await db.drop()
})

/** A transaction of another node, as slow as the test wants it. */
async function slowNode(): Promise<{ client: pg.Client; end(how: 'commit' | 'rollback'): Promise<void> }> {
  const client = new pg.Client(urlForRole(db.url, rolesOfDatabase(db.name).system))
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  return {
    client,
    async end(how) {
      await client.query(how)
      await client.end()
    },
  }
}

describe('deliveries on two nodes', () => {
  test('4.9 #128 two nodes claim at once: every delivery has exactly one holder', async () => {
    const deliveries = Array.from({ length: 600 }, (_, due_at) => deliveryOf(tenant, { due_at }))
    await one.recordEvents([], deliveries, [])
    const held: string[] = []
    for (let round = 0; round < 40; round++) {
      const claims = [one, two, one, two].map((store, worker) =>
        store.claimDeliveries({
          kinds: ['hook'],
          limit: 7,
          now: 1_000,
          lease_ms: 8_000,
          worker: `w${worker}`,
        }),
      )
      for (const claimed of await Promise.all(claims)) held.push(...claimed.map((delivery) => delivery.id))
    }
    expect(held.length).toBe(600)
    expect(new Set(held)).toEqual(new Set(deliveries.map((delivery) => delivery.id)))
  })

  test('4.9 #129 a lease that ran out is taken again, one attempt later, and the first holder can end nothing', async () => {
    const delivery = deliveryOf(tenant, { kind: 'late' })
    await one.recordEvents([], [delivery], [])
    const claim = { kinds: ['late'], limit: 5, worker: 'w' }
    const [first] = await one.claimDeliveries({ ...claim, now: 10, lease_ms: 10 })
    expect(first).toMatchObject({ id: delivery.id, attempt: 1 })
    expect(await two.claimDeliveries({ ...claim, now: 19, lease_ms: 11 })).toEqual([])
    const [second] = await two.claimDeliveries({ ...claim, now: 20, lease_ms: 10 })
    expect(second).toMatchObject({ id: delivery.id, attempt: 2 })
    const ends = [first, second].map((claimed) => ({
      id: claimed?.id ?? '',
      lease: claimed?.lease ?? '',
      end: 'done' as const,
    }))
    expect(await one.endDeliveries(ends.slice(0, 1), 21)).toEqual([])
    expect(await two.endDeliveries(ends.slice(1), 21)).toEqual([delivery.id])
    expect(await two.claimDeliveries({ ...claim, now: 99, lease_ms: 1 })).toEqual([])
  })

  test('4.9 #128 both nodes record the same group at once: everything is there once, and the chains hold', async () => {
    for (let round = 0; round < 10; round++) {
      const group = Array.from({ length: 20 }, () => eventOf(tenant, { session_id: `both ${round}` }))
      const deliveries = Array.from({ length: 5 }, () => deliveryOf(tenant, { kind: 'both' }))
      await Promise.all([
        one.recordEvents(group, deliveries, []),
        two.recordEvents(group.toReversed(), deliveries.toReversed(), []),
      ])
      const { rows } = await one.history(tenant, { session_id: `both ${round}` }, { limit: 100 })
      expect(rows.length).toBe(20)
    }
    const { rows } = await one.listSessions(tenant, {}, { limit: 100 })
    expect(rows.filter((row) => row.session_id.startsWith('both')).map((row) => row.events)).toEqual(
      Array(10).fill(20),
    )
    expect(await two.verifyAudit()).toEqual({ checked: 200 })
  })
})

describe('guards on two nodes', () => {
  test('4.8 two nodes ask for one cooldown at once: exactly one may fire', async () => {
    for (let round = 0; round < 30; round++) {
      const keys = [`a${round}`, `b${round}`]
      const asked = [one, two, one, two].map((store, index) =>
        store.takeGuards(
          tenant,
          (index % 2 ? keys : keys.toReversed()).map((key) => ({ kind: 'cooldown', key, windowMs: 1_000 })),
          5,
        ),
      )
      const fired = (await Promise.all(asked)).filter((passes) => passes.every((pass) => pass.pass))
      expect(fired.length).toBe(1)
    }
  })

  test('4.8 two nodes share one quota to the last call', async () => {
    const quota = { kind: 'quota', key: 'q', limit: 25, windowMs: 60_000 } as const
    const asked = Array.from({ length: 60 }, (_, index) =>
      (index % 2 ? one : two).takeGuards(tenant, [quota], 5),
    )
    const passes = (await Promise.all(asked)).flat()
    expect(passes.filter((pass) => pass.pass).length).toBe(25)
  })
})

describe('definitions on two nodes', () => {
  test('a change on one node is hinted to the other', async () => {
    let hints = 0
    const undo = two.onHint(() => hints++)
    await one.createHook(hookOf(tenant), 1)
    await expect.poll(() => hints).toBe(1)
    undo()
    await one.createHook(hookOf(tenant), 1)
    await two.ping()
    expect(hints).toBe(1)
  })

  test('a hint carries the tenant and the version and nothing else', async () => {
    const client = new pg.Client(db.url)
    await client.connect()
    const heard = new Promise<string | undefined>((resolve) =>
      client.on('notification', (hint) => resolve(hint.payload)),
    )
    await client.query('listen hookhelm_definitions')
    await one.createHook(hookOf(tenant, { config: { url: 'https://secret.example' } }), 1)
    const { version } = await one.loadDefinitions(tenant)
    expect(await heard).toBe(`${tenant} ${version}`)
    await client.end()
  })

  test('a version that is committed late is still told, though a higher one was told before', async () => {
    const late = await newTenant(one)
    const { cursor: start } = await two.definitionChanges()
    const slow = await slowNode()
    await slow.client.query(
      `insert into definition_versions (tenant_id, version, stamp) values ($1, 1, pg_current_xact_id()::text::bigint)`,
      [late],
    )
    await one.createHook(hookOf(tenant), 1)
    const first = await two.definitionChanges(start)
    expect(first.changed.map((change) => change.tenant)).toEqual([tenant])
    await slow.end('commit')
    const second = await two.definitionChanges(first.cursor)
    expect(second.changed).toEqual([{ tenant: late, version: 1 }])
    expect((await two.definitionChanges(second.cursor)).changed).toEqual([])
  })

  test('after a restore into a cluster that has seen fewer transactions no tenant counts as changed for ever', async () => {
    await db.query('update definition_versions set stamp = 1000000000000')
    await (await openStore(db)).close()
    const { cursor } = await two.definitionChanges()
    expect((await two.definitionChanges(cursor)).changed).toEqual([])
  })

  test('a change that was rolled back is never told', async () => {
    const { cursor } = await two.definitionChanges()
    const slow = await slowNode()
    await slow.client.query('update definition_versions set version = version + 1 where tenant_id = $1', [
      tenant,
    ])
    await slow.end('rollback')
    expect((await two.definitionChanges(cursor)).changed).toEqual([])
  })

  test('GC-106 switching a global hook on again clears the trips of every tenant and tells them', async () => {
    const hook = await one.createHook(hookOf(MASTER_TENANT, { scope: 'global' }), 1)
    const other = await newTenant(one)
    for (const each of [tenant, other]) expect(await one.tripHook(each, hook.id, 'timeout', 1)).toBe(true)
    const { cursor } = await two.definitionChanges()
    await one.toggleHook(MASTER_TENANT, hook.id, { enabled: true }, 2)
    for (const each of [tenant, other]) expect((await two.loadDefinitions(each)).tripped).toEqual([])
    const { changed } = await two.definitionChanges(cursor)
    expect(changed.map((change) => change.tenant).toSorted()).toEqual(
      [MASTER_TENANT, tenant, other].toSorted(),
    )
  })
})

describe('a tail across nodes', () => {
  test('shows what a slow node commits late, once, and nothing twice', async () => {
    const watched = await newTenant(one)
    const { nextCursor: start } = await two.tail(watched, undefined, 10)
    const slow = await slowNode()
    const early = eventOf(watched)
    await one.recordEvents([early], [], [])
    await one.holdsSealed()
    // Whoever reads finds it in a row, which the slow one copies.
    await one.history(watched, {}, { limit: 1 })
    // Takes a position now, and lets nobody see it before the others.
    await slow.client.query(
      `insert into hook_executions (id, tenant_id, event_id, event, handler_type, input_hash, decision, duration_ms,
         retry, dedup_key, shadow, metadata, created_at, chain, seq, mac)
       select gen_random_uuid(), tenant_id, 'late', event, handler_type, input_hash, decision, duration_ms, retry, 'late',
         shadow, metadata, created_at, gen_random_uuid(), 1, mac from hook_executions where tenant_id = $1 limit 1`,
      [watched],
    )
    const later = Array.from({ length: 5 }, () => eventOf(watched))
    await two.recordEvents(later, [], [])
    const seen: string[] = []
    let cursor = start
    const read = async () => {
      for (let page = 0; page < 10; page++) {
        const { rows, nextCursor } = await two.tail(watched, cursor, 2)
        seen.push(...rows.map((row) => row.event_id))
        cursor = nextCursor
        if (rows.length === 0) return
      }
    }
    await read()
    const before = [early, ...later].map((event) => event.event_id)
    expect(seen).toEqual(before)
    await slow.end('commit')
    await read()
    expect(seen).toEqual([...before, 'late'])
  })

  test('of events shows what a slow node commits late, once, and nothing twice', async () => {
    const watched = await newTenant(one)
    const options = { limit: 2, probes: false }
    const { nextCursor: start } = await two.tailEvents(watched, undefined, options)
    const slow = await slowNode()
    await slow.client.query(
      `insert into event_summaries (tenant_id, event_id, event, kind, rewritten, failed, shadow, duration_ms, created_at, probe)
       values ($1, 'late', 'stop', 'allow', false, 0, 0, 1, 1, false)`,
      [watched],
    )
    const events = Array.from({ length: 5 }, () => eventOf(watched))
    await two.recordEvents(events, [], [])
    const seen: string[] = []
    let cursor = start
    const read = async () => {
      for (let page = 0; page < 10; page++) {
        const { rows, nextCursor } = await two.tailEvents(watched, cursor, options)
        seen.push(...rows.map((row) => row.event_id))
        cursor = nextCursor
        if (rows.length === 0) return
      }
    }
    await read()
    const before = events.map((event) => event.event_id)
    expect(seen).toEqual(before)
    await slow.end('commit')
    await read()
    expect(seen).toEqual([...before, 'late'])
  })

  test('4.10 #142 shows nothing of another tenant', async () => {
    const other = await newTenant(one)
    const { nextCursor } = await one.tail(other, undefined, 10)
    await one.recordEvents([eventOf(tenant)], [], [])
    expect((await one.tail(other, nextCursor, 10)).rows).toEqual([])
  })

  test('refuses a cursor that no page answered', async () => {
    for (const cursor of ['x', '12', Buffer.from('["1:2:", "1); drop"]').toString('base64url')]) {
      await expect(one.tail(tenant, cursor, 10)).rejects.toMatchObject({ code: 'gateway.request' })
    }
  })
})

describe('runs on two nodes', () => {
  const nowhere = { hostname: null, executor_profile: null }

  test('an event that a slow node writes comes before those that others write meanwhile', async () => {
    const watched = await newTenant(one)
    const run = await one.createRun(newRun(watched), nowhere)
    await one.appendRunEvents([runEvent(run, { event_id: 'first' })])
    const slow = await slowNode()
    await slow.client.query('update run_event_positions set position = position + 1 where tenant_id = $1', [
      watched,
    ])
    await slow.client.query(
      `insert into run_events (tenant_id, position, event_id, session_id, event_type, created_at, data)
       select tenant_id, 2, 'slow', session_id, event_type, created_at, data from run_events where tenant_id = $1`,
      [watched],
    )
    const quick = two.appendRunEvents([runEvent(run, { event_id: 'quick' })])
    const read = async (after: string) =>
      (await two.tailRunEvents(watched, { after, limit: 9 })).rows.map((row) => row.event_id)
    const waits = "select from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
    await expect.poll(() => db.query(waits), { timeout: 60_000 }).not.toEqual([])
    expect(await read('0')).toEqual(['first'])
    await slow.end('commit')
    await quick
    expect(await read('1')).toEqual(['slow', 'quick'])
  })

  test('a run that another poll is taking is skipped, not waited for', async () => {
    const own = await newTenant(one)
    const { runner_id } = await one.registerRunner(newRunner(own))
    const runs = [await one.createRun(newRun(own), nowhere), await one.createRun(newRun(own), nowhere)]
    const slow = await slowNode()
    await slow.client.query('select from runs where run_id = $1 for update', [runs[0]?.run_id])
    const take = () => two.takeRun({ tenant: own, runner_id, needsHooks: [], lease_ms: 9_000 })
    expect((await take())?.run.run_id).toBe(runs[1]?.run_id)
    expect(await take()).toBeUndefined()
    await slow.end('rollback')
    expect((await take())?.run.run_id).toBe(runs[0]?.run_id)
  })

  test('a run that waits, stops or ends is hinted to the other node, with its tenant only', async () => {
    const own = await newTenant(one)
    const { runner_id } = await one.registerRunner(newRunner(own))
    const hints: (string | undefined)[] = []
    const definitions: string[] = []
    const undo = two.onRunHint((hinted) => hints.push(hinted))
    const undoDefinitions = two.onHint(() => definitions.push('hint'))
    const run = await one.createRun(newRun(own), nowhere)
    await expect.poll(() => hints, { timeout: 60_000 }).toEqual([own])
    await one.takeRun({ tenant: own, runner_id, needsHooks: [], lease_ms: 9_000 })
    await one.reportRun(own, run.run_id, runner_id, { report: 'started' })
    await one.stopRun(own, run.run_id)
    await expect.poll(() => hints, { timeout: 60_000 }).toEqual([own, own])
    await one.reportRun(own, run.run_id, runner_id, { report: 'ended', status: 'stopped' })
    await expect.poll(() => hints, { timeout: 60_000 }).toEqual([own, own, own])
    undo()
    undoDefinitions()
    expect(definitions).toEqual([])
    expect(await one.stopRun(own, run.run_id)).toMatchObject({ changed: false })
  })
})

test('4.10 #144 a tenant that is none has no rows, and its id is no statement', async () => {
  expect(beginAs("'; drop table tenants; --")).toBe(`begin; select set_config('hookhelm.tenant', '', true)`)
})
