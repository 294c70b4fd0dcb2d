import type { MigrationStep } from './migration-step.ts'

export const vaultTables: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'secrets',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      name text not null,
      sealed text not null,
      updated_at ${types.number} not null,
      primary key (tenant_id, name)`,
  },
  {
    kind: 'table',
    name: 'providers',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      name text not null,
      base_url text,
      default_model text,
      sealed_key text,
      updated_at ${types.number} not null,
      primary key (tenant_id, name)`,
  },
  {
    kind: 'table',
    name: 'settings',
    columns: `tenant_id ${types.id} primary key references tenants (id) on delete cascade,
      value ${types.json} not null,
      updated_at ${types.number} not null`,
  },
  {
    kind: 'keyed table',
    name: 'key_uses',
    columns: `key_id text primary key, uses ${types.number} not null`,
  },
]
