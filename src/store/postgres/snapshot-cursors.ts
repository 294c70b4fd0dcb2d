/**
 * Transactions commit in another order than they begin, so no number in the rows tells which rows are new. A cursor is
 * therefore a snapshot in PostgreSQL's notation: rows of transactions that it could not see are new.
 */

import { isUuid } from '../../database/column-values.ts'
import { decodeCursor, encodeCursor, invalidCursor, type Page } from '../../database/page-cursor.ts'
import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import { postgresCodec } from '../../database/postgres/postgres-dialect.ts'
import { rowCodec } from '../../database/row-codec.ts'
import type { DialectStatements } from '../../database/sql-database.ts'
import type { Table } from '../../database/table.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'

function isSnapshot(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}:\d{1,19}:[\d,]*$/.test(text)
}

/** What the cursor's snapshot could not see and this statement can: no change is missed or returned twice. */
const CHANGES = `select tenant_id as tenant, version, now.cursor
  from (select pg_current_snapshot()::text as cursor) now left join definition_versions
    on stamp >= pg_snapshot_xmin($1::pg_snapshot)::text::bigint
    and not pg_visible_in_snapshot(stamp::text::xid8, $1::pg_snapshot)`

export function readDefinitionChanges(pool: ConnectionPool): DialectStatements['definitionChanges'] {
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

function tailText(columns: readonly string[], table: Table, and: string): string {
  return `with w as (select coalesce($3::pg_snapshot, pg_current_snapshot()) as upto)
  select w.upto::text as upto, h.* from w left join lateral (
    select position, ${columns.join(', ')}, written_by from ${table.name}
    where tenant_id = $1
      and written_by < pg_snapshot_xmax(w.upto)
      and not pg_visible_in_snapshot(written_by, $2::pg_snapshot) and pg_visible_in_snapshot(written_by, w.upto)
      and (written_by, position) > ($4::xid8, $5::int8) and ${and}
    order by written_by, position limit $6) h on true`
}

/** Rows of a table after a cursor, in the order of their writers. */
export function tailBySnapshot<Row>(pool: ConnectionPool, secrets: Secrets, table: Table, and = 'true') {
  const codec = rowCodec(table, postgresCodec, secrets)
  const text = tailText(codec.shown, table, and)
  return async (tenant: string, cursor: string | undefined, limit: number): Promise<Page<Row>> => {
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
        rows: found.map(({ upto: _, written_by: __, position: ___, ...row }) => codec.read(row) as Row),
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
