import type { MigrationStep } from './migration-step.ts'

export const deliveryTables: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'deliveries',
    columns: `id ${types.id} primary key,
      tenant_id ${types.id} not null,
      kind text not null,
      dedup_key text not null,
      payload text not null,
      state text not null check (state in ('waiting', 'leased', 'dead', 'done')),
      attempts ${types.number} not null,
      due_at ${types.number} not null,
      lease text,
      last_error text,
      created_at ${types.number} not null,
      updated_at ${types.number} not null,
      unique (tenant_id, dedup_key)`,
  },
  // Only open deliveries are searched by time, so done ones cost nothing.
  {
    kind: 'sql',
    text: `create index deliveries_due on deliveries (kind, due_at, id) where state in ('waiting', 'leased')`,
  },
  {
    kind: 'sql',
    text: `create index deliveries_listed on deliveries (tenant_id, created_at, id) where state <> 'done'`,
  },
  {
    kind: 'sql',
    text: `create index deliveries_ended on deliveries (state, updated_at) where state in ('done', 'dead')`,
  },
]
