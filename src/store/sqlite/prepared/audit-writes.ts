import type { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../../engine/core/clock.ts'
import type { AuditChain } from '../../sql/audit/audit-chain.ts'
import {
  type AppendedGroup,
  type AuditGroup,
  eventColumns,
  linkedColumns,
  type SealedEvent,
  type SealedExecution,
} from '../../sql/audit/audit-group.ts'
import { prepareTransaction } from './prepared-statement.ts'

/** Prepares the statements that write the rows of a group. */
export function prepareWriteGroup(database: DatabaseSync): (group: AuditGroup) => void {
  const transaction = prepareTransaction(database)
  const write = prepareRowWrites(database)
  const remove = database.prepare('delete from audit_journal where position = ?')
  return (group) =>
    transaction(() => {
      if (remove.run(group.entry).changes === 0) return
      const inserted = group.events.filter(write.event)
      for (const session of touchedSessions(inserted)) write.session(session)
      const hooks = write.knownHooks(group.executions)
      let linked = 0
      for (const execution of group.executions)
        linked += write.execution(execution, hooks.has(execution.hook_id), group.chain)
      if (linked > 0) write.head(group.chain)
    })
}

interface TouchedSession {
  readonly tenant_id: string
  readonly session_id: string
  agent_id: string | null
  first_at: number
  last_at: number
  events: number
}

/** Sums up per session, because a group often has many events of few sessions. */
function touchedSessions(events: readonly SealedEvent[]): Iterable<TouchedSession> {
  const sessions = new Map<string, TouchedSession>()
  for (const { tenant_id, session_id, agent_id, created_at: time } of events) {
    if (session_id === null) continue
    const key = `${tenant_id}/${session_id}`
    const session = sessions.get(key)
    if (session === undefined)
      sessions.set(key, { tenant_id, session_id, agent_id, first_at: time, last_at: time, events: 1 })
    else {
      session.agent_id = agent_id ?? session.agent_id
      session.first_at = Math.min(session.first_at, time)
      session.last_at = Math.max(session.last_at, time)
      session.events++
    }
  }
  return sessions.values()
}

function prepareRowWrites(database: DatabaseSync) {
  const event = database.prepare(`${insertInto('events', eventColumns)} on conflict do nothing`)
  const session = database.prepare(
    `insert into sessions (tenant_id, session_id, agent_id, first_at, last_at, events) values (?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, session_id) do update set
       agent_id = coalesce(excluded.agent_id, agent_id),
       first_at = min(first_at, excluded.first_at),
       last_at = max(last_at, excluded.last_at),
       events = events + excluded.events`,
  )
  const execution = database.prepare(
    `${insertInto('hook_executions', linkedColumns)} on conflict (tenant_id, dedup_key) do nothing`,
  )
  const hook = database.prepare('select 1 from agent_hooks where id = ?')
  const head = database.prepare(
    'update audit_chains set head_seq = ?, head_link = ?, head_mac = ? where chain = ?',
  )
  return {
    event: (row: SealedEvent): boolean =>
      event.run(...eventColumns.map((column) => row[column])).changes === 1,
    session(row: TouchedSession): void {
      session.run(row.tenant_id, row.session_id, row.agent_id, row.first_at, row.last_at, row.events)
    },
    /** The ids that are stored. The transaction keeps them from being deleted. */
    knownHooks(executions: readonly SealedExecution[]): ReadonlySet<string> {
      const ids = new Set(executions.map((row) => row.hook_id))
      return new Set([...ids].filter((id) => hook.get(id) !== undefined))
    },
    execution(row: SealedExecution, isKnown: boolean, chain: AuditChain): number {
      const link = chain.next(row)
      const hook_id = isKnown ? row.hook_id : null
      const linked = { ...row, ...link, hook_id, chain: chain.id, shadow: row.shadow ? 1 : 0 }
      const { changes } = execution.run(...linkedColumns.map((column) => linked[column]))
      if (changes === 0) return 0
      chain.advance(link)
      return 1
    },
    head(chain: AuditChain): void {
      head.run(chain.seq, chain.link, chain.headMac(), chain.id)
    },
  }
}

function insertInto(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
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
