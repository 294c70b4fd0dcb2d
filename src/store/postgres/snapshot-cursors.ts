import { serverError } from '../../engine/core/server-errors.ts'
import { readExecution, shown } from '../sql/audit/history-methods.ts'
import { isUuid } from '../sql/column-values.ts'
import type { AuditStore } from '../stores/audit-store.ts'
import type { HookStore } from '../stores/hook-store.ts'
import type { Pool } from './connection-pool.ts'
import { codec } from './postgres-dialect.ts'

/** A page that is full keeps the snapshot up to which it was reading, and where in it it has got to. */
interface Window {
  readonly from: string
  readonly upto?: string
  readonly writer?: string
  readonly position?: number
}

const TAIL = `with w as (select coalesce($3::pg_snapshot, pg_current_snapshot()) as upto)
  select w.upto::text as upto, h.* from w left join lateral (
    select ${shown.join(', ')}, written_by from hook_executions
    where tenant_id = $1
      and written_by < pg_snapshot_xmax(w.upto)
      and not pg_visible_in_snapshot(written_by, $2::pg_snapshot) and pg_visible_in_snapshot(written_by, w.upto)
      and (written_by, position) > ($4::xid8, $5::int8)
    order by written_by, position limit $6) h on true`

export function tail(pool: Pool): AuditStore['tail'] {
  return async (tenant, cursor, limit) => {
    const window = cursor ? readWindow(cursor) : undefined
    if (!isUuid(tenant)) return { rows: [], nextCursor: cursor ?? '' }
    return pool.tenantTransaction(tenant, async (client) => {
      if (window === undefined) {
        const { rows } = await client.query('select pg_current_snapshot()::text as from')
        return { rows: [], nextCursor: writeWindow(rows[0]) }
      }
      // A snapshot begins with the oldest transaction that it may not see.
      const { from, upto = null, writer = from.split(':')[0], position = -1 } = window
      const { rows } = await client.query(TAIL, [tenant, from, upto, writer, position, limit])
      // One row always comes, to say up to where; it is empty where there is nothing new.
      const found = rows.filter((row) => row.id !== null)
      const reached = rows[0].upto
      const last = found.at(-1)
      const next =
        found.length < limit
          ? { from: reached }
          : { from, upto: reached, writer: last.written_by, position: last.position }
      return {
        rows: found.map(({ upto: _, written_by: __, ...row }) => readExecution(codec, row)),
        nextCursor: writeWindow(next),
      }
    })
  }
}

function writeWindow({ from, upto, writer, position }: Window): string {
  const parts = upto === undefined ? [from] : [from, upto, writer, position]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function readWindow(cursor: string): Window {
  try {
    const [from, upto, writer, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (isSnapshot(from) && upto === undefined) return { from }
    if (
      isSnapshot(from) &&
      isSnapshot(upto) &&
      /^\d{1,19}$/.test(writer) &&
      Number.isSafeInteger(position) &&
      position >= 0
    ) {
      return { from, upto, writer, position }
    }
  } catch {
    // Falls through: it is as bad as one that can be read and means nothing.
  }
  throw badCursor()
}

/** What the snapshot of the cursor could not see and this statement can: nothing is missed, and nothing told twice. */
const CHANGES = `select tenant_id as tenant, version, now.cursor
  from (select pg_current_snapshot()::text as cursor) now left join definition_versions
    on stamp >= pg_snapshot_xmin($1::pg_snapshot)::text::bigint
    and not pg_visible_in_snapshot(stamp::text::xid8, $1::pg_snapshot)`

export function definitionChanges(pool: Pool): HookStore['definitionChanges'] {
  return async (cursor) => {
    if (cursor !== undefined && !isSnapshot(cursor)) throw badCursor()
    if (cursor === undefined) {
      const { rows } = await pool.query({ text: 'select pg_current_snapshot()::text as cursor' })
      return { cursor: rows[0].cursor, changed: [] }
    }
    const { rows } = await pool.query({ text: CHANGES, values: [cursor] })
    const changed = rows.filter((row) => row.tenant !== null)
    return { cursor: rows[0].cursor, changed: changed.map(({ tenant, version }) => ({ tenant, version })) }
  }
}

/**
 * Transactions end in another order than they begin, so no number in the rows tells which of them are new. A cursor is
 * therefore a snapshot, as PostgreSQL writes it: new is what was written by transactions that it could not see.
 */
export function isSnapshot(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}:\d{1,19}:[\d,]*$/.test(text)
}

export function badCursor(): Error {
  return serverError('gateway.request', 'cursor: not one that was answered')
}
