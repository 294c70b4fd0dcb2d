import type { MigrationStep } from './migration-step.ts'

/** Questions to people, and their answers. */
export const approvalTable: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'approvals',
    columns: `position ${types.position},
      tenant_id ${types.id} not null references tenants (id) on delete cascade,
      approval_id text not null,
      event text not null,
      event_id text not null,
      hook_id text,
      hook_name text,
      agent text,
      session_id text,
      run_id text,
      folder text,
      tool text,
      content text not null,
      input_hash text not null,
      requested_by text not null,
      approvers_needed ${types.number} not null,
      status text not null,
      answers text,
      created_at ${types.number} not null,
      deadline_at ${types.number} not null,
      decided_at ${types.number},
      decided_by text,
      used_at ${types.number},
      granted_until ${types.number},
      unique (tenant_id, approval_id)`,
  },
  {
    // One pending question per call of a session: two identical calls at the same time ask once.
    kind: 'sql',
    text: `create unique index approvals_pending on approvals (tenant_id, coalesce(session_id, ''), input_hash)
      where status = 'pending'`,
  },
  { kind: 'sql', text: "create index approvals_due on approvals (deadline_at) where status = 'pending'" },
  { kind: 'sql', text: 'create index approvals_by_time on approvals (tenant_id, created_at, position)' },
  { kind: 'sql', text: 'create index approvals_by_call on approvals (tenant_id, input_hash, position)' },
  { kind: 'sql', text: 'create index approvals_by_id on approvals (approval_id)' },
]
