import type { MigrationStep } from './migration-step.ts'

export const guardTables: MigrationStep = (types) => [
  {
    kind: 'keyed table',
    name: 'guard_state',
    columns: `tenant_id ${types.id} not null,
      key text not null,
      until ${types.number} not null,
      count ${types.real} not null,
      primary key (tenant_id, key)`,
  },
  { kind: 'sql', text: 'create index guards_by_end on guard_state (until)' },
  {
    kind: 'table',
    name: 'tenant_hook_budget',
    columns: `tenant_id ${types.id} primary key,
      month_start ${types.number} not null,
      budget_total ${types.number} not null,
      remaining ${types.number} not null,
      last_warned_at ${types.number},
      metadata ${types.json} not null,
      updated_at ${types.number} not null`,
  },
]
