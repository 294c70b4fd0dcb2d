import type pg from 'pg'
import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from '../../engine/guard/guard-entry.ts'
import type { Secrets } from '../../safe/secret.ts'
import { oneOf } from '../sql/column-values.ts'
import { type ByHand, isTaken } from '../sql/sql-database.ts'
import type { GuardStore } from '../stores/guard-store.ts'
import { roles, type TenantStore } from '../stores/tenant-store.ts'
import { appendGroup, writeGroup } from './audit-writes.ts'
import type { Pool } from './connection-pool.ts'
import { deliveries } from './delivery-claims.ts'
import { asParameter } from './postgres-dialect.ts'
import { gaveWay, insist } from './postgres-error.ts'
import { tail } from './snapshot-cursors.ts'

export function byHand(pools: { app: Pool; system: Pool }, secrets: Secrets): ByHand {
  return {
    tail: tail(pools.app),
    takeGuards: takeGuards(pools.app),
    findToken: findToken(pools.system),
    appendGroup: (group) => appendGroup(pools.system, group),
    writeGroup: (group) => writeGroup(pools.system, group),
    ...deliveries(pools.system, secrets),
  }
}

/** Every request begins with this question. */
export function findToken(pool: Pool): TenantStore['findToken'] {
  return async (hash) => {
    const { rows } = await pool.query({
      name: 'find_token',
      text: 'select id, tenant_id, name, role, agent_id, created_at, expires_at from tokens where hash = $1',
      values: [hash],
    })
    const row = rows[0]
    return row && { ...row, role: oneOf(roles, row.role) }
  }
}

type Entries = ReadonlyMap<string, GuardEntry>

/** Locked in the order of their keys: two nodes that want the same ones wait for each other, and never in a circle. */
const LOCK = `select key, until, count from guard_state where tenant_id = $1 and key = any($2::text[])
  order by key for update`

const ARM = `with changed as (
    update guard_state g set until = e.until, count = e.count
    from unnest($2::text[], $3::int8[], $4::float8[]) as e (key, until, count)
    where g.tenant_id = $1 and g.key = e.key),
  removed as (delete from guard_state where tenant_id = $1 and key = any($5::text[]))
  insert into guard_state (tenant_id, key, until, count)
  select $1, e.key, e.until, e.count from unnest($6::text[], $7::int8[], $8::float8[]) as e (key, until, count)
  order by e.key`

/** The rules of `memoryGuardState` over a table. */
export function takeGuards(pool: Pool): GuardStore['takeGuards'] {
  return async (tenant, requests, now) => {
    if (requests.length === 0) return []
    const attempt = () => pool.tenantTransaction(tenant, (client) => take(client, { tenant, requests, now }))
    // Taken is a key that we saw nobody hold, and that another node armed before us: it holds it now.
    return insist(attempt, (error) => gaveWay(error) || isTaken(error))
  }
}

interface Asked {
  readonly tenant: string
  readonly requests: readonly GuardRequest[]
  readonly now: number
}

async function take(client: pg.PoolClient, { tenant, requests, now }: Asked): Promise<readonly Pass[]> {
  const before = await locked(client, tenant, new Set(requests.map(entryKey)))
  const passes = requests.map((request) => checkEntry(request, before.get(entryKey(request)), now))
  if (!passes.every((pass) => pass.pass)) return passes
  const after = new Map<string, GuardEntry | undefined>(before)
  for (const request of requests) {
    const key = entryKey(request)
    after.set(key, armEntry(request, after.get(key), now))
  }
  await client.query({ text: ARM, values: [tenant, ...changes(before, after)] })
  return passes
}

async function locked(client: pg.PoolClient, tenant: string, keys: ReadonlySet<string>): Promise<Entries> {
  const values = [tenant, [...keys].map(asParameter)]
  const { rows } = await client.query({ text: LOCK, values })
  return new Map(rows.map(({ key, until, count }) => [key, { until, count }]))
}

function changes(before: Entries, after: ReadonlyMap<string, GuardEntry | undefined>): unknown[] {
  const entries = [...after].flatMap(([key, entry]) => (entry === undefined ? [] : [{ key, ...entry }]))
  const columns = (there: boolean) => {
    const rows = entries.filter((entry) => before.has(entry.key) === there)
    return [
      rows.map((row) => asParameter(row.key)),
      rows.map((row) => row.until),
      rows.map((row) => row.count),
    ]
  }
  const removed = [...after].filter(([, entry]) => entry === undefined).map(([key]) => asParameter(key))
  return [...columns(true), removed, ...columns(false)]
}
