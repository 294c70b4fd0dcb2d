import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { afterJournal, inTenant, operation, type Tx } from '../../database/operation.ts'
import { encodeCursor, type Keyset, pageFromRows, readNumberCursor } from '../../database/page-cursor.ts'
import { openSealed } from '../../database/row-codec.ts'
import { type PageRequest, readRows } from '../../database/rows.ts'
import { eventPath } from '../../database/sealed-paths.ts'
import type { QueryBuilder, SqlDatabase } from '../../database/sql-database.ts'
import { columnNames, type WholeRowOf } from '../../database/table.ts'
import type { Tables } from '../../store/kysely-tables.ts'
import { type EventFilter, type EventSummary, type RecordedRequest, summaries } from '../view-tables.ts'

/** How many events one call examines if an index does not answer every filter. */
export const MAX_EXAMINED = 10_000
/** A larger sealed request is not read for trying conditions. */
const MAX_TRIED_BYTES = 262_144

// The declaration names the columns of the table.
const listed = columnNames(summaries) as readonly (keyof Tables['event_summaries'])[]

function readSummaries(tx: Tx, rows: readonly object[]): readonly EventSummary[] {
  const whole = readRows<typeof summaries, WholeRowOf<typeof summaries>>(tx, summaries, rows)
  return whole.map(({ position: _, tenant_id: __, ...summary }) => summary)
}

export const eventListOperations = {
  /** Newest first. A page may be short and still have a next one: each call examines a limited number of events. */
  listEvents: inTenant(async (tx, tenant: string, filter: EventFilter, { cursor, limit }: PageRequest) => {
    const { db, trx } = tx
    const before = cursor ? readNumberCursor(cursor) : undefined
    const examined = await examinedEvents(db, trx, { tenant, filter, before })
    const rows = await examined.events
      .select(listed)
      .orderBy('created_at', 'desc')
      .orderBy('position', 'desc')
      .limit(limit + 1)
      .execute()
    const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.position }))
    const { last } = examined
    const rest = last === undefined ? '' : encodeCursor([last.time, last.key])
    return { rows: readSummaries(tx, page.rows), nextCursor: page.nextCursor || rest }
  }, afterJournal),

  /** Events after a cursor, oldest first, for live tails. Without a cursor: only the current cursor. */
  tailEvents: operation(
    afterJournal,
    (
      { db },
      tenant: string,
      cursor: string | undefined,
      options: { readonly limit: number; readonly probes: boolean },
    ) => db.statements.tailEvents(tenant, cursor, options),
  ),

  /** The latest events of one name with their requests. */
  recentRequests: inTenant(async (tx, tenant: string, event: string, { cursor, limit }: PageRequest) => {
    const { db, trx } = tx
    const before = cursor ? readNumberCursor(cursor) : undefined
    const found = await newestFirst(trx, { tenant, filter: { event }, before })
      .where(equals('probe', db.codec.flag(false)))
      .where('event', '=', event)
      .select(listed)
      .select((eb) =>
        eb
          .selectFrom('events')
          .whereRef('events.tenant_id', '=', 'event_summaries.tenant_id')
          .whereRef('events.event_id', '=', 'event_summaries.event_id')
          .where(sql<boolean>`octet_length(request) <= ${sql.lit(MAX_TRIED_BYTES)}`)
          .select('request')
          .as('request'),
      )
      .orderBy('created_at', 'desc')
      .orderBy('position', 'desc')
      .limit(limit + 1)
      .execute()
    const page = pageFromRows(found, limit, (row) => ({ time: row.created_at, key: row.position }))
    const requests = page.rows.map(({ event_id, request }) =>
      request === null ? undefined : openSealed(db.secrets, request, eventPath(tenant, event_id, 'request')),
    )
    const summarized = readSummaries(
      tx,
      page.rows.map(({ request: _, ...row }) => row),
    )
    const rows = summarized.map((row, index): RecordedRequest => ({ ...row, request: requests[index] }))
    return { ...page, rows }
  }, afterJournal),
}

interface EventSpan {
  readonly tenant: string
  readonly filter: EventFilter
  /** Only older events. */
  readonly before?: Keyset<number> | undefined
  /** Examine at most `MAX_EXAMINED` rows even if an index answers every filter. */
  readonly isLimited?: boolean
}

type EventQuery = SelectQueryBuilder<Tables, 'event_summaries', object>

/**
 * The events that a filter selects. An index finds those of one condition; the other conditions are checked row by row,
 * for at most `MAX_EXAMINED` rows. `last` is the oldest examined row if older ones remain.
 */
export async function examinedEvents(
  db: SqlDatabase,
  trx: QueryBuilder,
  span: EventSpan,
): Promise<{ readonly events: EventQuery; readonly last: Keyset<number> | undefined }> {
  const { indexed, checked } = conditionsOf(db, span.filter)
  let events = newestFirst(trx, span)
  if (indexed !== undefined) events = events.where(indexed)
  const needsLimit = checked.length > 0 || span.isLimited === true
  const last = needsLimit ? await oldestExamined(events) : undefined
  if (last !== undefined)
    events = events.where((eb) =>
      eb(eb.refTuple('created_at', 'position'), '>=', eb.tuple(last.time, last.key)),
    )
  for (const condition of checked) events = events.where(condition)
  // Probes are rare, so they do not limit what is examined.
  if (span.filter.probes !== true) events = events.where(equals('probe', db.codec.flag(false)))
  return { events, last }
}

async function oldestExamined(events: EventQuery): Promise<Keyset<number> | undefined> {
  const row = await events
    .select(['created_at', 'position'])
    .orderBy('created_at', 'desc')
    .orderBy('position', 'desc')
    .offset(MAX_EXAMINED - 1)
    .limit(2)
    .execute()
  const [last, older] = row
  return last === undefined || older === undefined ? undefined : { time: last.created_at, key: last.position }
}

function newestFirst(trx: QueryBuilder, { tenant, filter, before }: EventSpan): EventQuery {
  const { since, until } = filter
  let events: EventQuery = trx.selectFrom('event_summaries').where('tenant_id', '=', tenant)
  if (since !== undefined) events = events.where('created_at', '>=', since)
  if (until !== undefined) events = events.where('created_at', '<=', until)
  if (before !== undefined)
    events = events.where((eb) =>
      eb(eb.refTuple('created_at', 'position'), '<', eb.tuple(before.time, before.key)),
    )
  return events
}

type Condition = RawBuilder<boolean>

interface FilterCondition {
  readonly condition: Condition
  /** The same condition in a form that uses no index; the same if no index serves it. */
  readonly checked: Condition
  readonly isIndexed: boolean
}

/** The first condition with an index chooses it, so the most selective ones come first. */
function conditionsOf(
  db: SqlDatabase,
  filter: EventFilter,
): { readonly indexed: Condition | undefined; readonly checked: readonly Condition[] } {
  const all = [...selectiveConditions(db, filter), ...otherConditions(db, filter)]
  const first = all.find(({ isIndexed }) => isIndexed)
  return {
    indexed: first?.condition,
    checked: all.filter((each) => each !== first).map(({ checked }) => checked),
  }
}

function selectiveConditions(db: SqlDatabase, filter: EventFilter): readonly FilterCondition[] {
  const { session_id, by_hook, opened, failed, rewritten, kind, tool, event } = filter
  const byValue = (column: string, value: string | undefined): readonly FilterCondition[] =>
    value === undefined
      ? []
      : [
          {
            condition: sql`${sql.ref(column)} = ${value}`,
            checked: sql`${db.codec.unindexed(column)} = ${value}`,
            isIndexed: true,
          },
        ]
  const byFlag = (
    given: boolean | undefined,
    [yes, no]: readonly [Condition, Condition],
  ): readonly FilterCondition[] => {
    if (given === undefined) return []
    return [{ condition: yes, checked: given ? yes : no, isIndexed: given }]
  }
  const flag = (value: boolean) => equals('rewritten', db.codec.flag(value))
  return [
    ...byValue('session_id', session_id),
    ...byValue('by_hook', by_hook),
    ...byFlag(opened, [sql`opened is not null`, sql`opened is null`]),
    ...byFlag(failed, [sql`failed > 0`, sql`failed = 0`]),
    ...byFlag(rewritten, [flag(true), flag(false)]),
    ...(kind === undefined ? [] : [kindCondition(db, kind)]),
    ...byValue('tool', tool),
    ...byValue('event', event),
  ]
}

/** The partial index over other kinds than allow serves only literals. */
function kindCondition(db: SqlDatabase, kind: EventSummary['kind']): FilterCondition {
  return {
    condition: equals('kind', kind),
    checked: sql`${db.codec.unindexed('kind')} = ${sql.lit(kind)}`,
    isIndexed: kind !== 'allow',
  }
}

function otherConditions(db: SqlDatabase, filter: EventFilter): readonly FilterCondition[] {
  const { agent_id, text, min_ms } = filter
  const like = db.dialect === 'postgres' ? sql`ilike` : sql`like`
  const conditions: readonly Condition[] = [
    ...(agent_id === undefined ? [] : [sql<boolean>`agent_id = ${agent_id}`]),
    ...(min_ms === undefined ? [] : [sql<boolean>`duration_ms >= ${min_ms}`]),
    ...(text === undefined ? [] : [sql<boolean>`what ${like} ${`%${escapeLike(text)}%`} escape '!'`]),
  ]
  return conditions.map((condition) => ({ condition, checked: condition, isIndexed: false }))
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}

/** A literal, because partial indexes do not serve parameters. */
function equals(column: string, value: unknown): Condition {
  return sql`${sql.ref(column)} = ${sql.lit(value)}`
}
