import type pg from 'pg'
import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import { nowOr, toParameter } from '../../database/postgres/postgres-dialect.ts'
import { isConflict, retryOnConflict } from '../../database/postgres/postgres-error.ts'
import { type DialectStatements, isUniqueViolation } from '../../database/sql-database.ts'
import { deliveryClaims } from '../../deliveries/postgres-delivery-claims.ts'
import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from '../../engine/guard/guard-entry.ts'
import { appendGroup, writeGroup } from '../../history/stored/postgres-audit-writes.ts'
import { takeRunsLocked } from '../../runs/stored/postgres-take-run.ts'
import { takeInBatches } from '../../runs/stored/take-batches.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'
import { clampGuardEntry } from '../../stored-hooks/guard-operations.ts'
import { readDefinitionChanges, tailBySnapshot, tailEventsBySnapshot } from './snapshot-cursors.ts'

/** The plain SQL statements of the PostgreSQL store. */
export function postgresStatements(
  pools: { app: ConnectionPool; system: ConnectionPool },
  secrets: Secrets,
): DialectStatements {
  return {
    tail: tailBySnapshot(pools.app, secrets),
    tailEvents: tailEventsBySnapshot(pools.app, secrets),
    definitionChanges: readDefinitionChanges(pools.system),
    takeGuards: takeGuards(pools.app),
    takeRun: takeInBatches(takeRunsLocked(pools.app), { size: 16, width: 2 }),
    appendGroup: (group) => appendGroup(pools.system, group),
    writeGroup: (group) => writeGroup(pools.system, group),
    ...deliveryClaims(pools.system, secrets),
  }
}

type GuardEntries = ReadonlyMap<string, GuardEntry>

/** Reads the time and the entries. Locks in the order of keys, so that two nodes cannot deadlock. */
const LOCK_GUARDS = `select clock.now, held.key, held.until, held.count from (select ${nowOr('$3')} as now) clock
  left join lateral (
    select key, until, count from guard_state where tenant_id = $1 and key = any($2::text[])
    order by key for update) held on true`

const ARM_GUARDS = `with changed as (
    update guard_state g set until = e.until, count = e.count
    from unnest($2::text[], $3::int8[], $4::float8[]) as e (key, until, count)
    where g.tenant_id = $1 and g.key = e.key),
  removed as (delete from guard_state where tenant_id = $1 and key = any($5::text[]))
  insert into guard_state (tenant_id, key, until, count)
  select $1, e.key, e.until, e.count from unnest($6::text[], $7::int8[], $8::float8[]) as e (key, until, count)
  order by e.key`

/** The rules of `memoryGuardState` over a table. */
function takeGuards(pool: ConnectionPool): DialectStatements['takeGuards'] {
  return async (tenant, requests, now) => {
    if (requests.length === 0) return []
    const attempt = () =>
      pool.tenantTransaction(tenant, (client) => checkAndArm(client, { tenant, requests, now }))
    // A unique violation means that another node armed a guard that was free when we looked.
    return retryOnConflict(attempt, (error) => isConflict(error) || isUniqueViolation(error))
  }
}

interface GuardRequests {
  readonly tenant: string
  readonly requests: readonly GuardRequest[]
  readonly now: number | undefined
}

async function checkAndArm(client: pg.PoolClient, given: GuardRequests): Promise<readonly Pass[]> {
  const { tenant, requests } = given
  const { now, entries: before } = await lockEntries(client, given)
  const after = new Map<string, GuardEntry | undefined>(before)
  for (const request of requests) {
    const entry = before.get(entryKey(request))
    if (entry !== undefined) after.set(entryKey(request), clampGuardEntry(request, entry, now))
  }
  const passes = requests.map((request) => checkEntry(request, after.get(entryKey(request)), now))
  if (passes.every((pass) => pass.pass))
    for (const request of requests) {
      const key = entryKey(request)
      after.set(key, armEntry(request, after.get(key), now))
    }
  const changed = [...after].filter(([key, entry]) => entry !== before.get(key))
  if (changed.length > 0)
    await client.query({ text: ARM_GUARDS, values: [tenant, ...changedColumns(before, new Map(changed))] })
  return passes
}

async function lockEntries(
  client: pg.PoolClient,
  { tenant, requests, now }: GuardRequests,
): Promise<{ readonly now: number; readonly entries: GuardEntries }> {
  const keys = new Set(requests.map(entryKey))
  const values = [tenant, [...keys].map(toParameter), now]
  const { rows } = await client.query({ text: LOCK_GUARDS, values })
  const held = rows.filter(({ key }) => key !== null)
  return {
    now: rows[0].now,
    entries: new Map(held.map(({ key, until, count }) => [key, { until, count }])),
  }
}

/** The array parameters of `ARM_GUARDS`: updated rows, removed keys, inserted rows. */
function changedColumns(before: GuardEntries, after: ReadonlyMap<string, GuardEntry | undefined>): unknown[] {
  const entries = [...after].flatMap(([key, entry]) => (entry === undefined ? [] : [{ key, ...entry }]))
  const columns = (exists: boolean) => {
    const rows = entries.filter((entry) => before.has(entry.key) === exists)
    return [
      rows.map((row) => toParameter(row.key)),
      rows.map((row) => row.until),
      rows.map((row) => row.count),
    ]
  }
  const removed = [...after].filter(([, entry]) => entry === undefined).map(([key]) => toParameter(key))
  return [...columns(true), removed, ...columns(false)]
}
