import { sql } from 'kysely'
import { inSystemOf, inTenant, inTenantOf, operation, type Tx } from '../../database/operation.ts'
import { invalidCursor } from '../../database/page-cursor.ts'
import { find, readRows } from '../../database/rows.ts'
import { columnNames } from '../../database/table.ts'
import { type NewRunEvent, type RunEventRow, runEventPositions, runEventRows } from './run-tables.ts'

/** Rows per statement, well below the number of parameters that a statement may have. */
const INSERT_ROWS = 200

export interface EventPage {
  readonly after?: string
  readonly limit: number
}

export const runEventOperations = {
  /** Appends the events, all or nothing. Existing event ids stay as they are. Rejects if the session does not exist. */
  appendRunEvents: operation({}, async (call, events: readonly NewRunEvent[]): Promise<void> => {
    // Sorted, so that two writers cannot deadlock.
    const tenants = [...Map.groupBy(events, (event) => event.tenant_id)].sort(([a], [b]) => (a < b ? -1 : 1))
    const [first] = tenants
    if (first === undefined) return
    const append = async (tx: Tx) => {
      for (const [tenant, own] of tenants) await appendEvents(tx, tenant, own)
    }
    await (tenants.length === 1 ? inTenantOf(call, first[0], append) : inSystemOf(call, append))
  }),

  listRunEvents: inTenant(
    async (
      tx,
      tenant: string,
      { session_id }: { readonly session_id: string },
      { after, limit }: EventPage,
    ) => {
      const { rows } = await sql`select * from run_events
        where tenant_id = ${tenant} and session_id = ${session_id} and position > ${readPosition(after)}
        order by position limit ${limit}`.execute(tx.trx)
      return readEvents(tx, rows)
    },
  ),

  /** Events of a tenant after a position, in the order of positions; without `after`, no rows and the position of now. */
  tailRunEvents: inTenant(
    async (
      tx,
      tenant: string,
      { after, limit }: EventPage,
    ): Promise<{ readonly rows: readonly RunEventRow[]; readonly position: string }> => {
      if (after === undefined) {
        const last = await find(tx, runEventPositions, { tenant_id: tenant })
        return { rows: [], position: String(last?.position ?? 0) }
      }
      const { rows } = await tailQuery({ tenant, after: readPosition(after), limit }).execute(tx.trx)
      const events = rows.map(({ deleted_of, ...row }) => {
        if (deleted_of !== null)
          return { ...row, position: String(row.position), data: { created_by: deleted_of } }
        return readEvents(tx, [row])[0] ?? { ...row, position: String(row.position), data: null }
      })
      return { rows: events, position: events.at(-1)?.position ?? after }
    },
  ),
}

function readEvents(tx: Tx, rows: readonly unknown[]): readonly RunEventRow[] {
  return readRows(tx, runEventRows, rows).map((row) => ({ ...row, position: String(row.position) }))
}

type TailedEvent = Omit<RunEventRow, 'position' | 'data'> & {
  readonly position: number
  readonly data: unknown
  /** Who created the session, if the event is its deletion. */
  readonly deleted_of: string | null
}

/** One statement, so that one snapshot orders the events and the deletions of sessions. */
function tailQuery({ tenant, after, limit }: { tenant: string; after: number; limit: number }) {
  const page = sql`where tenant_id = ${tenant} and position > ${after} order by position limit ${limit}`
  return sql<TailedEvent>`
    select * from (
      select tenant_id, position, event_id, session_id, run_id, event_type, created_at, data, null as deleted_of
      from run_events ${page}) e
    union all select * from (
      select tenant_id, position, session_id || '-deleted', session_id, null, 'session_deleted', deleted_at, null,
        created_by
      from deleted_run_sessions ${page}) d
    order by position limit ${limit}`
}

async function appendEvents(tx: Tx, tenant: string, events: readonly NewRunEvent[]): Promise<void> {
  const last = await takePositions(tx, tenant, events.length)
  const names = columnNames(runEventRows)
  const codec = tx.db.rows(runEventRows)
  const rows = events.map((event, index): Record<string, unknown> => {
    return { ...event, position: last - events.length + 1 + index }
  })
  const hookStarts = new Map<string, number>()
  for (let from = 0; from < rows.length; from += INSERT_ROWS) {
    const values = rows
      .slice(from, from + INSERT_ROWS)
      .map((row) => sql`(${sql.join(names.map((name) => codec.write(name, row[name], row)))})`)
    const inserted = await sql<{ run_id: string | null; event_type: string }>`insert into run_events
      (${sql.join(names.map((name) => sql.ref(name)))}) values ${sql.join(values)}
      on conflict (tenant_id, event_id) do nothing returning run_id, event_type`.execute(tx.trx)
    for (const { run_id, event_type } of inserted.rows)
      if (run_id !== null && event_type === 'hook_start')
        hookStarts.set(run_id, (hookStarts.get(run_id) ?? 0) + 1)
  }
  for (const [runId, count] of [...hookStarts].sort())
    await sql`update runs set hooks = hooks + ${count} where tenant_id = ${tenant} and run_id = ${runId}`.execute(
      tx.trx,
    )
}

/** Returns the last of the new positions. Other writers of the tenant wait until this transaction ends. */
export async function takePositions(tx: Tx, tenant: string, count: number): Promise<number> {
  const { rows } = await sql<{ position: number }>`insert into run_event_positions (tenant_id, position)
    values (${tenant}, ${count})
    on conflict (tenant_id) do update set position = run_event_positions.position + excluded.position
    returning position`.execute(tx.trx)
  return rows[0]?.position ?? 0
}

function readPosition(after: string | undefined): number {
  if (after === undefined) return 0
  if (!/^\d{1,15}$/.test(after)) throw invalidCursor()
  return Number(after)
}
