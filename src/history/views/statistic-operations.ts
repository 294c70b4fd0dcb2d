import { sql } from 'kysely'
import { afterJournal, inTenant, type Tx } from '../../database/operation.ts'
import type { Condition } from '../../database/rows.ts'
import type { DecisionBucket, Facets, HookCounts } from '../methods/stat-methods.ts'
import type { EventFilter } from '../view-tables.ts'
import { histogramColumns } from '../view-tables.ts'
import { examinedEvents, MAX_EXAMINED } from './event-list-operations.ts'
import { histogramQuantile } from './latency-histogram.ts'

const HOUR = 3_600_000
/** The most values of one facet. */
const MAX_VALUES = 50

const outcomes = ['allow', 'rewrite', 'ask', 'block', 'opened', 'failed'] as const
const hookCounts = ['matched', 'block', 'ask', 'rewrite', 'failed'] as const

type Sums = Readonly<Record<string, unknown>>

export const statisticOperations = {
  /** One bucket per step, in order, empty ones included. Buckets begin at multiples of the step. */
  countDecisions: inTenant(
    async ({ trx }, tenant: string, { since, until, step }: Span): Promise<readonly DecisionBucket[]> => {
      const from = since - (since % step)
      const { rows } = await sql<Sums>`
          select minute - minute % cast(${step} as bigint) as at, ${sumsOf([...outcomes, ...histogramColumns])}
          from ${sql.table(step % HOUR === 0 ? 'decision_hours' : 'decision_minutes')}
          where tenant_id = ${tenant} and minute >= ${from} and minute < ${until}
          group by 1`.execute(trx)
      const found = new Map(rows.map((row) => [Number(row.at), row]))
      const count = Math.max(0, Math.ceil((until - from) / step))
      return Array.from({ length: count }, (_, index) => {
        const at = from + index * step
        const row = found.get(at) ?? {}
        return {
          at,
          ...countsOf(row, outcomes),
          p50_ms: histogramQuantile(row, 0.5),
          p95_ms: histogramQuantile(row, 0.95),
        }
      })
    },
    afterJournal,
  ),

  /** What each hook did since the hour of `since`. */
  countHooks: inTenant(async ({ trx }, tenant: string, since: number): Promise<readonly HookCounts[]> => {
    const { rows } = await sql<Sums>`
          select hook_id, max(hook_name) as hook_name, max(last_at) as last_at, ${sumsOf([...hookCounts, ...histogramColumns])}
          from hook_hours where tenant_id = ${tenant} and hour >= ${since - (since % HOUR)}
          group by hook_id order by hook_id`.execute(trx)
    return rows.map((row) => ({
      hook_id: String(row.hook_id),
      hook_name: textOrNull(row.hook_name),
      ...countsOf(row, hookCounts),
      p95_ms: histogramQuantile(row, 0.95),
      last_at: Number(row.last_at),
    }))
  }, afterJournal),

  countFacets: inTenant(
    async (tx, tenant: string, filter: EventFilter) =>
      facetsOf(await countCombinations(tx, tenant, filter), filter),
    afterJournal,
  ),
}

export interface Span {
  readonly since: number
  readonly until: number
  readonly step: number
}

function sumsOf(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`))
}

function countsOf<const Name extends string>(row: Sums, names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, Number(row[name] ?? 0)])) as Record<Name, number>
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** How many events have the same event, agent, tool, kind and hook. An empty text means none. */
interface Combination {
  readonly event: string
  readonly agent_id: string
  readonly tool: string
  readonly kind: string
  readonly by_hook: string
  readonly agent: string | null
  readonly hook_name: string | null
  readonly events: number
}

interface Combinations {
  readonly rows: readonly Combination[]
  readonly complete: boolean
}

/** Full hours come from the roll-up, and the rest of the span from the events. */
async function countCombinations(tx: Tx, tenant: string, filter: EventFilter): Promise<Combinations> {
  const { session_id, text, min_ms, since = 0, until = Number.MAX_SAFE_INTEGER, probes } = filter
  const first = Math.ceil(since / HOUR) * HOUR
  const end = Math.floor((until + 1) / HOUR) * HOUR
  // The roll-up does not hold these.
  const needsRows = session_id !== undefined || text !== undefined || min_ms !== undefined || probes === true
  const count = (span: EventFilter) => countEvents(tx, tenant, { ...filter, ...span })
  if (needsRows || first >= end) return count({})
  const parts = [
    await countHours(tx, tenant, filter, [sql`hour >= ${first}`, sql`hour < ${end}`]),
    ...(since < first ? [await count({ until: first - 1 })] : []),
    ...(until >= end && until < Number.MAX_SAFE_INTEGER ? [await count({ since: end })] : []),
  ]
  return {
    rows: parts.flatMap(({ rows }) => rows),
    complete: parts.every(({ complete }) => complete),
  }
}

const dimensions = sql.raw('event, agent_id, tool, kind, by_hook')

async function countHours(
  { trx }: Tx,
  tenant: string,
  filter: EventFilter,
  span: readonly Condition[],
): Promise<Combinations> {
  const flags = (['rewritten', 'opened', 'failed'] as const).flatMap((flag) =>
    filter[flag] === undefined ? [] : [sql`${sql.ref(flag)} = ${filter[flag] ? 1 : 0}`],
  )
  const { rows } = await sql<Combination>`
    select ${dimensions}, max(agent) as agent, max(hook_name) as hook_name, sum(events) as events from event_hours
    where ${sql.join([sql`tenant_id = ${tenant}`, ...span, ...flags], sql` and `)} group by ${dimensions}`.execute(
    trx,
  )
  return { rows, complete: true }
}

async function countEvents(tx: Tx, tenant: string, filter: EventFilter): Promise<Combinations> {
  // Facets count values that the filter excludes too, so its values are applied later.
  const { event: _, agent_id: __, tool: ___, kind: ____, by_hook: _____, ...others } = filter
  const { and, last } = await examinedEvents(tx, { tenant, filter: others, isLimited: true })
  // In the order of time, so that the index over the time finds the examined events.
  const { rows } = await sql<Combination>`
    select ${dimensions}, max(agent) as agent, max(hook_name) as hook_name, count(*) as events from (
      select event, coalesce(agent_id, '') as agent_id, coalesce(tool, '') as tool, kind,
        coalesce(by_hook, '') as by_hook, agent, hook_name
      from event_summaries where ${sql.join([sql`tenant_id = ${tenant}`, ...and], sql` and `)}
      order by created_at desc, position desc limit ${MAX_EXAMINED}) examined
    group by ${dimensions}`.execute(tx.trx)
  return { rows, complete: last === undefined }
}

/** Each facet counts the events that the filters of the other facets select. */
function facetsOf({ rows, complete }: Combinations, filter: EventFilter): Facets {
  const wanted = {
    event: filter.event,
    agent_id: filter.agent_id,
    tool: filter.tool,
    kind: filter.kind,
    by_hook: filter.by_hook,
  }
  type Dimension = keyof typeof wanted
  const selected = (except?: Dimension) =>
    rows.filter((row) =>
      (Object.keys(wanted) as Dimension[]).every(
        (key) => key === except || wanted[key] === undefined || wanted[key] === row[key],
      ),
    )
  const facet = (key: Dimension, name: (row: Combination) => string | null = () => null) =>
    facetCounts(selected(key).map((row) => ({ value: row[key], name: name(row), count: Number(row.events) })))
  return {
    event: facet('event'),
    agent: facet('agent_id', (row) => row.agent),
    tool: facet('tool'),
    kind: facet('kind'),
    hook: facet('by_hook', (row) => row.hook_name),
    total: selected().reduce((sum, row) => sum + Number(row.events), 0),
    complete,
  }
}

function facetCounts(
  counts: readonly (Facets['event'][number] & { readonly value: string })[],
): Facets['event'] {
  const byValue = new Map<string, { value: string | null; name: string | null; count: number }>()
  for (const { value, name, count } of counts) {
    const known = byValue.get(value)
    if (known === undefined) byValue.set(value, { value: textOrNull(value), name, count })
    else {
      known.name ??= name
      known.count += count
    }
  }
  return [...byValue.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_VALUES)
}
