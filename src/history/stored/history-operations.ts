import { sql } from 'kysely'
import { isUuid } from '../../database/column-values.ts'
import { afterJournal, inTenant, type Tx } from '../../database/operation.ts'
import { type Condition, find, type PageRequest, page } from '../../database/rows.ts'
import { events, executions, type HistoryFilter } from '../audit-tables.ts'

export const historyOperations = {
  /** Newest first, in pages. */
  history: inTenant(async (tx, tenant: string, filter: HistoryFilter, request: PageRequest) => {
    const { db } = tx
    const nothing = { rows: [], nextCursor: '' }
    if (filter.hook_id !== undefined && !isUuid(filter.hook_id)) return nothing
    const span = await spanOf(tx, tenant, filter)
    if (span === undefined) return nothing
    const session = db.codec.unindexed('session_id')
    const except = filter.except_sessions
    const and: readonly Condition[] = [
      ...equalities(filter).map(
        ([column, value], index) =>
          sql`${index === 0 ? sql.ref(column) : db.codec.unindexed(column)} = ${value}`,
      ),
      // A literal, so that the partial index over shadow executions serves it.
      ...(filter.shadow === undefined ? [] : [sql`shadow = ${sql.lit(db.codec.flag(filter.shadow))}`]),
      // Events without a session are never left out.
      ...(except === undefined ? [] : [sql`(${session} is null or ${session} not like ${`${except}%`})`]),
      ...(span.since === undefined ? [] : [sql`created_at >= ${span.since}`]),
      ...(span.until === undefined ? [] : [sql`created_at <= ${span.until}`]),
    ]
    return page(tx, executions, {
      ...request,
      match: { tenant_id: tenant },
      and,
      by: ['created_at', 'position'],
    })
  }, afterJournal),
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
  tx: Tx,
  tenant: string,
  { since, until, event_id }: HistoryFilter,
): Promise<{ since?: number | undefined; until?: number | undefined } | undefined> {
  if (event_id === undefined) return { since, until }
  const event = await find(tx, events, { tenant_id: tenant, event_id })
  if (event === undefined) return undefined
  const { created_at: time } = event
  return { since: Math.max(since ?? time, time), until: Math.min(until ?? time, time) }
}
