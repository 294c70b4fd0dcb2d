import type { ColumnTypes, MigrationStatement, MigrationStep } from './migration-step.ts'

/** Agents that can be started, their runs and sessions, and the runners that execute them. */
export const runTables: MigrationStep = (types) => [
  ...blueprintHooks(),
  ...definitionTables(types),
  sessionTable(types),
  runTable(types),
  ...eventTables(types),
  ...indexes(types),
]

/** Allows the source `blueprint`. A check cannot be changed, so a new column replaces the old one. */
function blueprintHooks(): readonly MigrationStatement[] {
  const statements = [
    `alter table agent_hooks add column new_source text not null default 'user'
       check (new_source in ('builtin', 'user', 'blueprint'))`,
    'update agent_hooks set new_source = source',
    'alter table agent_hooks drop column source',
    'alter table agent_hooks rename column new_source to source',
  ]
  return statements.map((text) => ({ kind: 'sql', text }))
}

/** Definitions are texts, because a JSON column of PostgreSQL loses the order of keys. */
function definitionTables(types: ColumnTypes): readonly MigrationStatement[] {
  const tenant = `tenant_id ${types.id} not null references tenants (id) on delete cascade`
  const times = `created_at ${types.number} not null, updated_at ${types.number} not null`
  return [
    {
      kind: 'table',
      name: 'blueprints',
      columns: `${tenant}, name text not null, source text not null check (source in ('stored', 'file')),
        definition text not null, version ${types.number} not null, ${times}, primary key (tenant_id, name)`,
    },
    {
      kind: 'table',
      name: 'run_hooks',
      columns: `${tenant}, name text not null, definition text not null, ${times}, primary key (tenant_id, name)`,
    },
    {
      kind: 'table',
      name: 'runners',
      columns: `${tenant},
        runner_id text not null,
        hostname text not null,
        project_dir text not null,
        executor_profile text not null,
        executor_type text not null,
        tags ${types.ids} not null,
        require_matching_tags ${types.flag} not null,
        demand_keys text not null,
        tag_keys text not null,
        registered_by text not null,
        registered_at ${types.number} not null,
        last_seen_at ${types.number} not null,
        is_leaving ${types.flag} not null,
        primary key (tenant_id, runner_id)`,
    },
  ]
}

function sessionTable(types: ColumnTypes): MigrationStatement {
  return {
    kind: 'table',
    name: 'run_sessions',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      session_id text not null,
      status text not null,
      agent_name text,
      project_dir text,
      parent_session_id text,
      executor_session_id text,
      executor_profile text,
      hostname text,
      created_by text not null,
      created_at ${types.number} not null,
      last_resumed_at ${types.number},
      primary key (tenant_id, session_id)`,
  }
}

function runTable(types: ColumnTypes): MigrationStatement {
  return {
    kind: 'table',
    name: 'runs',
    columns: `position ${types.position},
      tenant_id ${types.id} not null,
      run_id text not null,
      session_id text not null,
      type text not null,
      agent_name text,
      parameters text not null,
      original_parameters text,
      project_dir text,
      parent_session_id text,
      parent_run_id text,
      execution_mode text not null,
      demands text not null,
      demand_key text not null,
      tag_keys text not null,
      hook_point text,
      depth ${types.number} not null,
      key text,
      created_by text not null,
      claim_within_ms ${types.number} not null,
      status text not null,
      is_prepared ${types.flag} not null,
      runner_id text,
      attempts ${types.number} not null,
      preparations ${types.number} not null,
      lease text,
      lease_ms ${types.number},
      due_at ${types.number},
      error text,
      block_reason text,
      hooks ${types.number} not null,
      finish_pending ${types.flag} not null,
      created_at ${types.number} not null,
      claimed_at ${types.number},
      started_at ${types.number},
      completed_at ${types.number},
      unique (tenant_id, run_id),
      unique (tenant_id, key),
      foreign key (tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade`,
  }
}

function eventTables(types: ColumnTypes): readonly MigrationStatement[] {
  return [
    {
      kind: 'table',
      name: 'run_events',
      columns: `tenant_id ${types.id} not null,
        position ${types.number} not null,
        event_id text not null,
        session_id text not null,
        run_id text,
        event_type text not null,
        created_at ${types.number} not null,
        data text not null,
        primary key (tenant_id, position),
        unique (tenant_id, event_id),
        foreign key (tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade`,
    },
    {
      // The last position of each tenant. Its row lock orders the writers, so positions become visible in their order.
      kind: 'keyed table',
      name: 'run_event_positions',
      columns: `tenant_id ${types.id} primary key references tenants (id) on delete cascade,
        position ${types.number} not null`,
    },
  ]
}

function indexes(types: ColumnTypes): readonly MigrationStatement[] {
  const page = 'created_at, position'
  const texts = [
    'sessions_of_runs on run_sessions (tenant_id, created_at, session_id)',
    'sessions_of_runs_by_creator on run_sessions (tenant_id, created_by, created_at, session_id)',
    `sessions_of_runs_by_parent on run_sessions (tenant_id, parent_session_id, created_at, session_id)
       where parent_session_id is not null`,
    'sessions_of_runs_to_prune on run_sessions (created_at)',
    `runs_by_time on runs (tenant_id, ${page})`,
    `runs_by_agent on runs (tenant_id, agent_name, ${page})`,
    `runs_by_session on runs (tenant_id, session_id, ${page})`,
    `runs_by_parent on runs (tenant_id, parent_session_id, ${page}) where parent_session_id is not null`,
    // Most runs are completed, so those are found by time.
    `runs_by_status on runs (tenant_id, status, ${page}) where status <> 'completed'`,
    `runs_with_hooks on runs (tenant_id, ${page}) where hooks > 0`,
    `runs_blocked on runs (tenant_id, ${page}) where block_reason is not null`,
    // Each distinct set of demands is one range, so that a runner skips what it cannot execute.
    `runs_to_take on runs (tenant_id, demand_key, tag_keys, position) where status = 'pending'`,
    'runs_due on runs (due_at) where due_at is not null',
    `runs_unfinished on runs (completed_at, position) where finish_pending = ${types.true}`,
    'runs_ended on runs (completed_at) where completed_at is not null',
    `runs_of_runner on runs (tenant_id, runner_id) where status in ('claimed', 'running', 'stopping')`,
    'run_events_by_session on run_events (tenant_id, session_id, position)',
    'run_events_by_run on run_events (tenant_id, run_id) where run_id is not null',
  ]
  return texts.map((index) => ({ kind: 'sql', text: `create index ${index}` }))
}
