import type { MigrationStep } from './migration-step.ts'

/** Links that answer a question once, and the alerts of sessions, agents and tenants that ask too often. */
export const approvalRouteTables: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'approval_links',
    columns: `link_id text primary key,
      tenant_id ${types.id} not null,
      approval_id text not null,
      verdict text not null,
      route text not null,
      recipient text not null,
      input_hash text not null,
      digest text not null,
      created_at ${types.number} not null,
      expires_at ${types.number} not null,
      used_at ${types.number},
      foreign key (tenant_id, approval_id) references approvals (tenant_id, approval_id) on delete cascade`,
  },
  { kind: 'sql', text: 'create index links_of_approval on approval_links (tenant_id, approval_id)' },
  {
    kind: 'table',
    name: 'approval_alerts',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      scope text not null,
      subject text not null,
      questions ${types.number} not null,
      refused ${types.number} not null,
      since ${types.number} not null,
      last_at ${types.number} not null,
      primary key (tenant_id, scope, subject)`,
  },
  // The messages about a question end with it.
  { kind: 'sql', text: 'alter table deliveries add column approval_id text' },
  {
    kind: 'sql',
    text: 'create index deliveries_of_approval on deliveries (tenant_id, approval_id) where approval_id is not null',
  },
  // The questions of the last hour are counted before each new one.
  { kind: 'sql', text: 'create index approvals_of_session on approvals (tenant_id, session_id, created_at)' },
  { kind: 'sql', text: 'create index approvals_of_agent on approvals (tenant_id, agent, created_at)' },
  {
    kind: 'sql',
    text: 'create index approvals_granted on approvals (tenant_id, granted_until) where granted_until is not null',
  },
]
