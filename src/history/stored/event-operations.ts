import { sql } from 'kysely'
import { afterJournal, inTenant, inTenantAt, operation, type Tx, timed } from '../../database/operation.ts'
import { pageFromRows, readTextCursor } from '../../database/page-cursor.ts'
import { openSealed } from '../../database/row-codec.ts'
import { find, listRows, matches, type PageRequest, page, readRows } from '../../database/rows.ts'
import { errorDetailPath, eventPath, keptAnswerPath } from '../../database/sealed-paths.ts'
import type { RowOf } from '../../database/table.ts'
import {
  type EventTexts,
  events,
  executions,
  type KeptAnswer,
  keptAnswers,
  type SessionFilter,
  type SessionPosition,
  type SessionRow,
  type StoredEvent,
  sessions,
  type TimelineRow,
} from '../audit-tables.ts'

export const eventOperations = {
  /** Executions after a cursor, oldest first, for live tails. Without a cursor: only the current cursor. */
  tail: operation(afterJournal, ({ db }, tenant: string, cursor: string | undefined, limit: number) =>
    db.statements.tail(tenant, cursor, limit),
  ),

  /** The full error text of one execution, decrypted. */
  errorDetail: inTenant(async (tx, tenant: string, id: string) => {
    const isNamed = sql.join(matches(tx, executions, { tenant_id: tenant, id }), sql` and `)
    const { rows } = await sql<{ error_detail: string | null }>`
      select error_detail from hook_executions where ${isNamed}`.execute(tx.trx)
    const sealed = rows[0]?.error_detail
    return sealed ? openSealed(tx.db.secrets, sealed, errorDetailPath(id)) : undefined
  }, afterJournal),

  findEvent: inTenant(async (tx, tenant: string, event_id: string): Promise<StoredEvent | undefined> => {
    const row = await find(tx, events, { tenant_id: tenant, event_id })
    return row && { ...row, ...openTexts(tx, tenant, row) }
  }, afterJournal),

  /** The events of one session, oldest first, in pages. */
  sessionEvents: inTenant(async (tx, tenant: string, session: string, { cursor, limit }: PageRequest) => {
    const from = cursor ? readTextCursor(cursor) : undefined
    const isLater = from && sql`and (created_at, event_id) > (${from.time}, ${from.key})`
    const { rows } = await sql<TimelineColumns>`
      select event_id, event, kind, by_hook, code, duration_ms, created_at, moment from events
      where tenant_id = ${tenant} and session_id = ${session} ${isLater ?? sql``}
      order by created_at, event_id limit ${limit + 1}`.execute(tx.trx)
    const keyset = (row: TimelineColumns) => ({ time: row.created_at, key: row.event_id })
    const found = pageFromRows(readRows<typeof events, TimelineColumns>(tx, events, rows), limit, keyset)
    const summaries = await findSummaries(tx, tenant, session, found.rows)
    const shown = found.rows.map((row): TimelineRow => {
      return { ...row, moment: row.moment ?? {}, ...(summaries.get(row.event_id) ?? noSummary) }
    })
    return { ...found, rows: shown }
  }, afterJournal),

  /** The texts of these events, the smallest first, as long as the sum of the stored texts stays below `maxLength`. */
  eventTexts: inTenant(
    async (
      tx,
      tenant: string,
      eventIds: readonly string[],
      maxLength: number,
    ): Promise<readonly EventTexts[]> => {
      if (eventIds.length === 0) return []
      const { rows: sizes } = await sql<{ event_id: string; size: number }>`
        select event_id, length(request) + length(answer) as size from events
        where tenant_id = ${tenant} and event_id in (${sql.join([...eventIds])})`.execute(tx.trx)
      const ids = smallestWithin(sizes, maxLength)
      if (ids.length === 0) return []
      const isWanted = [sql`event_id in (${sql.join([...ids])})`]
      const rows = await listRows(tx, events, { tenant_id: tenant }, [], isWanted)
      return rows.map((row) => ({ event_id: row.event_id, ...openTexts(tx, tenant, row) }))
    },
    afterJournal,
  ),

  /** Latest first, in pages. */
  listSessions: inTenant(
    async (tx, tenant: string, { since, until, except_sessions }: SessionFilter, request: PageRequest) => {
      const found = await page(tx, sessions, {
        ...request,
        match: { tenant_id: tenant },
        and: [
          ...(since === undefined ? [] : [sql`last_at >= ${since}`]),
          ...(until === undefined ? [] : [sql`first_at <= ${until}`]),
          ...(except_sessions === undefined ? [] : [sql`session_id not like ${`${except_sessions}%`}`]),
        ],
        by: ['last_at', 'session_id'],
      })
      return { ...found, rows: await withSubAgents(tx, tenant, found.rows) }
    },
    afterJournal,
  ),

  findSession: inTenant(async (tx, tenant: string, session_id: string) => {
    const row = await find(tx, sessions, { tenant_id: tenant, session_id })
    return row && (await withSubAgents(tx, tenant, [row]))[0]
  }, afterJournal),

  /** Answers are written at once, not by way of the journal. */
  findAnswer: inTenantAt(async (tx, tenant: string, key: string): Promise<KeptAnswer | undefined> => {
    const isValid = [sql`expires_at > ${tx.now()}`]
    const [row] = await listRows(tx, keptAnswers, { tenant_id: tenant, key }, [], isValid)
    const answer = row && openSealed(tx.db.secrets, row.answer, keptAnswerPath(tenant, key))
    if (row === undefined || answer === undefined) return undefined
    const { request_hash, expires_at } = row
    return { tenant, key, request_hash, answer, expires_at }
  }, timed),
}

function openTexts(
  { db: { secrets } }: Tx,
  tenant: string,
  { event_id, request, answer }: Pick<RowOf<typeof events>, 'event_id' | 'request' | 'answer'>,
) {
  return {
    request: openSealed(secrets, request, eventPath(tenant, event_id, 'request')),
    answer: openSealed(secrets, answer, eventPath(tenant, event_id, 'answer')),
  }
}

async function withSubAgents(
  { trx }: Tx,
  tenant: string,
  rows: readonly RowOf<typeof sessions>[],
): Promise<readonly SessionRow[]> {
  if (rows.length === 0) return []
  const ids = sql.join(rows.map((row) => row.session_id))
  const { rows: counts } = await sql<{ session_id: string; lanes: number }>`
    select session_id, count(*) as lanes from session_lanes
    where tenant_id = ${tenant} and session_id in (${ids}) group by session_id`.execute(trx)
  const lanes = new Map(counts.map((row) => [row.session_id, Number(row.lanes)]))
  return rows.map(({ ended_at, ...row }) => ({
    ...row,
    sub_agents: lanes.get(row.session_id) ?? 0,
    // A session that goes on after its end is open again.
    ended: ended_at !== null && ended_at >= row.last_at,
  }))
}

/** The ids of the smallest texts whose sum stays within the limit. */
function smallestWithin(
  sizes: readonly { readonly event_id: string; readonly size: number }[],
  maxLength: number,
): readonly string[] {
  let left = maxLength
  return sizes
    .toSorted((a, b) => a.size - b.size)
    .filter(({ size }) => {
      left -= size
      return left >= 0
    })
    .map(({ event_id }) => event_id)
}

type TimelineSummary = Pick<TimelineRow, 'what' | 'reason' | 'rewritten'>
type TimelineColumns = Omit<TimelineRow, 'moment' | keyof TimelineSummary> & {
  readonly moment: SessionPosition | null
}

const noSummary: TimelineSummary = { what: null, reason: null, rewritten: false }

/** The summaries of a page of a session. Their index orders them by session and time, not by the ids of events. */
async function findSummaries(
  { trx }: Tx,
  tenant: string,
  session: string,
  page: readonly Pick<TimelineRow, 'created_at'>[],
): Promise<ReadonlyMap<string, TimelineSummary>> {
  const [first, last] = [page[0], page.at(-1)]
  if (first === undefined || last === undefined) return new Map()
  const { rows } = await sql<TimelineSummary & { event_id: string }>`
    select event_id, what, reason, rewritten from event_summaries where tenant_id = ${tenant}
      and session_id = ${session} and created_at >= ${first.created_at} and created_at <= ${last.created_at}`.execute(
    trx,
  )
  return new Map(
    rows.map(({ event_id, ...row }) => [event_id, { ...row, rewritten: Boolean(row.rewritten) }]),
  )
}
