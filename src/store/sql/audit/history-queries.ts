import { type Selectable, sql } from 'kysely'
import { executionDecisions } from '../../../engine/core/sink.ts'
import type { AuditStore, ExecutionRow, HistoryFilter } from '../../stores/audit-store.ts'
import { isUuid, readUnion } from '../column-values.ts'
import { pageFromRows, readNumberCursor } from '../page-cursor.ts'
import type { Codec, QueryBuilder, SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'

/** The columns of an execution that readers get. */
export const executionColumns = [
  ...(['position', 'id', 'tenant_id', 'hook_id', 'event_id', 'event', 'handler_type', 'session_id'] as const),
  ...(['agent_id', 'input_hash', 'decision', 'duration_ms', 'retry', 'dedup_key', 'code', 'error'] as const),
  ...(['shadow', 'metadata', 'created_at'] as const),
] as const

export type ExecutionColumns = Pick<Selectable<Tables['hook_executions']>, (typeof executionColumns)[number]>

export function readExecution(codec: Codec, { position: _, ...row }: ExecutionColumns): ExecutionRow {
  const metadata = codec.readJson(row.metadata)
  return {
    ...row,
    decision: readUnion(executionDecisions, row.decision),
    shadow: Boolean(row.shadow),
    metadata: typeof metadata === 'object' ? { ...metadata } : {},
  }
}

const EMPTY = { rows: [], nextCursor: '' } as const

export function historyQueries(db: SqlDatabase): Pick<AuditStore, 'history'> {
  return {
    history: (tenant, filter, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readNumberCursor(cursor) : undefined
        if (filter.hook_id !== undefined && !isUuid(filter.hook_id)) return EMPTY
        const span = await spanOf(trx, tenant, filter)
        if (span === undefined) return EMPTY
        let query = trx.selectFrom('hook_executions').select(executionColumns).where('tenant_id', '=', tenant)
        for (const [index, [column, value]] of equalities(filter).entries())
          query = query.where(index === 0 ? sql.ref(column) : db.codec.unindexed(column), '=', value)
        if (filter.shadow !== undefined) query = query.where(shadowIs(db, filter.shadow))
        if (filter.except_sessions !== undefined)
          query = query.where(isOtherSession(db, filter.except_sessions))
        if (span.since !== undefined) query = query.where('created_at', '>=', span.since)
        if (span.until !== undefined) query = query.where('created_at', '<=', span.until)
        if (from !== undefined)
          query = query.where((eb) =>
            eb(eb.refTuple('created_at', 'position'), '<', eb.tuple(from.time, from.key)),
          )
        const rows = await query
          .orderBy('created_at', 'desc')
          .orderBy('position', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.position }))
        return { ...page, rows: page.rows.map((row) => readExecution(db.codec, row)) }
      }),
  }
}

/** The first filter chooses the index, so the most selective ones come first. */
function equalities(filter: HistoryFilter): readonly (readonly [column: string, value: string])[] {
  const { session_id, hook_id, agent_id, decision, event, event_id } = filter
  const rare = decision !== 'allow' && decision !== 'skipped'
  const wanted: readonly (readonly [string, string | undefined])[] = [
    ['session_id', session_id],
    ...(rare ? [['decision', decision] as const] : []),
    ['hook_id', hook_id],
    ['agent_id', agent_id],
    ['event', event],
    ...(rare ? [] : [['decision', decision] as const]),
  ]
  const given = wanted.flatMap(([column, value]) => (value === undefined ? [] : [[column, value] as const]))
  // The time span already selects the executions of the event.
  return event_id === undefined ? given : [['event_id', event_id], ...given]
}

/** The executions of one event share its time, so they need no index of their own. */
async function spanOf(
  trx: QueryBuilder,
  tenant: string,
  filter: HistoryFilter,
): Promise<{ since?: number | undefined; until?: number | undefined } | undefined> {
  const { since, until, event_id } = filter
  if (event_id === undefined) return { since, until }
  const times = await trx
    .selectFrom('events')
    .select('created_at')
    .where('tenant_id', '=', tenant)
    .where('event_id', '=', event_id)
    .executeTakeFirst()
  if (times === undefined) return undefined
  const { created_at: time } = times
  return { since: Math.max(since ?? time, time), until: Math.min(until ?? time, time) }
}

/** Events without a session are never left out. */
function isOtherSession(db: SqlDatabase, prefix: string) {
  const session = db.codec.unindexed('session_id')
  return sql<boolean>`(${session} is null or ${session} not like ${`${prefix}%`})`
}

/** A literal, so that the partial index over shadow executions serves it. */
function shadowIs(db: SqlDatabase, shadow: boolean) {
  return sql<boolean>`shadow = ${sql.lit(db.codec.flag(shadow))}`
}
