import { sql } from 'kysely'
import type { NewRunEvent, RunStore } from '../../stores/run-store.ts'
import { invalidCursor } from '../page-cursor.ts'
import type { QueryBuilder, SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import type { CountSealed } from './run-queries.ts'
import { readRunEvent, writeRunEvent } from './run-row.ts'

/** Rows per statement, well below the number of parameters that a statement may have. */
const INSERT_ROWS = 200

type RunEventQueries = Pick<RunStore, 'appendRunEvents' | 'listRunEvents' | 'tailRunEvents'>

export function runEventQueries(db: SqlDatabase, countSealed: CountSealed): RunEventQueries {
  return {
    async appendRunEvents(events) {
      // Sorted, so that two writers cannot deadlock.
      const tenants = [...Map.groupBy(events, (event) => event.tenant_id)].sort(([a], [b]) =>
        a < b ? -1 : 1,
      )
      const [first] = tenants
      if (first === undefined) return
      const append = async (trx: QueryBuilder) => {
        for (const [tenant, own] of tenants) await appendEvents(db, trx, { tenant, events: own })
      }
      await (tenants.length === 1 ? db.tenant(first[0], append) : db.system(append))
      await countSealed(events.length)
    },

    listRunEvents: (tenant, { session_id }, { after, limit }) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('run_events')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session_id)
          .where('position', '>', readPosition(after))
          .orderBy('position')
          .limit(limit)
          .execute()
        return rows.map((row) => readRunEvent(db.secrets, row))
      }),

    tailRunEvents: (tenant, { after, limit }) =>
      db.tenant(tenant, async (trx) => {
        if (after === undefined) return { rows: [], position: String(await lastPosition(trx, tenant)) }
        const { rows } = await tailQuery({ tenant, after: readPosition(after), limit }).execute(trx)
        const events = rows.map(({ deleted_of, ...row }) =>
          deleted_of === null
            ? readRunEvent(db.secrets, { ...row, data: row.data ?? '' })
            : { ...row, position: String(row.position), data: { created_by: deleted_of } },
        )
        return { rows: events, position: events.at(-1)?.position ?? after }
      }),
  }
}

type TailedEvent = Omit<Tables['run_events'], 'data'> & {
  readonly data: string | null
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

interface OwnEvents {
  readonly tenant: string
  readonly events: readonly NewRunEvent[]
}

async function appendEvents(
  db: SqlDatabase,
  trx: QueryBuilder,
  { tenant, events }: OwnEvents,
): Promise<void> {
  const last = await takePositions(trx, tenant, events.length)
  const rows = events.map((event, index) => ({
    ...writeRunEvent(db.secrets, event),
    position: last - events.length + 1 + index,
  }))
  const hookStarts = new Map<string, number>()
  for (let from = 0; from < rows.length; from += INSERT_ROWS) {
    const inserted = await trx
      .insertInto('run_events')
      .values(rows.slice(from, from + INSERT_ROWS))
      .onConflict((conflict) => conflict.columns(['tenant_id', 'event_id']).doNothing())
      .returning(['run_id', 'event_type'])
      .execute()
    for (const { run_id, event_type } of inserted)
      if (run_id !== null && event_type === 'hook_start')
        hookStarts.set(run_id, (hookStarts.get(run_id) ?? 0) + 1)
  }
  for (const [runId, count] of [...hookStarts].sort())
    await trx
      .updateTable('runs')
      .set((eb) => ({ hooks: eb('hooks', '+', count) }))
      .where('tenant_id', '=', tenant)
      .where('run_id', '=', runId)
      .execute()
}

/** Returns the last of the new positions. Other writers of the tenant wait until this transaction ends. */
export async function takePositions(trx: QueryBuilder, tenant: string, count: number): Promise<number> {
  const { position } = await trx
    .insertInto('run_event_positions')
    .values({ tenant_id: tenant, position: count })
    .onConflict((conflict) =>
      conflict
        .column('tenant_id')
        .doUpdateSet((eb) => ({ position: eb('run_event_positions.position', '+', count) })),
    )
    .returning('position')
    .executeTakeFirstOrThrow()
  return position
}

async function lastPosition(trx: QueryBuilder, tenant: string): Promise<number> {
  const row = await trx
    .selectFrom('run_event_positions')
    .select('position')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return row?.position ?? 0
}

function readPosition(after: string | undefined): number {
  if (after === undefined) return 0
  if (!/^\d{1,15}$/.test(after)) throw invalidCursor()
  return Number(after)
}
