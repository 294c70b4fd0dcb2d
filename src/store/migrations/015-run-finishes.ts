import type { MigrationStep } from './migration-step.ts'

/** When another node may finish a run, and the sessions that people deleted, for readers of the event stream. */
export const runFinishes: MigrationStep = (types) => [
  { kind: 'sql', text: `alter table runs add column finish_due_at ${types.number}` },
  { kind: 'sql', text: `update runs set finish_due_at = 0 where finish_pending = ${types.true}` },
  { kind: 'sql', text: 'drop index runs_unfinished' },
  {
    kind: 'sql',
    text: `create index runs_to_finish on runs (finish_due_at) where finish_pending = ${types.true}`,
  },
  {
    // Not in run_events, whose rows go with their session.
    kind: 'table',
    name: 'deleted_run_sessions',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      position ${types.number} not null,
      session_id text not null,
      created_by text not null,
      deleted_at ${types.number} not null,
      primary key (tenant_id, position)`,
  },
  { kind: 'sql', text: 'create index deleted_run_sessions_to_prune on deleted_run_sessions (deleted_at)' },
]
