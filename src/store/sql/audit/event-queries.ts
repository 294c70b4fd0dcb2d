import { sql } from 'kysely'
import { decisionKinds } from '../../../engine/core/decision.ts'
import { isHookError } from '../../../engine/core/error.ts'
import type { SealedPath, Secrets } from '../../../safe/secret.ts'
import { errorDetailPath, eventPath, keptAnswerPath } from '../../paths.ts'
import type { AuditStore, SessionPosition, SessionRow, TimelineRow } from '../../stores/audit-store.ts'
import { isUuid, readUnion } from '../column-values.ts'
import { pageFromRows, readTextCursor } from '../page-cursor.ts'
import type { QueryBuilder, SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'

type EventQueries = Pick<
  AuditStore,
  | 'errorDetail'
  | 'findEvent'
  | 'sessionEvents'
  | 'eventTexts'
  | 'listSessions'
  | 'findSession'
  | 'findAnswer'
  | 'tail'
>

export function eventQueries(db: SqlDatabase): EventQueries {
  const open = (sealed: string, path: SealedPath) => openSealed(db.secrets, sealed, path)
  return {
    tail: (tenant, cursor, limit) => db.statements.tail(tenant, cursor, limit),

    errorDetail: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return undefined
        const row = await trx
          .selectFrom('hook_executions')
          .select('error_detail')
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .executeTakeFirst()
        return row?.error_detail ? open(row.error_detail, errorDetailPath(id)) : undefined
      }),

    findEvent: (tenant, eventId) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('events')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('event_id', '=', eventId)
          .executeTakeFirst()
        if (row === undefined) return undefined
        const { moment: _, ...rest } = row
        return {
          ...rest,
          kind: readUnion(decisionKinds, row.kind),
          request: open(row.request, eventPath(tenant, eventId, 'request')),
          answer: open(row.answer, eventPath(tenant, eventId, 'answer')),
        }
      }),

    sessionEvents: (tenant, session, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
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
      }),

    eventTexts: (tenant, eventIds, maxLength) =>
      db.tenant(tenant, async (trx) => {
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
        return rows.map(({ event_id, request, answer }) => ({
          event_id,
          request: open(request, eventPath(tenant, event_id, 'request')),
          answer: open(answer, eventPath(tenant, event_id, 'answer')),
        }))
      }),

    listSessions: (tenant, { since, until, except_sessions }, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readTextCursor(cursor) : undefined
        let query = trx.selectFrom('sessions').selectAll().where('tenant_id', '=', tenant)
        if (since !== undefined) query = query.where('last_at', '>=', since)
        if (until !== undefined) query = query.where('first_at', '<=', until)
        if (except_sessions !== undefined)
          query = query.where('session_id', 'not like', `${except_sessions}%`)
        if (from !== undefined)
          query = query.where((eb) =>
            eb(eb.refTuple('last_at', 'session_id'), '<', eb.tuple(from.time, from.key)),
          )
        const rows = await query
          .orderBy('last_at', 'desc')
          .orderBy('session_id', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.last_at, key: row.session_id }))
        return { ...page, rows: await withSubAgents(trx, tenant, page.rows) }
      }),

    findSession: (tenant, session) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('sessions')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session)
          .executeTakeFirst()
        return row && (await withSubAgents(trx, tenant, [row]))[0]
      }),

    findAnswer: (tenant, key, now) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('idempotency')
          .select(['request_hash', 'answer', 'expires_at'])
          .where('tenant_id', '=', tenant)
          .where('key', '=', key)
          .where('expires_at', '>', db.codec.now(now))
          .executeTakeFirst()
        if (row === undefined) return undefined
        const answer = open(row.answer, keptAnswerPath(tenant, key))
        return answer === undefined ? undefined : { ...row, tenant, key, answer }
      }),
  }
}

async function withSubAgents(
  trx: QueryBuilder,
  tenant: string,
  rows: readonly Tables['sessions'][],
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

type StoredTimelineRow = Omit<TimelineRow, 'kind' | 'moment' | keyof TimelineSummary> & {
  kind: string
  moment: string | null
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
}: StoredTimelineRow): Omit<TimelineRow, keyof TimelineSummary> {
  return {
    ...row,
    kind: readUnion(decisionKinds, kind),
    moment: moment === null ? {} : readPosition(moment),
  }
}

/** Undefined if the key is gone. Other errors are thrown. */
export function openSealed(secrets: Secrets, sealed: string, path: SealedPath): string | undefined {
  try {
    return secrets.decrypt(sealed, path)
  } catch (error) {
    if (isHookError(error) && error.code === 'secret.unreadable') return undefined
    throw error
  }
}
