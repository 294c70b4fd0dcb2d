import type { DatabaseSync } from 'node:sqlite'
import { serverError } from '../../../engine/core/server-errors.ts'
import { readExecution, type ShownRow, shown } from '../../sql/audit/execution-row.ts'
import type { ExecutionRow, Page } from '../../stores/audit-store.ts'
import { sqliteCodec } from '../codec.ts'
import { number } from './read.ts'

/** Rows become visible in the order of their positions, so a cursor is a position. */
export function tailByHand(database: DatabaseSync) {
  // By the primary key: what is new since a cursor is little, whatever tenant it belongs to.
  const select = database.prepare(
    `select ${shown.join(', ')} from hook_executions
     where position > ? and position <= ? and +tenant_id = ? order by position limit ?`,
  )
  const last = database.prepare('select coalesce(max(position), 0) as position from hook_executions')
  return (tenant: string, cursor: string | undefined, limit: number): Page<ExecutionRow> => {
    const end = number(last.get()?.position)
    if (!cursor) return { rows: [], nextCursor: String(end) }
    if (!/^\d{1,15}$/.test(cursor))
      throw serverError('gateway.request', 'cursor: not one that a page answered')
    // The columns are those of `shown`, in the types of the table.
    const rows = select.all(Number(cursor), end, tenant, limit) as unknown as readonly ShownRow[]
    const reached = rows.length === limit ? rows.at(-1)?.position : Math.max(end, Number(cursor))
    return {
      rows: rows.map((row) => readExecution(sqliteCodec, row)),
      nextCursor: String(reached ?? cursor),
    }
  }
}
