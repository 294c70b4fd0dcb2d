/**
 * Transactions commit in another order than they begin, so no number in the rows tells which rows are new. A cursor is
 * therefore a snapshot in PostgreSQL's notation: rows of transactions that it could not see are new.
 */
import { executionColumns, readExecution } from '../sql/audit/history-queries.ts'
import { isUuid } from '../sql/column-values.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../sql/page-cursor.ts'
import { readSummary, summaryColumns } from '../sql/views/event-list.ts'
import type { AuditStore } from '../stores/audit-store.ts'
import type { HookStore } from '../stores/hook-store.ts'
import type { ViewStore } from '../stores/view-store.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { postgresCodec } from './postgres-dialect.ts'

function isSnapshot(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}:\d{1,19}:[\d,]*$/.test(text)
}

/** What the cursor's snapshot could not see and this statement can: no change is missed or returned twice. */
const CHANGES = `select tenant_id as tenant, version, now.cursor
  from (select pg_current_snapshot()::text as cursor) now left join definition_versions
    on stamp >= pg_snapshot_xmin($1::pg_snapshot)::text::bigint
    and not pg_visible_in_snapshot(stamp::text::xid8, $1::pg_snapshot)`

export function readDefinitionChanges(pool: ConnectionPool): HookStore['definitionChanges'] {
  return async (cursor) => {
    if (cursor !== undefined && !isSnapshot(cursor)) throw invalidCursor()
    if (cursor === undefined) {
      const { rows } = await pool.query({ text: 'select pg_current_snapshot()::text as cursor' })
      return { cursor: rows[0].cursor, changed: [] }
    }
    const { rows } = await pool.query({ text: CHANGES, values: [cursor] })
    const changed = rows.filter((row) => row.tenant !== null)
    return { cursor: rows[0].cursor, changed: changed.map(({ tenant, version }) => ({ tenant, version })) }
  }
}

/** The range of a tail. After a full page it also holds the end of the range and the last row of the page. */
interface TailRange {
  readonly from: string
  readonly upto?: string
  readonly writer?: string
  readonly position?: number
}

interface TailedTable {
  readonly table: string
  readonly columns: readonly string[]
  readonly and?: string
}

function tailText({ table, columns, and = 'true' }: TailedTable): string {
  return `with w as (select coalesce($3::pg_snapshot, pg_current_snapshot()) as upto)
  select w.upto::text as upto, h.* from w left join lateral (
    select ${columns.join(', ')}, written_by from ${table}
    where tenant_id = $1
      and written_by < pg_snapshot_xmax(w.upto)
      and not pg_visible_in_snapshot(written_by, $2::pg_snapshot) and pg_visible_in_snapshot(written_by, w.upto)
      and (written_by, position) > ($4::xid8, $5::int8) and ${and}
    order by written_by, position limit $6) h on true`
}

export function tailBySnapshot(pool: ConnectionPool): AuditStore['tail'] {
  const read = tailOf(pool, { table: 'hook_executions', columns: executionColumns })
  return async (tenant, cursor, limit) => {
    const { rows, nextCursor } = await read(tenant, cursor, limit)
    return { rows: rows.map((row) => readExecution(postgresCodec, row)), nextCursor }
  }
}

export function tailEventsBySnapshot(pool: ConnectionPool): ViewStore['tailEvents'] {
  const tailed = { table: 'event_summaries', columns: summaryColumns }
  const all = tailOf(pool, tailed)
  const withoutProbes = tailOf(pool, { ...tailed, and: 'not probe' })
  return async (tenant, cursor, { limit, probes }) => {
    const { rows, nextCursor } = await (probes ? all : withoutProbes)(tenant, cursor, limit)
    return { rows: rows.map(readSummary), nextCursor }
  }
}

function tailOf(pool: ConnectionPool, tailed: TailedTable) {
  const text = tailText(tailed)
  return async (tenant: string, cursor: string | undefined, limit: number) => {
    const range = cursor ? readRange(cursor) : undefined
    if (!isUuid(tenant)) return { rows: [], nextCursor: cursor ?? '' }
    return pool.tenantTransaction(tenant, async (client) => {
      if (range === undefined) {
        const { rows } = await client.query('select pg_current_snapshot()::text as from')
        return { rows: [], nextCursor: encodeCursor([rows[0].from]) }
      }
      // A snapshot starts with the oldest transaction that it may not see.
      const { from, upto = null, writer = from.split(':')[0], position = -1 } = range
      const { rows } = await client.query(text, [tenant, from, upto, writer, position, limit])
      // There is always one row with the end of the range; its other columns are null if nothing is new.
      const found = rows.filter((row) => row.position !== null)
      const reached = rows[0].upto
      const last = found.at(-1)
      const next = found.length < limit ? [reached] : [from, reached, last.written_by, last.position]
      return {
        rows: found.map(({ upto: _, written_by: __, ...row }) => row),
        nextCursor: encodeCursor(next),
      }
    })
  }
}

function readRange(cursor: string): TailRange {
  const [from, upto, writer, position] = decodeCursor(cursor)
  if (isSnapshot(from) && upto === undefined) return { from }
  const isRow = typeof writer === 'string' && /^\d{1,19}$/.test(writer) && Number.isSafeInteger(position)
  if (isSnapshot(from) && isSnapshot(upto) && isRow && Number(position) >= 0)
    return { from, upto, writer, position: Number(position) }
  throw invalidCursor()
}
