import { sql } from 'kysely'
import { afterJournal, inTenant, operation, type Tx } from '../../database/operation.ts'
import { encodeCursor, type Keyset, readNumberCursor } from '../../database/page-cursor.ts'
import { openSealed } from '../../database/row-codec.ts'
import { type Condition, type PageRequest, page } from '../../database/rows.ts'
import { eventPath } from '../../database/sealed-paths.ts'
import type { SqlDatabase } from '../../database/sql-database.ts'
import { type EventFilter, type EventSummary, type RecordedRequest, summaries } from '../view-tables.ts'

/** How many events one call examines if an index does not answer every filter. */
export const MAX_EXAMINED = 10_000
/** A larger sealed request is not read for trying conditions. */
const MAX_TRIED_BYTES = 262_144

const by = ['created_at', 'position'] as const

export const eventListOperations = {
  /** Newest first. A page may be short and still have a next one: each call examines a limited number of events. */
  listEvents: inTenant(async (tx, tenant: string, filter: EventFilter, { cursor, limit }: PageRequest) => {
    const before = cursor ? readNumberCursor(cursor) : undefined
    const { and, last } = await examinedEvents(tx, { tenant, filter, before })
    const found = await page(tx, summaries, { limit, match: { tenant_id: tenant }, and, by })
    const rest = last === undefined ? '' : encodeCursor([last.time, last.key])
    return { rows: found.rows, nextCursor: found.nextCursor || rest }
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
  recentRequests: inTenant(async (tx, tenant: string, event: string, request: PageRequest) => {
    const match = { tenant_id: tenant, event }
    const found = await page(tx, summaries, { ...request, match, and: [isNoProbe(tx.db)], by })
    if (found.rows.length === 0) return { ...found, rows: [] }
    const ids = sql.join(found.rows.map(({ event_id }) => event_id))
    const { rows } = await sql<{ event_id: string; request: string }>`select event_id, request from events
      where tenant_id = ${tenant} and event_id in (${ids}) and octet_length(request) <= ${MAX_TRIED_BYTES}`.execute(
      tx.trx,
    )
    const sealed = new Map(rows.map((row) => [row.event_id, row.request]))
    const open = ({ event_id }: EventSummary) => {
      const text = sealed.get(event_id)
      return text && openSealed(tx.db.secrets, text, eventPath(tenant, event_id, 'request'))
    }
    return { ...found, rows: found.rows.map((row): RecordedRequest => ({ ...row, request: open(row) })) }
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

/**
 * The conditions of the events that a filter selects. An index finds those of one condition; the other conditions are checked
 * row by row, for at most `MAX_EXAMINED` rows. `last` is the oldest examined row if older ones remain.
 */
export async function examinedEvents(
  tx: Tx,
  { tenant, filter, before, isLimited = false }: EventSpan,
): Promise<{ readonly and: readonly Condition[]; readonly last: Keyset<number> | undefined }> {
  const { indexed, checked } = conditionsOf(tx.db, filter)
  const { since, until, probes } = filter
  const found = [
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`created_at <= ${until}`]),
    ...(before === undefined ? [] : [sql`(created_at, position) < (${before.time}, ${before.key})`]),
    ...indexed,
  ]
  const last = checked.length > 0 || isLimited ? await oldestExamined(tx, tenant, found) : undefined
  const examined = last === undefined ? [] : [sql`(created_at, position) >= (${last.time}, ${last.key})`]
  // Probes are rare, so they do not limit what is examined.
  return { and: [...found, ...examined, ...checked, ...(probes === true ? [] : [isNoProbe(tx.db)])], last }
}

function isNoProbe({ codec }: SqlDatabase): Condition {
  return equals('probe', codec.flag(false))
}

async function oldestExamined(
  tx: Tx,
  tenant: string,
  and: readonly Condition[],
): Promise<Keyset<number> | undefined> {
  const { rows } = await sql<Keyset<number>>`select created_at as time, position as key from event_summaries
    where ${sql.join([sql`tenant_id = ${tenant}`, ...and], sql` and `)}
    order by created_at desc, position desc limit 2 offset ${MAX_EXAMINED - 1}`.execute(tx.trx)
  return rows.length < 2 ? undefined : rows[0]
}

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
): { readonly indexed: readonly Condition[]; readonly checked: readonly Condition[] } {
  const all = [...selectiveConditions(db, filter), ...otherConditions(db, filter)]
  const first = all.find(({ isIndexed }) => isIndexed)
  return {
    indexed: first === undefined ? [] : [first.condition],
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
    ...(agent_id === undefined ? [] : [sql`agent_id = ${agent_id}`]),
    ...(min_ms === undefined ? [] : [sql`duration_ms >= ${min_ms}`]),
    ...(text === undefined ? [] : [sql`what ${like} ${`%${escapeLike(text)}%`} escape '!'`]),
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
