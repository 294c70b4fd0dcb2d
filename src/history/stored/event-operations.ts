import { sql } from 'kysely'
import { isUuid, readUnion } from '../../database/column-values.ts'
import { afterJournal, inTenant, inTenantAt, operation, type Tx, timed } from '../../database/operation.ts'
import { pageFromRows, readTextCursor } from '../../database/page-cursor.ts'
import { openSealed } from '../../database/row-codec.ts'
import { find, listRows, type PageRequest, page } from '../../database/rows.ts'
import { errorDetailPath, eventPath, keptAnswerPath } from '../../database/sealed-paths.ts'
import type { QueryBuilder } from '../../database/sql-database.ts'
import type { RowOf } from '../../database/table.ts'
import { decisionKinds } from '../../engine/core/decision.ts'
import {
  type EventTexts,
  events,
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
  errorDetail: inTenant(async ({ db, trx }, tenant: string, id: string) => {
    if (!isUuid(id)) return undefined
    const row = await trx
      .selectFrom('hook_executions')
      .select('error_detail')
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.error_detail ? openSealed(db.secrets, row.error_detail, errorDetailPath(id)) : undefined
  }, afterJournal),

  findEvent: inTenant(async (tx, tenant: string, event_id: string): Promise<StoredEvent | undefined> => {
    const row = await find(tx, events, { tenant_id: tenant, event_id })
    return row && { ...row, ...openTexts(tx, tenant, row) }
  }, afterJournal),

  /** The events of one session, oldest first, in pages. */
  sessionEvents: inTenant(
    async ({ trx }, tenant: string, session: string, { cursor, limit }: PageRequest) => {
      const from = cursor ? readTextCursor(cursor) : undefined
      const rows = await trx
        .selectFrom('events')
        .select(['event_id', 'event', 'kind', 'by_hook', 'code', 'duration_ms', 'created_at', 'moment'])
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .$if(from !== undefined, (query) =>
          query.where((eb) =>
            eb(eb.refTuple('created_at', 'event_id'), '>', eb.tuple(from?.time ?? 0, from?.key ?? '')),
          ),
        )
        .orderBy('created_at')
        .orderBy('event_id')
        .limit(limit + 1)
        .execute()
      const { rows: found, nextCursor } = pageFromRows(rows, limit, (row) => ({
        time: row.created_at,
        key: row.event_id,
      }))
      const summaries = await findSummaries(trx, { tenant, session }, found)
      return {
        rows: found.map((row) => ({
          ...readTimelineRow(row),
          ...(summaries.get(row.event_id) ?? noSummary),
        })),
        nextCursor,
      }
    },
    afterJournal,
  ),

  /** The texts of these events, the smallest first, as long as the sum of the stored texts stays below `maxLength`. */
  eventTexts: inTenant(
    async (
      tx,
      tenant: string,
      eventIds: readonly string[],
      maxLength: number,
    ): Promise<readonly EventTexts[]> => {
      const { trx } = tx
      if (eventIds.length === 0) return []
      const sizes = await trx
        .selectFrom('events')
        .select(['event_id', sql<number>`length(request) + length(answer)`.as('size')])
        .where('tenant_id', '=', tenant)
        .where('event_id', 'in', eventIds)
        .execute()
      const ids = smallestWithin(sizes, maxLength)
      if (ids.length === 0) return []
      const rows = await trx
        .selectFrom('events')
        .select(['event_id', 'request', 'answer'])
        .where('tenant_id', '=', tenant)
        .where('event_id', 'in', ids)
        .execute()
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
      return { ...found, rows: await withSubAgents(tx.trx, tenant, found.rows) }
    },
    afterJournal,
  ),

  findSession: inTenant(async (tx, tenant: string, session_id: string) => {
    const row = await find(tx, sessions, { tenant_id: tenant, session_id })
    return row && (await withSubAgents(tx.trx, tenant, [row]))[0]
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
  trx: QueryBuilder,
  tenant: string,
  rows: readonly RowOf<typeof sessions>[],
): Promise<readonly SessionRow[]> {
  if (rows.length === 0) return []
  const counts = await trx
    .selectFrom('session_lanes')
    .select(['session_id', (eb) => eb.fn.countAll<number>().as('lanes')])
    .where('tenant_id', '=', tenant)
    .where(
      'session_id',
      'in',
      rows.map((row) => row.session_id),
    )
    .groupBy('session_id')
    .execute()
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

function readPosition(moment: string): SessionPosition {
  return JSON.parse(moment) as SessionPosition
}

type TimelineSummary = Pick<TimelineRow, 'what' | 'reason' | 'rewritten'>

const noSummary: TimelineSummary = { what: null, reason: null, rewritten: false }

/** The summaries of a page of a session. Their index orders them by session and time, not by the ids of events. */
async function findSummaries(
  trx: QueryBuilder,
  { tenant, session }: { readonly tenant: string; readonly session: string },
  page: readonly Pick<TimelineRow, 'created_at'>[],
): Promise<ReadonlyMap<string, TimelineSummary>> {
  const [first, last] = [page[0], page.at(-1)]
  if (first === undefined || last === undefined) return new Map()
  const rows = await trx
    .selectFrom('event_summaries')
    .select(['event_id', 'what', 'reason', 'rewritten'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('created_at', '>=', first.created_at)
    .where('created_at', '<=', last.created_at)
    .execute()
  return new Map(
    rows.map(({ event_id, ...row }) => [event_id, { ...row, rewritten: Boolean(row.rewritten) }]),
  )
}

function readTimelineRow({
  kind,
  moment,
  ...row
}: Omit<TimelineRow, 'kind' | 'moment' | keyof TimelineSummary> & {
  kind: string
  moment: string | null
}): Omit<TimelineRow, keyof TimelineSummary> {
  return {
    ...row,
    kind: readUnion(decisionKinds, kind),
    moment: moment === null ? {} : readPosition(moment),
  }
}
