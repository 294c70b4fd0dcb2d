/** The prepared statements of the SQLite store: what runs with every dispatch, without a query builder. */
import type { DatabaseSync } from 'node:sqlite'
import { invalidCursor, type Page } from '../../database/page-cursor.ts'
import { rowCodec } from '../../database/row-codec.ts'
import type { DialectStatements } from '../../database/sql-database.ts'
import type { Mutex } from '../../database/sqlite/mutex.ts'
import { numberColumn, textColumn } from '../../database/sqlite/prepared-statement.ts'
import { sqliteCodec } from '../../database/sqlite/sqlite-dialect.ts'
import { sqliteStoreError } from '../../database/sqlite/sqlite-error.ts'
import { waitWhileBusy } from '../../database/sqlite/wait-while-busy.ts'
import type { Table } from '../../database/table.ts'
import { prepareDeliveryClaims } from '../../deliveries/sqlite-delivery-claims.ts'
import { type ExecutionRow, executions } from '../../history/audit-tables.ts'
import { prepareAppendGroup, prepareWriteGroup } from '../../history/stored/sqlite-audit-writes.ts'
import { type EventSummary, summaries } from '../../history/view-tables.ts'
import { prepareTakeRuns } from '../../runs/stored/sqlite-take-run.ts'
import { takeInBatches } from '../../runs/stored/take-batches.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'

/** The synchronous form of a statement: SQLite answers without waiting. */
export type SyncStatement<Name extends keyof DialectStatements> = (
  ...args: Parameters<DialectStatements[Name]>
) => Awaited<ReturnType<DialectStatements[Name]>>

export function prepareStatements(database: DatabaseSync, secrets: Secrets, mutex: Mutex): DialectStatements {
  const locked =
    <Args extends readonly unknown[], Result>(run: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await waitWhileBusy(() => mutex.runSync(() => run(...args)))
      } catch (error) {
        throw sqliteStoreError(error)
      }
    }
  const deliveries = prepareDeliveryClaims(database, secrets)
  const tailAll = locked(prepareTail<EventSummary>(database, secrets, summaries))
  const tailReal = locked(prepareTail<EventSummary>(database, secrets, summaries, 'probe = 0'))
  return {
    appendGroup: locked(prepareAppendGroup(database)),
    writeGroup: locked(prepareWriteGroup(database)),
    claimDeliveries: locked(deliveries.claim),
    endDeliveries: locked(deliveries.end),
    definitionChanges: locked(prepareDefinitionChanges(database)),
    tail: locked(prepareTail<ExecutionRow>(database, secrets, executions)),
    tailEvents: (tenant, cursor, { limit, probes }) => (probes ? tailAll : tailReal)(tenant, cursor, limit),
    takeRun: takeInBatches(locked(prepareTakeRuns(database)), { size: 16, width: 1 }),
  }
}

/** Only one process writes, so every change up to the highest stamp is visible. */
function prepareDefinitionChanges(database: DatabaseSync): SyncStatement<'definitionChanges'> {
  const last = database.prepare('select coalesce(max(stamp), 0) + 1 as next from definition_versions')
  const since = database.prepare('select tenant_id, version from definition_versions where stamp >= ?')
  return (cursor) => {
    const next = String(numberColumn(last.get()?.next))
    const changed = cursor === undefined ? [] : since.all(Number(cursor))
    return {
      cursor: next,
      changed: changed.map((row) => ({
        tenant: textColumn(row.tenant_id),
        version: numberColumn(row.version),
      })),
    }
  }
}

/** Rows become visible in the order of their positions, so a cursor is a position. */
function prepareTail<Row>(database: DatabaseSync, secrets: Secrets, table: Table, and = '1') {
  const codec = rowCodec(table, sqliteCodec, secrets)
  // By the primary key: there are few rows after a cursor, whatever their tenant.
  const select = database.prepare(
    `select position, ${codec.shown.join(', ')} from ${table.name}
     where position > ? and position <= ? and +tenant_id = ? and ${and} order by position limit ?`,
  )
  const last = database.prepare(`select coalesce(max(position), 0) as position from ${table.name}`)
  return (tenant: string, cursor: string | undefined, limit: number): Page<Row> => {
    const end = numberColumn(last.get()?.position)
    if (!cursor) return { rows: [], nextCursor: String(end) }
    if (!/^\d{1,15}$/.test(cursor)) throw invalidCursor()
    const rows = select.all(Number(cursor), end, tenant, limit)
    const reached = rows.length === limit ? rows.at(-1)?.position : Math.max(end, Number(cursor))
    return {
      // The columns and their types are those of the table.
      rows: rows.map(({ position: _, ...row }) => codec.read(row) as Row),
      nextCursor: String(reached ?? cursor),
    }
  }
}
