import type pg from 'pg'
import { isUuid } from '../../database/column-values.ts'
import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import { columnArrays, nowOr, postgresSchema } from '../../database/postgres/postgres-dialect.ts'
import { escapeJson } from '../../database/postgres/stored-text.ts'
import {
  type Column,
  type Columns,
  type Table,
  type WrittenName,
  writtenColumns,
} from '../../database/table.ts'
import { events as eventTable, executions as executionTable } from '../audit-tables.ts'
import { summaries as summaryTable } from '../view-tables.ts'
import { type LaterFailure, laterFailures, mergeClause, type RollUp, rollUp } from '../views/roll-up.ts'
import type { AuditChain } from './audit-chain.ts'
import type {
  AppendedGroup,
  AuditGroup,
  LinkedExecution,
  NewJournalEntry,
  SealedAnswer,
  SealedDelivery,
  SealedExecution,
  SealedSummary,
} from './audit-group.ts'

const NEW_EVENTS = 'order by tenant_id, event_id on conflict do nothing returning tenant_id, event_id'

/** Writes the rows of a group, one statement per table. Independent statements are pipelined. */
export function writeGroup(pool: ConnectionPool, group: AuditGroup): Promise<void> {
  const { events, executions, chain, entry } = group
  return pool.transaction('begin', async (client) => {
    // Another node with the same entry waits here, and then finds it deleted.
    const { rowCount } = await client.query('delete from audit_journal where position = $1', [entry])
    if (rowCount === 0) return
    // The server runs pipelined statements in the order in which they are sent.
    const sent = events.length > 0 ? client.query(insertRows(eventTable, events, NEW_EVENTS)) : undefined
    const [added, written] = await Promise.all([newExecutions(client, executions), sent])
    const summaries = insertedSummaries(group.summaries, written?.rows ?? [])
    const linked = added.map(({ execution: { tally: _, ...execution }, hook_id }): LinkedExecution => {
      const link = chain.next(execution)
      chain.advance(link)
      return { ...execution, ...link, hook_id, chain: chain.id, metadata: escapeJson(execution.metadata) }
    })
    const counted = added.map(({ execution }) => execution)
    const failures = laterFailures(summaries, counted)
    // Executions come in the order of the chain. An existing key fails the statement, and the whole group with it.
    const statements = [
      ...(summaries.length > 0 ? [insertRows(summaryTable, summaries)] : []),
      ...rollUp(summaries, counted).map(mergeRollUp),
      ...(failures.length > 0 ? [addFailures(failures)] : []),
      ...(linked.length > 0 ? [insertRows(executionTable, linked), moveHead(chain)] : []),
    ]
    await Promise.all(statements.map((statement) => client.query(statement)))
  })
}

/** The summaries of the events that were inserted; of equal events the first counts. */
function insertedSummaries(
  summaries: readonly SealedSummary[],
  written: readonly { readonly tenant_id: string; readonly event_id: string }[],
): readonly SealedSummary[] {
  const keyOf = (row: { tenant_id: string; event_id: string }) => `${row.tenant_id} ${row.event_id}`
  const left = new Set(written.map(keyOf))
  return summaries.filter((summary) => left.delete(keyOf(summary)))
}

interface NewExecution {
  readonly execution: SealedExecution
  /** Null if the hook is not stored. */
  readonly hook_id: string | null
}

async function newExecutions(
  client: pg.PoolClient,
  executions: readonly SealedExecution[],
): Promise<readonly NewExecution[]> {
  if (executions.length === 0) return []
  const ids = new Set(executions.map((execution) => execution.hook_id).filter(isUuid))
  const [existing, locked] = await Promise.all([
    client.query(existingExecutions(executions)),
    client.query(lockHooks([...ids])),
  ])
  const seen = new Set(existing.rows.map(dedupKey))
  const hooks = new Set(locked.rows.map((row) => row.id))
  return executions.flatMap((execution) => {
    const key = dedupKey(execution)
    if (seen.has(key)) return []
    seen.add(key)
    return [{ execution, hook_id: hooks.has(execution.hook_id) ? execution.hook_id : null }]
  })
}

function dedupKey(row: { tenant_id: string; dedup_key: string }): string {
  return `${row.tenant_id} ${row.dedup_key}`
}

/** Appends a journal entry with its deliveries and answers. A single statement needs no explicit transaction. */
export async function appendGroup(
  pool: ConnectionPool,
  { entry, deliveries, answers, now }: AppendedGroup,
): Promise<void> {
  const statements = [
    ...(entry === undefined ? [] : [appendEntry(entry)]),
    ...(deliveries.length > 0 ? [insertDeliveries(deliveries, now)] : []),
    ...(answers.length > 0 ? [insertAnswers(answers, now)] : []),
  ]
  const [only, second] = statements
  if (only === undefined) return
  if (second === undefined) {
    await pool.query(only)
    return
  }
  await pool.transaction('begin', (client) =>
    Promise.all(statements.map((statement) => client.query(statement))),
  )
}

/*
 * These statements have no name, so PostgreSQL does not prepare them: a prepared one would keep the plan for an almost empty
 * table. Inserts follow the order of keys, and tables always come in the same order, so that two nodes cannot deadlock.
 */

/** Inserts rows of a table. `then` may refer to what is given by the names of the columns. */
function insertRows<const C extends Columns>(
  table: Table<string, C>,
  rows: readonly { readonly [N in WrittenName<C>]?: unknown }[],
  then = '',
): pg.QueryConfig {
  const names = writtenColumns(table)
  const kinds = Object.values<Column>(table.columns).flatMap(({ presence, kind }) =>
    presence === 'made' ? [] : [kind],
  )
  const arrays = kinds.map((kind, index) => `$${index + 1}::${postgresSchema.types[kind]}[]`)
  const list = names.join(', ')
  return {
    text: `insert into ${table.name} (${list}) select * from unnest(${arrays.join(', ')}) as given (${list}) ${then}`,
    values: columnArrays(rows, names),
  }
}

function mergeRollUp({ table, rows }: RollUp): pg.QueryConfig {
  return insertRows(table, rows, mergeClause(table, { least: 'least', greatest: 'greatest' }))
}

function addFailures(failures: readonly LaterFailure[]): pg.QueryConfig {
  return {
    text: `update event_summaries s set failed = s.failed + given.count
      from unnest($1::uuid[], $2::int8[], $3::text[], $4::int8[]) as given (tenant_id, created_at, event_id, count)
      where s.tenant_id = given.tenant_id and s.created_at = given.created_at and s.event_id = given.event_id`,
    values: columnArrays(failures, ['tenant_id', 'created_at', 'event_id', 'count']),
  }
}

function appendEntry({ id, events, sealed, created_at }: NewJournalEntry): pg.QueryConfig {
  return {
    text: 'insert into audit_journal (id, events, sealed, created_at) values ($1, $2, $3, $4)',
    values: [id, events, sealed, created_at],
  }
}

/** Sent after the events: a second node with the same event has waited at its key, so the result is final. */
function existingExecutions(executions: readonly SealedExecution[]): pg.QueryConfig {
  return {
    // The lateral join forces one index lookup per key, however small PostgreSQL believes the table to be.
    text: `select h.* from unnest($1::uuid[], $2::text[]) as given (tenant_id, dedup_key), lateral (
        select tenant_id, dedup_key from hook_executions
        where tenant_id = given.tenant_id and dedup_key = given.dedup_key limit 1) h`,
    values: columnArrays(executions, ['tenant_id', 'dedup_key']),
  }
}

/** Locks the hooks until the commit, so that none is deleted before the executions refer to it. */
function lockHooks(ids: readonly string[]): pg.QueryConfig {
  return {
    text: 'select id from agent_hooks where id = any($1::uuid[]) order by id for key share',
    values: [ids],
  }
}

function insertDeliveries(deliveries: readonly SealedDelivery[], now: number | undefined): pg.QueryConfig {
  return {
    text: `insert into deliveries
        (id, tenant_id, kind, dedup_key, payload, state, attempts, due_at, created_at, updated_at)
      select id, tenant_id, kind, dedup_key, payload, 'waiting', 0, coalesce(due_at, ${nowOr('$8')}), created_at, created_at
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[])
        as given (id, tenant_id, kind, dedup_key, payload, due_at, created_at)
      order by tenant_id, dedup_key on conflict do nothing`,
    values: [...columnArrays(deliveries, DELIVERY_COLUMNS), now],
  }
}

const DELIVERY_COLUMNS = [
  ...(['id', 'tenant_id', 'kind', 'dedup_key', 'payload', 'due_at', 'created_at'] as const),
]

/** Replaces expired answers. One statement cannot write a row twice, so the first of equal keys counts. */
function insertAnswers(answers: readonly SealedAnswer[], now: number | undefined): pg.QueryConfig {
  return {
    text: `insert into idempotency as kept (tenant_id, key, request_hash, answer, expires_at)
      select distinct on (tenant_id, key) tenant_id, key, request_hash, answer, ${nowOr('$6')} + keep_ms
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[]) with ordinality
        as given (tenant_id, key, request_hash, answer, keep_ms, place)
      order by tenant_id, key, place
      on conflict (tenant_id, key) do update set request_hash = excluded.request_hash, answer = excluded.answer,
        expires_at = excluded.expires_at
      where kept.expires_at <= ${nowOr('$6')}`,
    values: [...columnArrays(answers, ['tenant_id', 'key', 'request_hash', 'answer', 'keep_ms']), now],
  }
}

function moveHead(chain: AuditChain): pg.QueryConfig {
  return {
    text: 'update audit_chains set head_seq = $2, head_link = $3, head_mac = $4 where chain = $1',
    values: [chain.id, chain.seq, chain.link, chain.headMac()],
  }
}
