import type { DatabaseSync } from 'node:sqlite'
import type { GuardRequest, Pass } from '../../../engine/core/guard-state.ts'
import { serverError } from '../../../engine/core/server-errors.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from '../../../engine/guard/guard-entry.ts'
import { readExecution, type ShownRow, shown } from '../../sql/audit/history-methods.ts'
import { oneOf } from '../../sql/column-values.ts'
import type { ExecutionRow, Page } from '../../stores/audit-store.ts'
import { roles, type TokenRow } from '../../stores/tenant-store.ts'
import { sqliteCodec } from '../sqlite-dialect.ts'
import { number, numberOrNull, text, textOrNull, transactions } from './prepared-statement.ts'

/** The rules of `memoryGuardState` over a table. */
export function guardsByHand(database: DatabaseSync) {
  const transaction = transactions(database)
  const select = database.prepare('select until, count from guard_state where tenant_id = ? and key = ?')
  const upsert = database.prepare(
    `insert into guard_state (tenant_id, key, until, count) values (?, ?, ?, ?)
     on conflict (tenant_id, key) do update set until = excluded.until, count = excluded.count`,
  )
  const remove = database.prepare('delete from guard_state where tenant_id = ? and key = ?')

  const find = (tenant: string, key: string): GuardEntry | undefined => {
    const row = select.get(tenant, key)
    return row && { until: number(row.until), count: number(row.count) }
  }
  const arm = (tenant: string, request: GuardRequest, now: number) => {
    const key = entryKey(request)
    const armed = armEntry(request, find(tenant, key), now)
    if (armed === undefined) remove.run(tenant, key)
    else upsert.run(tenant, key, armed.until, armed.count)
  }
  return (tenant: string, requests: readonly GuardRequest[], now: number): readonly Pass[] =>
    transaction(() => {
      const passes = requests.map((request) => checkEntry(request, find(tenant, entryKey(request)), now))
      if (passes.every((pass) => pass.pass)) for (const request of requests) arm(tenant, request, now)
      return passes
    })
}

export function tokensByHand(database: DatabaseSync) {
  const select = database.prepare(
    'select id, tenant_id, name, role, agent_id, created_at, expires_at from tokens where hash = ?',
  )
  return (hash: Uint8Array): TokenRow | undefined => {
    const row = select.get(hash)
    return (
      row && {
        id: text(row.id),
        tenant_id: text(row.tenant_id),
        name: text(row.name),
        role: oneOf(roles, row.role),
        agent_id: textOrNull(row.agent_id),
        created_at: number(row.created_at),
        expires_at: numberOrNull(row.expires_at),
      }
    )
  }
}

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
