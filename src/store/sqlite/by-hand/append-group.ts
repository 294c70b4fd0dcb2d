import type { DatabaseSync } from 'node:sqlite'
import type { AppendedGroup } from '../../sql/audit/audit-group.ts'
import { transactions } from './transaction.ts'

export function appendGroupByHand(database: DatabaseSync): (group: AppendedGroup) => void {
  const transaction = transactions(database)
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
  return ({ entry, deliveries, answers, now }) =>
    transaction(() => {
      if (entry !== undefined) append.run(entry.id, entry.events, entry.sealed, entry.created_at)
      for (const { id, tenant_id, kind, dedup_key, payload, due_at, created_at } of deliveries)
        deliver.run(id, tenant_id, kind, dedup_key, payload, due_at, created_at, created_at)
      for (const { tenant_id, key, request_hash, answer, expires_at } of answers)
        keep.run(tenant_id, key, request_hash, answer, expires_at, now)
    })
}
