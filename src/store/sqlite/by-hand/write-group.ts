import type { DatabaseSync } from 'node:sqlite'
import type { Links } from '../../sql/audit/audit-chain.ts'
import type { AuditGroup, SealedEvent, SealedExecution } from '../../sql/audit/audit-group.ts'
import { transactions } from './transaction.ts'

export function writeGroupByHand(database: DatabaseSync): (group: AuditGroup) => void {
  const transaction = transactions(database)
  const write = groupStatements(database)
  return (group) =>
    transaction(() => {
      for (const event of group.events) if (write.event(event)) write.session(event)
      let linked = 0
      for (const execution of group.executions) linked += write.execution(execution, group.links)
      if (linked > 0) write.head(group.links)
      for (const delivery of group.deliveries)
        write.delivery.run(
          delivery.id,
          delivery.tenant_id,
          delivery.kind,
          delivery.dedup_key,
          delivery.payload,
          delivery.due_at,
          delivery.created_at,
          delivery.created_at,
        )
      for (const kept of group.answers)
        write.answer.run(kept.tenant_id, kept.key, kept.request_hash, kept.answer, kept.expires_at, group.now)
    })
}

function groupStatements(database: DatabaseSync) {
  const event = database.prepare(
    `insert into events (tenant_id, event_id, event, session_id, agent_id, kind, by_hook, code, duration_ms,
       created_at, request, answer)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )
  const session = database.prepare(
    `insert into sessions (tenant_id, session_id, agent_id, first_at, last_at, events) values (?, ?, ?, ?, ?, 1)
     on conflict (tenant_id, session_id) do update set
       agent_id = coalesce(excluded.agent_id, agent_id),
       first_at = min(first_at, excluded.first_at),
       last_at = max(last_at, excluded.last_at),
       events = events + 1`,
  )
  const execution = database.prepare(
    `insert into hook_executions (id, tenant_id, hook_id, event_id, event, handler_type, session_id, agent_id,
       input_hash, decision, duration_ms, retry, dedup_key, code, error, error_detail, shadow, metadata,
       created_at, chain, seq, mac)
     values (?, ?, (select id from agent_hooks where id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, dedup_key) do nothing`,
  )
  const head = database.prepare(
    'update audit_chains set head_seq = ?, head_link = ?, head_mac = ? where chain = ?',
  )
  return {
    delivery: database.prepare(
      `insert into deliveries (id, tenant_id, kind, dedup_key, payload, state, attempts, due_at, created_at, updated_at)
       values (?, ?, ?, ?, ?, 'waiting', 0, ?, ?, ?) on conflict do nothing`,
    ),
    answer: database.prepare(
      `insert into idempotency (tenant_id, key, request_hash, answer, expires_at) values (?, ?, ?, ?, ?)
       on conflict (tenant_id, key) do update set
         request_hash = excluded.request_hash, answer = excluded.answer, expires_at = excluded.expires_at
       where expires_at <= ?`,
    ),
    event: (row: SealedEvent): boolean =>
      event.run(
        row.tenant_id,
        row.event_id,
        row.event,
        row.session_id,
        row.agent_id,
        row.kind,
        row.by_hook,
        row.code,
        row.duration_ms,
        row.created_at,
        row.request,
        row.answer,
      ).changes === 1,
    session(row: SealedEvent): void {
      const { tenant_id, session_id, agent_id, created_at } = row
      if (session_id !== null) session.run(tenant_id, session_id, agent_id, created_at, created_at)
    },
    execution(row: SealedExecution, links: Links): number {
      const link = links.next(row)
      const { changes } = execution.run(
        row.id,
        row.tenant_id,
        row.hook_id,
        row.event_id,
        row.event,
        row.handler_type,
        row.session_id,
        row.agent_id,
        row.input_hash,
        row.decision,
        row.duration_ms,
        row.retry,
        row.dedup_key,
        row.code,
        row.error,
        row.error_detail,
        row.shadow ? 1 : 0,
        row.metadata,
        row.created_at,
        links.chain,
        link.seq,
        link.mac,
      )
      if (changes === 0) return 0
      links.advance(link)
      return 1
    },
    head(links: Links): void {
      head.run(links.seq, links.link, links.headMac(), links.chain)
    },
  }
}
