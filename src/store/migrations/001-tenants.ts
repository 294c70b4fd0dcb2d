import { MASTER_TENANT } from '../stores/tenant-store.ts'
import type { MigrationStep } from './migration-step.ts'

export const tenantTables: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'tenants',
    columns: `id ${types.id} primary key, name text not null unique, created_at ${types.number} not null`,
  },
  // Owns the global hooks and the settings of the gateway.
  {
    kind: 'sql',
    text: `insert into tenants (id, name, created_at) values ('${MASTER_TENANT}', 'master', 0)`,
  },
  {
    kind: 'table',
    name: 'tokens',
    columns: `id ${types.id} primary key,
      tenant_id ${types.id} not null references tenants (id) on delete cascade,
      name text not null,
      role text not null,
      agent_id text,
      hash ${types.bytes} not null unique,
      created_at ${types.number} not null,
      expires_at ${types.number}`,
  },
  { kind: 'sql', text: 'create index tokens_of_tenant on tokens (tenant_id, created_at)' },
]
