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
let store: Store
let a: string
let b: string

beforeAll(async () => {
  db = await freshDatabase()
  store = await openStore(db)
  a = await newTenant(store)
  b = await newTenant(store)
  for (const tenant of [a, b]) {
    await store.createHook(hookOf(tenant), 1)
    await store.recordEvents([eventOf(tenant)], [deliveryOf(tenant)], [])
    await store.takeGuards(tenant, [{ kind: 'cooldown', key: 'k', windowMs: 1_000 }], 1)
    await store.readBudget(tenant, 1, 100)
    await store.putSecret({ tenant_id: tenant, name: 'n', sealed: 'x', updated_at: 1 })
    await store.writeSettings(tenant, { a: 1 }, 1)
    await store.saveBlueprint(tenant, { name: 'b', source: 'stored', definition: {} })
    await store.saveRunHook(tenant, { name: 'h', definition: {} }, true)
    const run = await store.createRun(newRun(tenant), { hostname: null, executor_profile: null })
    await store.appendRunEvents([runEvent(run)])
    await store.registerRunner(newRunner(tenant))
    const deleted = await store.createRun(newRun(tenant), { hostname: null, executor_profile: null })
    await store.stopRun(tenant, deleted.run_id)
    await store.confirmFinish(tenant, deleted.run_id)
    await store.deleteRunSession(tenant, deleted.session_id)
  }
  await store.createHook(hookOf(MASTER_TENANT, { scope: 'global' }), 1)
})

afterAll(async () => {
  await store.close()
  await db.drop()
})

/** One connection in the part of the app, as the pool has them. */
async function asApp<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(urlForRole(db.url, rolesOfDatabase(db.name).app))
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const filledTables = [
  ...['agent_hooks', 'events', 'deliveries', 'guard_state', 'secrets', 'settings', 'blueprints', 'run_hooks'],
  ...['run_sessions', 'runs', 'run_events', 'run_event_positions', 'deleted_run_sessions', 'runners'],
]

const tenantTables = async () => {
  const rows = await db.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  )
  return rows.map((row) => String(row.name))
}

describe('4.10 #144 row-level security', () => {
  test('4.10 #144 every table with a tenant_id has FORCE row-level security and a policy for each role', async () => {
    const { app, system } = rolesOfDatabase(db.name)
    const tables = await tenantTables()
    expect(tables.length).toBeGreaterThan(10)
    for (const table of tables) {
      const [row] = await db.query(
        `select relrowsecurity as enabled, relforcerowsecurity as forced,
           array(select distinct r.rolname::text from pg_policy p, unnest(p.polroles) role join pg_roles r on r.oid = role
             where p.polrelid = c.oid order by 1) as roles
         from pg_class c where c.oid = $1::regclass`,
        [table],
      )
      expect({ table, ...row }).toEqual({
        table,
        enabled: true,
        forced: true,
        roles: [app, system].toSorted(),
      })
    }
  })

  test('4.10 #144 the app has no part in tables without a tenant', async () => {
    const rows = await db.query(
      `select relname from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
         and has_table_privilege($1, oid, 'select, insert, update, delete')
         and not exists (select from pg_attribute where attrelid = c.oid and attname = 'tenant_id')`,
      [rolesOfDatabase(db.name).app],
    )
    expect(rows).toEqual([])
  })

  test('4.10 #144 a table that loses its protection gets it back at the next start', async () => {
    await db.query('alter table secrets no force row level security')
    await db.query('create policy leak on secrets using (true)')
    await (await openStore(db)).close()
    const [row] = await db.query(
      `select relforcerowsecurity as forced, exists (select from pg_policy where polname = 'leak') as leak
       from pg_class where oid = 'secrets'::regclass`,
    )
    expect(row).toEqual({ forced: true, leak: false })
  })

  test('4.10 #144 a connection used by tenant A shows nothing of A to the next transaction', async () => {
    await asApp(async (client) => {
      for (const table of await tenantTables()) {
        const count = async () => (await client.query(`select count(*)::int as n from ${table}`)).rows[0].n
        const globals = ['agent_hooks', 'definition_versions'].includes(table) ? 1 : 0
        await client.query(beginAs(a))
        const own = await count()
        await client.query('commit')
        expect({ table, without: await count() }).toEqual({ table, without: globals })
        await client.query(beginAs(a))
        await client.query('rollback')
        expect({ table, without: await count() }).toEqual({ table, without: globals })
        await client.query(beginAs(b))
        const others = await client.query(`select tenant_id from ${table} where tenant_id = $1`, [a])
        await client.query('commit')
        expect({ table, rows: others.rows }).toEqual({ table, rows: [] })
        if (filledTables.includes(table)) {
          expect({ table, own: own > globals }).toEqual({ table, own: true })
        }
      }
    })
  })

  test('GC-106 4.10 #142 a tenant reads global rows and can write none of them, nor rows of another', async () => {
    await asApp(async (client) => {
      await client.query(beginAs(a))
      const { rows } = await client.query('select tenant_id from agent_hooks order by 1')
      expect(rows.map((row) => row.tenant_id).toSorted()).toEqual([MASTER_TENANT, a].toSorted())
      for (const tenant of [MASTER_TENANT, b]) {
        const update = await client.query('update agent_hooks set enabled = false where tenant_id = $1', [
          tenant,
        ])
        const remove = await client.query('delete from agent_hooks where tenant_id = $1', [tenant])
        expect([update.rowCount, remove.rowCount]).toEqual([0, 0])
      }
      await expect(client.query('update settings set tenant_id = $1', [b])).rejects.toMatchObject({
        code: '42501',
      })
      await client.query('rollback')
    })
  })

  test('4.10 #144 the owner itself, without a part to play, sees no row of a tenant', async () => {
    const client = new pg.Client(db.url)
    await client.connect()
    const { rows } = await client.query('select * from secrets')
    await client.end()
    expect(rows).toEqual([])
  })
})
