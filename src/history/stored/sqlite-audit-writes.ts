import type { DatabaseSync } from 'node:sqlite'
import { prepareTransaction } from '../../database/sqlite/prepared-statement.ts'
import { columnNames, type Table, writtenColumns } from '../../database/table.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { events, executions } from '../audit-tables.ts'
import { summaries } from '../view-tables.ts'
import {
  allRollUpTables,
  type LaterFailure,
  laterFailures,
  mergeClause,
  type RollUpRow,
  rollUp,
} from '../views/roll-up.ts'
import type { AuditChain } from './audit-chain.ts'
import type { AppendedGroup, AuditGroup, SealedEvent, SealedExecution, SealedSummary } from './audit-group.ts'

/** Prepares the statements that write the rows of a group. */
export function prepareWriteGroup(database: DatabaseSync): (group: AuditGroup) => void {
  const transaction = prepareTransaction(database)
  const write = prepareRowWrites(database)
  const remove = database.prepare('delete from audit_journal where position = ?')
  return (group) =>
    transaction(() => {
      if (remove.run(group.entry).changes === 0) return
      // Each summary is at the same place as its event.
      const inserted = group.summaries.filter((_, index) => {
        const event = group.events[index]
        return event !== undefined && write.event(event)
      })
      for (const summary of inserted) write.summary(summary)
      const hooks = write.knownHooks(group.executions)
      const linked = group.executions.filter((execution) =>
        write.execution(execution, hooks.has(execution.hook_id), group.chain),
      )
      if (linked.length > 0) write.head(group.chain)
      for (const { table, rows } of rollUp(inserted, linked)) for (const row of rows) write.merge(table, row)
      for (const failure of laterFailures(inserted, linked)) write.failed(failure)
    })
}

function prepareRowWrites(database: DatabaseSync) {
  const event = database.prepare(`${insertInto(events)} on conflict do nothing`)
  const summary = database.prepare(insertInto(summaries))
  const merges = new Map(
    allRollUpTables.map((table) => {
      const clause = mergeClause(table, { least: 'min', greatest: 'max' })
      return [table.name, database.prepare(`${insertInto(table)} ${clause}`)]
    }),
  )
  const failed = database.prepare(
    'update event_summaries set failed = failed + ? where tenant_id = ? and created_at = ? and event_id = ?',
  )
  const execution = database.prepare(
    `${insertInto(executions)} on conflict (tenant_id, dedup_key) do nothing`,
  )
  const hook = database.prepare('select 1 from agent_hooks where id = ?')
  const head = database.prepare(
    'update audit_chains set head_seq = ?, head_link = ?, head_mac = ? where chain = ?',
  )
  return {
    event: (row: SealedEvent): boolean =>
      event.run(...writtenColumns(events).map((column) => row[column])).changes === 1,
    summary(row: SealedSummary): void {
      summary.run(...writtenColumns(summaries).map((column) => toColumn(row[column])))
    },
    /** Merges a row of a roll-up into the stored one. */
    merge(table: Table, row: RollUpRow): void {
      merges.get(table.name)?.run(...columnNames(table).map((name) => toColumn(row[name] ?? null)))
    },
    failed({ tenant_id, created_at, event_id, count }: LaterFailure): void {
      failed.run(count, tenant_id, created_at, event_id)
    },
    /** The ids that are stored. The transaction keeps them from being deleted. */
    knownHooks(rows: readonly SealedExecution[]): ReadonlySet<string> {
      const ids = new Set(rows.map((row) => row.hook_id))
      return new Set([...ids].filter((id) => hook.get(id) !== undefined))
    },
    execution(row: SealedExecution, isKnown: boolean, chain: AuditChain): boolean {
      const link = chain.next(row)
      const hook_id = isKnown ? row.hook_id : null
      const linked = { ...row, ...link, hook_id, chain: chain.id, shadow: row.shadow ? 1 : 0 }
      const { changes } = execution.run(...writtenColumns(executions).map((column) => linked[column]))
      if (changes === 0) return false
      chain.advance(link)
      return true
    },
    head(chain: AuditChain): void {
      head.run(chain.seq, chain.link, chain.headMac(), chain.id)
    },
  }
}

function toColumn(value: string | number | boolean | null): string | number | null {
  return typeof value === 'boolean' ? Number(value) : value
}

function insertInto(table: Table): string {
  const names = writtenColumns(table)
  return `insert into ${table.name} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
}

/** Prepares the statements that append a journal entry with its deliveries and answers. */
export function prepareAppendGroup(database: DatabaseSync): (group: AppendedGroup) => void {
  const transaction = prepareTransaction(database)
  const append = database.prepare(
    'insert into audit_journal (id, events, sealed, created_at) values (?, ?, ?, ?)',
  )
  const deliver = database.prepare(
    `insert into deliveries (id, tenant_id, kind, dedup_key, payload, state, attempts, due_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, 'waiting', 0, ?, ?, ?) on conflict do nothing`,
  )
  const keep = database.prepare(
    `insert into idempotency (tenant_id, key, request_hash, answer, expires_at) values (?, ?, ?, ?, ?)
     on conflict (tenant_id, key) do update set
       request_hash = excluded.request_hash, answer = excluded.answer, expires_at = excluded.expires_at
     where expires_at <= ?`,
  )
  return ({ entry, deliveries, answers, now = systemClock.now() }) =>
    transaction(() => {
      if (entry !== undefined) append.run(entry.id, entry.events, entry.sealed, entry.created_at)
      for (const { id, tenant_id, kind, dedup_key, payload, due_at, created_at } of deliveries)
        deliver.run(id, tenant_id, kind, dedup_key, payload, due_at ?? now, created_at, created_at)
      for (const { tenant_id, key, request_hash, answer, keep_ms } of answers)
        keep.run(tenant_id, key, request_hash, answer, now + keep_ms, now)
    })
}
