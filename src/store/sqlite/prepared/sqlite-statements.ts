/** The prepared statements of the SQLite store: what runs with every dispatch, without a query builder. */
import type { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../../engine/core/clock.ts'
import type { GuardRequest } from '../../../engine/core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from '../../../engine/guard/guard-entry.ts'
import type { Secrets } from '../../../safe/secret.ts'
import { type ExecutionColumns, executionColumns, readExecution } from '../../sql/audit/history-queries.ts'
import { clampGuardEntry } from '../../sql/clamp-windows.ts'
import { readUnion } from '../../sql/column-values.ts'
import { invalidCursor } from '../../sql/page-cursor.ts'
import { takeInBatches } from '../../sql/runs/take-batches.ts'
import type { DialectStatements } from '../../sql/sql-database.ts'
import { readSummary, type SummaryColumns, summaryColumns } from '../../sql/views/event-list.ts'
import { roles } from '../../stores/tenant-store.ts'
import type { Mutex } from '../mutex.ts'
import { sqliteCodec } from '../sqlite-dialect.ts'
import { sqliteStoreError } from '../sqlite-error.ts'
import { prepareAppendGroup, prepareWriteGroup } from './audit-writes.ts'
import { prepareDeliveryClaims } from './delivery-claims.ts'
import {
  numberColumn,
  numberColumnOrNull,
  prepareTransaction,
  textColumn,
  textColumnOrNull,
} from './prepared-statement.ts'
import { prepareTakeRuns } from './take-run.ts'

/** The synchronous form of a statement: SQLite answers without waiting. */
export type SyncStatement<Name extends keyof DialectStatements> = (
  ...args: Parameters<DialectStatements[Name]>
) => Awaited<ReturnType<DialectStatements[Name]>>

export function prepareStatements(database: DatabaseSync, secrets: Secrets, mutex: Mutex): DialectStatements {
  const locked =
    <Args extends readonly unknown[], Result>(run: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await mutex.runSync(() => run(...args))
      } catch (error) {
        throw sqliteStoreError(error)
      }
    }
  const deliveries = prepareDeliveryClaims(database, secrets)
  return {
    appendGroup: locked(prepareAppendGroup(database)),
    writeGroup: locked(prepareWriteGroup(database)),
    claimDeliveries: locked(deliveries.claim),
    endDeliveries: locked(deliveries.end),
    takeGuards: locked(prepareTakeGuards(database)),
    findToken: locked(prepareFindToken(database)),
    tail: locked(prepareTail(database)),
    tailEvents: locked(prepareTailEvents(database)),
    takeRun: takeInBatches(locked(prepareTakeRuns(database)), { size: 16, width: 1 }),
  }
}

/** The rules of `memoryGuardState` over a table. */
function prepareTakeGuards(database: DatabaseSync): SyncStatement<'takeGuards'> {
  const transaction = prepareTransaction(database)
  const select = database.prepare('select until, count from guard_state where tenant_id = ? and key = ?')
  const upsert = database.prepare(
    `insert into guard_state (tenant_id, key, until, count) values (?, ?, ?, ?)
     on conflict (tenant_id, key) do update set until = excluded.until, count = excluded.count`,
  )
  const remove = database.prepare('delete from guard_state where tenant_id = ? and key = ?')

  /** Finds the entry of a request, and stores it again if its window was too long. */
  const find = (tenant: string, request: GuardRequest, now: number): GuardEntry | undefined => {
    const key = entryKey(request)
    const row = select.get(tenant, key)
    if (row === undefined) return undefined
    const stored = { until: numberColumn(row.until), count: numberColumn(row.count) }
    const entry = clampGuardEntry(request, stored, now)
    if (entry !== stored) upsert.run(tenant, key, entry.until, entry.count)
    return entry
  }
  const arm = (tenant: string, request: GuardRequest, now: number) => {
    const key = entryKey(request)
    const armed = armEntry(request, find(tenant, request, now), now)
    if (armed === undefined) remove.run(tenant, key)
    else upsert.run(tenant, key, armed.until, armed.count)
  }
  return (tenant, requests, now = systemClock.now()) =>
    transaction(() => {
      const passes = requests.map((request) => checkEntry(request, find(tenant, request, now), now))
      if (passes.every((pass) => pass.pass)) for (const request of requests) arm(tenant, request, now)
      return passes
    })
}

function prepareFindToken(database: DatabaseSync): SyncStatement<'findToken'> {
  const select = database.prepare(
    'select id, tenant_id, name, role, agent_id, created_at, expires_at from tokens where hash = ?',
  )
  return (hash) => {
    const row = select.get(hash)
    return (
      row && {
        id: textColumn(row.id),
        tenant_id: textColumn(row.tenant_id),
        name: textColumn(row.name),
        role: readUnion(roles, row.role),
        agent_id: textColumnOrNull(row.agent_id),
        created_at: numberColumn(row.created_at),
        expires_at: numberColumnOrNull(row.expires_at),
      }
    )
  }
}

/** Rows become visible in the order of their positions, so a cursor is a position. */
function prepareTail(database: DatabaseSync): SyncStatement<'tail'> {
  const read = prepareTailOf(database, { table: 'hook_executions', columns: executionColumns })
  return (tenant, cursor, limit) => {
    const { rows, nextCursor } = read<ExecutionColumns>(tenant, cursor, limit)
    return { rows: rows.map((row) => readExecution(sqliteCodec, row)), nextCursor }
  }
}

function prepareTailEvents(database: DatabaseSync): SyncStatement<'tailEvents'> {
  const tailed = { table: 'event_summaries', columns: summaryColumns }
  const all = prepareTailOf(database, tailed)
  const withoutProbes = prepareTailOf(database, { ...tailed, and: 'probe = 0' })
  return (tenant, cursor, { limit, probes }) => {
    const read = probes ? all : withoutProbes
    const { rows, nextCursor } = read<SummaryColumns>(tenant, cursor, limit)
    return { rows: rows.map(readSummary), nextCursor }
  }
}

interface TailedTable {
  readonly table: string
  readonly columns: readonly string[]
  readonly and?: string
}

function prepareTailOf(database: DatabaseSync, { table, columns, and = '1' }: TailedTable) {
  // By the primary key: there are few rows after a cursor, whatever their tenant.
  const select = database.prepare(
    `select ${columns.join(', ')} from ${table}
     where position > ? and position <= ? and +tenant_id = ? and ${and} order by position limit ?`,
  )
  const last = database.prepare(`select coalesce(max(position), 0) as position from ${table}`)
  return <Row extends { readonly position: number }>(
    tenant: string,
    cursor: string | undefined,
    limit: number,
  ): { readonly rows: readonly Row[]; readonly nextCursor: string } => {
    const end = numberColumn(last.get()?.position)
    if (!cursor) return { rows: [], nextCursor: String(end) }
    if (!/^\d{1,15}$/.test(cursor)) throw invalidCursor()
    // The columns and their types are those that the caller named.
    const rows = select.all(Number(cursor), end, tenant, limit) as unknown as readonly Row[]
    const reached = rows.length === limit ? rows.at(-1)?.position : Math.max(end, Number(cursor))
    return { rows, nextCursor: String(reached ?? cursor) }
  }
}
