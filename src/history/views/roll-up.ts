/**
 * What the statistics count when events are recorded. A group is counted in memory first, so that it writes few rows; the
 * database then merges them into the stored rows by the same rules.
 */
import { keyOf, type MergeBy, type Table } from '../../database/table.ts'
import { type ExecutionTally, sessionLanes, sessions } from '../audit-tables.ts'
import type { SealedExecution, SealedSummary } from '../stored/audit-group.ts'
import { decisionHours, decisionMinutes, eventHours, histogramColumns, hookHours } from '../view-tables.ts'
import { histogramColumn } from './latency-histogram.ts'

type ColumnValue = string | number | boolean | null
export type RollUpRow = Readonly<Record<string, ColumnValue>>

/** The rows of one table to merge, in the order of their keys. */
export interface RollUp {
  readonly table: Table
  readonly rows: readonly RollUpRow[]
}

/** Every table that recording merges into, in the order in which both dialects write them. */
export const allRollUpTables: readonly Table[] = [
  ...[sessions, sessionLanes],
  ...[decisionMinutes, decisionHours, eventHours, hookHours],
]

/** Counts events and executions that were just inserted. */
export function rollUp(
  events: readonly SealedSummary[],
  executions: readonly SealedExecution[],
): readonly RollUp[] {
  const inSessions = events.filter((event) => event.session_id !== null)
  const real = events.filter((event) => !event.probe)
  // Executions of probes are counted; they prove that the hook works.
  return [
    mergeRows(sessions, inSessions.map(sessionRow)),
    mergeRows(
      sessionLanes,
      inSessions.flatMap(({ tenant_id, session_id, lane, created_at }) =>
        lane === null ? [] : [{ tenant_id, session_id, lane, created_at }],
      ),
    ),
    mergeRows(
      decisionMinutes,
      real.map((event) => decisionRow(event, MINUTE)),
    ),
    mergeRows(
      decisionHours,
      real.map((event) => decisionRow(event, HOUR)),
    ),
    mergeRows(eventHours, real.map(eventHourRow)),
    mergeRows(hookHours, executions.filter((each) => each.decision !== 'late').map(hookHourRow)),
  ].filter(({ rows }) => rows.length > 0)
}

const MINUTE = 60_000
const HOUR = 3_600_000
const floorTo = (time: number, unit: number) => time - (time % unit)
const oneIf = (condition: boolean): number => (condition ? 1 : 0)
const isRewrite = ({ kind, rewritten }: SealedSummary) => kind === 'allow' && rewritten

function sessionRow(event: SealedSummary): RollUpRow {
  const { tenant_id, session_id, created_at: time, agent_id, agent, folder, title, kind } = event
  return {
    ...{ tenant_id, session_id, agent_id, agent, folder, title },
    first_at: time,
    last_at: time,
    ended_at: event.event === 'session_end' && event.lane === null ? time : null,
    hook_ms: event.duration_ms,
    events: 1,
    tool_calls: oneIf(event.event === 'pre_tool_use'),
    blocked: oneIf(kind === 'block'),
    rewritten: oneIf(event.rewritten),
    asked: oneIf(kind === 'ask'),
  }
}

function decisionRow(event: SealedSummary, unit: number): RollUpRow {
  const outcome = isRewrite(event) ? 'rewrite' : event.kind
  return {
    ...emptyHistogram,
    tenant_id: event.tenant_id,
    minute: floorTo(event.created_at, unit),
    ...{ allow: 0, rewrite: 0, ask: 0, block: 0, [outcome]: 1 },
    opened: oneIf(event.opened !== null),
    failed: oneIf(event.failed > 0),
    [histogramColumn(event.duration_ms)]: 1,
  }
}

function eventHourRow(event: SealedSummary): RollUpRow {
  const { tenant_id, kind, agent, hook_name } = event
  return {
    ...{ tenant_id, event: event.event, kind, agent, hook_name },
    hour: floorTo(event.created_at, HOUR),
    agent_id: event.agent_id ?? '',
    tool: event.tool ?? '',
    by_hook: event.by_hook ?? '',
    rewritten: oneIf(event.rewritten),
    opened: oneIf(event.opened !== null),
    failed: oneIf(event.failed > 0),
    events: 1,
  }
}

function hookHourRow({
  tenant_id,
  hook_id,
  decision,
  duration_ms,
  created_at,
  tally,
}: SealedExecution): RollUpRow {
  const { hook_name, rewrote = false, repeated = false }: ExecutionTally = tally
  return {
    ...emptyHistogram,
    tenant_id,
    hook_id,
    hook_name: hook_name ?? null,
    hour: floorTo(created_at, HOUR),
    last_at: created_at,
    matched: oneIf(!repeated),
    block: oneIf(decision === 'block'),
    ask: oneIf(decision === 'ask'),
    rewrite: oneIf(rewrote),
    failed: oneIf(hasFailed(decision)),
    // A skipped hook took no time.
    ...(decision === 'skipped' ? {} : { [histogramColumn(duration_ms)]: 1 }),
  }
}

function hasFailed(decision: string): boolean {
  return decision === 'error' || decision === 'timeout'
}

/** Hooks that failed after their event was recorded: observers run later. */
export interface LaterFailure {
  readonly tenant_id: string
  readonly created_at: number
  readonly event_id: string
  readonly count: number
}

/** The failures that the summaries of earlier groups do not count yet, in the order of their events. */
export function laterFailures(
  inserted: readonly SealedSummary[],
  executions: readonly SealedExecution[],
): readonly LaterFailure[] {
  const counted = new Set(inserted.map((event) => `${event.tenant_id} ${event.event_id}`))
  const later = executions.filter(
    ({ tenant_id, event_id, decision, shadow }) =>
      hasFailed(decision) && !shadow && !counted.has(`${tenant_id} ${event_id}`),
  )
  return [...Map.groupBy(later, ({ tenant_id, event_id }) => `${tenant_id} ${event_id}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...others]]) => {
      if (first === undefined) return []
      const { tenant_id, created_at, event_id } = first
      return [{ tenant_id, created_at, event_id, count: 1 + others.length }]
    })
}

const emptyHistogram = Object.fromEntries(histogramColumns.map((name) => [name, 0]))

function mergeRows(table: Table, rows: readonly RollUpRow[]): RollUp {
  const keys = keyOf(table)
  const counted = mergedColumns(table)
  const merged = new Map<string, Record<string, ColumnValue>>()
  for (const row of rows) {
    const id = JSON.stringify(keys.map((name) => row[name]))
    const known = merged.get(id)
    if (known === undefined) merged.set(id, { ...row })
    else
      for (const { name, merge } of counted)
        known[name] = mergeValues(merge, known[name] ?? null, row[name] ?? null)
  }
  const ordered = [...merged].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  return { table, rows: ordered }
}

function mergedColumns({ columns }: Table) {
  return Object.entries(columns).flatMap(([name, { merge }]) =>
    merge === undefined ? [] : [{ name, merge }],
  )
}

function mergeValues(merge: MergeBy, before: ColumnValue, next: ColumnValue): ColumnValue {
  if (merge === 'sum') return Number(before) + Number(next)
  if (merge === 'min') return Math.min(Number(before), Number(next))
  if (merge === 'max') return Math.max(Number(before), Number(next))
  return merge === 'newest' ? (next ?? before) : (before ?? next)
}

/** The `on conflict` clause that merges a row into the stored one, with the names that a dialect has for functions. */
export function mergeClause(
  table: Table,
  functions: { readonly least: string; readonly greatest: string },
): string {
  const of = table.name
  const rules: Readonly<Record<MergeBy, (name: string) => string>> = {
    sum: (name) => `${of}.${name} + excluded.${name}`,
    min: (name) => `${functions.least}(${of}.${name}, excluded.${name})`,
    max: (name) => `${functions.greatest}(${of}.${name}, excluded.${name})`,
    newest: (name) => `coalesce(excluded.${name}, ${of}.${name})`,
    oldest: (name) => `coalesce(${of}.${name}, excluded.${name})`,
  }
  const sets = mergedColumns(table).map(({ name, merge }) => `${name} = ${rules[merge](name)}`)
  return `on conflict (${keyOf(table).join(', ')}) do update set ${sets.join(', ')}`
}
