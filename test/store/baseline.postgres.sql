create table tenants (
  id uuid primary key,
  name text not null,
  created_at bigint not null,
  unique (name)
);

create table members (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  kind text not null,
  identities text[],
  created_at bigint not null,
  unique (tenant_id, name)
);

create table tokens (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  member_id uuid not null references members (id) on delete cascade,
  name text not null,
  role text not null,
  agent_id text,
  hash bytea not null,
  created_at bigint not null,
  expires_at bigint,
  unique (hash)
);

create index tokens_of_tenant on tokens (tenant_id, created_at);

create index tokens_of_member on tokens (member_id);

create table secrets (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  sealed text not null,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table providers (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  base_url text,
  default_model text,
  sealed_key text,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table settings (
  tenant_id uuid primary key references tenants (id) on delete cascade,
  value text not null,
  updated_at bigint not null
);

create table key_uses (
  key_id text primary key,
  uses bigint not null
);

create table agent_reports (
  tenant_id uuid not null references tenants (id) on delete cascade,
  agent text not null,
  report jsonb not null,
  reported_at bigint not null,
  primary key (tenant_id, agent)
);

create table agent_hooks (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text,
  description text,
  agent_ids text[] not null,
  event text not null,
  handler_type text not null,
  scope text not null check (scope in ('global', 'tenant', 'agent')),
  config jsonb not null,
  matcher text,
  if_expr text,
  timeout_ms bigint,
  on_timeout text check (on_timeout in ('block', 'allow')),
  priority bigint not null,
  enabled boolean not null,
  disabled_reason text,
  tripped_by text,
  version bigint not null,
  source text not null check (source in ('builtin', 'user', 'blueprint')),
  options jsonb not null,
  created_by text,
  created_at bigint not null,
  updated_at bigint not null
);

create index hooks_of_tenant on agent_hooks (tenant_id, created_at, id);

create table definition_versions (
  tenant_id uuid primary key,
  version bigint not null,
  stamp bigint not null
);

create index definition_changes on definition_versions (stamp);

create or replace function hint_definitions() returns trigger language plpgsql as $$ begin
       perform pg_notify('hookhelm_definitions', new.tenant_id || ' ' || new.version);
       return null;
     end $$;

create or replace trigger hint_definitions after insert or update on definition_versions for each row execute function hint_definitions();

create table hook_trips (
  tenant_id uuid not null references tenants (id) on delete cascade,
  hook_id uuid not null references agent_hooks (id) on delete cascade,
  tripped_at bigint not null,
  tripped_by text not null,
  primary key (tenant_id, hook_id)
);

create index trips_of_hook on hook_trips (hook_id);

create table guard_state (
  tenant_id uuid not null,
  key text not null,
  until bigint not null,
  count double precision not null,
  primary key (tenant_id, key)
);

create index guards_by_end on guard_state (until);

create table tenant_hook_budget (
  tenant_id uuid primary key,
  month_start bigint not null,
  budget_total bigint not null,
  remaining bigint not null,
  last_warned_at bigint,
  metadata jsonb not null,
  updated_at bigint not null
);

create table deliveries (
  id uuid primary key,
  tenant_id uuid not null,
  kind text not null,
  dedup_key text not null,
  payload text not null,
  state text not null check (state in ('waiting', 'leased', 'dead', 'done')),
  attempts bigint not null,
  due_at bigint not null,
  lease text,
  last_error text,
  approval_id text,
  created_at bigint not null,
  updated_at bigint not null,
  unique (tenant_id, dedup_key)
);

create index deliveries_due on deliveries (kind, due_at, id) where state in ('waiting', 'leased');

create index deliveries_listed on deliveries (tenant_id, created_at, id) where state <> 'done';

create index deliveries_ended on deliveries (state, updated_at) where state in ('done', 'dead');

create index deliveries_of_approval on deliveries (tenant_id, approval_id) where approval_id is not null;

create table events (
  tenant_id uuid not null,
  event_id text not null,
  event text not null,
  session_id text,
  agent_id text,
  kind text not null,
  by_hook text,
  code text,
  duration_ms double precision not null,
  created_at bigint not null,
  request text not null,
  answer text not null,
  moment text,
  primary key (tenant_id, event_id)
);

create index events_by_time on events (created_at);

create index events_by_session on events (tenant_id, session_id, created_at, event_id) where session_id is not null;

create table hook_executions (
  position bigint generated always as identity primary key,
  id uuid not null,
  tenant_id uuid not null,
  hook_id uuid references agent_hooks (id) on delete set null,
  event_id text not null,
  event text not null,
  handler_type text not null,
  session_id text,
  agent_id text,
  input_hash text not null,
  decision text not null,
  duration_ms double precision not null,
  retry bigint not null,
  dedup_key text not null,
  code text,
  error text,
  error_detail text,
  shadow boolean not null,
  metadata jsonb not null,
  created_at bigint not null,
  chain uuid not null,
  seq bigint not null,
  mac bytea not null,
  unique (id),
  unique (tenant_id, dedup_key),
  unique (chain, seq)
);

create index executions_by_time on hook_executions (tenant_id, created_at, position);

create index executions_by_hook on hook_executions (hook_id, tenant_id, created_at, position);

create index executions_by_event on hook_executions (tenant_id, event, created_at, position);

create index executions_by_decision on hook_executions (tenant_id, decision, created_at, position, hook_id);

create index executions_by_session on hook_executions (tenant_id, session_id, created_at, position) where session_id is not null;

create index executions_by_agent on hook_executions (tenant_id, agent_id, created_at, position) where agent_id is not null;

create index executions_in_shadow on hook_executions (tenant_id, created_at, position) where shadow = true;

alter table hook_executions add column written_by xid8 not null default pg_current_xact_id();

create index executions_by_writer on hook_executions (tenant_id, written_by, position);

create table sessions (
  tenant_id uuid not null,
  session_id text not null,
  agent_id text,
  first_at bigint not null,
  last_at bigint not null,
  events bigint not null,
  agent text,
  folder text,
  title text,
  ended_at bigint,
  tool_calls bigint not null,
  blocked bigint not null,
  rewritten bigint not null,
  asked bigint not null,
  hook_ms double precision not null,
  primary key (tenant_id, session_id)
);

create index sessions_by_time on sessions (tenant_id, last_at, session_id);

create table session_lanes (
  tenant_id uuid not null,
  session_id text not null,
  lane text not null,
  created_at bigint not null,
  primary key (tenant_id, session_id, lane)
);

create table session_folders (
  tenant_id uuid not null,
  session text not null,
  folder text not null,
  last_at bigint not null,
  primary key (tenant_id, session)
);

create index session_folders_by_time on session_folders (last_at);

create table idempotency (
  tenant_id uuid not null,
  key text not null,
  request_hash text not null,
  answer text not null,
  expires_at bigint not null,
  primary key (tenant_id, key)
);

create index answers_by_end on idempotency (expires_at);

create table event_summaries (
  position bigint generated always as identity primary key,
  tenant_id uuid not null,
  event_id text not null,
  event text not null,
  session_id text,
  agent_id text,
  agent text,
  folder text,
  lane text,
  tool text,
  what text,
  kind text not null,
  rewritten boolean not null,
  opened text,
  failed bigint not null,
  shadow bigint not null,
  by_hook text,
  hook_name text,
  reason text,
  code text,
  duration_ms double precision not null,
  created_at bigint not null,
  probe boolean not null
);

create index summaries_by_time on event_summaries (tenant_id, created_at, position);

create index summaries_by_event on event_summaries (tenant_id, event, created_at, position);

create index summaries_by_tool on event_summaries (tenant_id, tool, created_at, position) where tool is not null;

create index summaries_by_session on event_summaries (tenant_id, session_id, created_at, position) where session_id is not null;

create index summaries_by_kind on event_summaries (tenant_id, kind, created_at, position) where kind <> 'allow';

create index summaries_by_hook on event_summaries (tenant_id, by_hook, created_at, position) where by_hook is not null;

create index summaries_rewritten on event_summaries (tenant_id, created_at, position) where rewritten = true;

create index summaries_opened on event_summaries (tenant_id, created_at, position) where opened is not null;

create index summaries_failed on event_summaries (tenant_id, created_at, position) where failed > 0;

alter table event_summaries add column written_by xid8 not null default pg_current_xact_id();

create index summaries_by_writer on event_summaries (tenant_id, written_by, position);

create table decision_minutes (
  tenant_id uuid not null,
  minute bigint not null,
  allow bigint not null,
  rewrite bigint not null,
  ask bigint not null,
  block bigint not null,
  opened bigint not null,
  failed bigint not null,
  d0 bigint not null,
  d1 bigint not null,
  d2 bigint not null,
  d3 bigint not null,
  d4 bigint not null,
  d5 bigint not null,
  d6 bigint not null,
  d7 bigint not null,
  d8 bigint not null,
  d9 bigint not null,
  d10 bigint not null,
  d11 bigint not null,
  d12 bigint not null,
  d13 bigint not null,
  d14 bigint not null,
  d15 bigint not null,
  d16 bigint not null,
  primary key (tenant_id, minute)
);

create table decision_hours (
  tenant_id uuid not null,
  minute bigint not null,
  allow bigint not null,
  rewrite bigint not null,
  ask bigint not null,
  block bigint not null,
  opened bigint not null,
  failed bigint not null,
  d0 bigint not null,
  d1 bigint not null,
  d2 bigint not null,
  d3 bigint not null,
  d4 bigint not null,
  d5 bigint not null,
  d6 bigint not null,
  d7 bigint not null,
  d8 bigint not null,
  d9 bigint not null,
  d10 bigint not null,
  d11 bigint not null,
  d12 bigint not null,
  d13 bigint not null,
  d14 bigint not null,
  d15 bigint not null,
  d16 bigint not null,
  primary key (tenant_id, minute)
);

create table event_hours (
  tenant_id uuid not null,
  hour bigint not null,
  event text not null,
  agent_id text not null,
  tool text not null,
  kind text not null,
  by_hook text not null,
  rewritten bigint not null,
  opened bigint not null,
  failed bigint not null,
  agent text,
  hook_name text,
  events bigint not null,
  primary key (tenant_id, hour, event, agent_id, tool, kind, by_hook, rewritten, opened, failed)
);

create table hook_hours (
  tenant_id uuid not null,
  hour bigint not null,
  hook_id text not null,
  hook_name text,
  matched bigint not null,
  block bigint not null,
  ask bigint not null,
  rewrite bigint not null,
  failed bigint not null,
  last_at bigint not null,
  d0 bigint not null,
  d1 bigint not null,
  d2 bigint not null,
  d3 bigint not null,
  d4 bigint not null,
  d5 bigint not null,
  d6 bigint not null,
  d7 bigint not null,
  d8 bigint not null,
  d9 bigint not null,
  d10 bigint not null,
  d11 bigint not null,
  d12 bigint not null,
  d13 bigint not null,
  d14 bigint not null,
  d15 bigint not null,
  d16 bigint not null,
  primary key (tenant_id, hour, hook_id)
);

create table audit_journal (
  position bigint generated always as identity primary key,
  id uuid not null,
  events bigint not null,
  sealed text not null,
  created_at bigint not null
);

create table audit_chains (
  chain uuid primary key,
  ordinal bigint not null,
  sealed_key text not null,
  base_seq bigint not null,
  base_link bytea not null,
  base_mac bytea not null,
  head_seq bigint not null,
  head_link bytea not null,
  head_mac bytea not null,
  unique (ordinal)
);

create table audit_gaps (
  chain uuid not null,
  from_seq bigint not null,
  to_seq bigint not null,
  link bytea not null,
  mac bytea not null,
  primary key (chain, from_seq)
);

create table blueprints (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  source text not null check (source in ('stored', 'file')),
  owner text,
  definition text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table run_hooks (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  definition text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table runners (
  tenant_id uuid not null references tenants (id) on delete cascade,
  runner_id text not null,
  hostname text not null,
  project_dir text not null,
  executor_profile text not null,
  executor_type text not null,
  tags text[] not null,
  require_matching_tags boolean not null,
  demand_keys text not null,
  tag_keys text not null,
  registered_by text not null,
  registered_at bigint not null,
  last_seen_at bigint not null,
  is_leaving boolean not null,
  primary key (tenant_id, runner_id)
);

create table run_sessions (
  tenant_id uuid not null references tenants (id) on delete cascade,
  session_id text not null,
  status text not null,
  agent_name text,
  project_dir text,
  parent_session_id text,
  executor_session_id text,
  executor_profile text,
  hostname text,
  created_by text not null,
  created_at bigint not null,
  last_resumed_at bigint,
  primary key (tenant_id, session_id)
);

create index sessions_of_runs on run_sessions (tenant_id, created_at, session_id);

create index sessions_of_runs_by_creator on run_sessions (tenant_id, created_by, created_at, session_id);

create index sessions_of_runs_by_parent on run_sessions (tenant_id, parent_session_id, created_at, session_id) where parent_session_id is not null;

create index sessions_of_runs_to_prune on run_sessions (created_at);

create index sessions_of_runs_by_executor on run_sessions (tenant_id, executor_session_id) where executor_session_id is not null;

create table runs (
  position bigint generated always as identity primary key,
  tenant_id uuid not null,
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
  depth bigint not null,
  key text,
  created_by text not null,
  claim_within_ms bigint not null,
  status text not null,
  is_prepared boolean not null,
  runner_id text,
  attempts bigint not null,
  preparations bigint not null,
  lease text,
  lease_ms bigint,
  due_at bigint,
  error text,
  block_reason text,
  timed_out boolean not null,
  hooks bigint not null,
  finish_pending boolean not null,
  finish_due_at bigint,
  created_at bigint not null,
  claimed_at bigint,
  started_at bigint,
  completed_at bigint,
  overrides text,
  origin text,
  unique (tenant_id, run_id),
  unique (tenant_id, key),
  foreign key (tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade
);

create index runs_by_time on runs (tenant_id, created_at, position);

create index runs_by_agent on runs (tenant_id, agent_name, created_at, position);

create index runs_by_session on runs (tenant_id, session_id, created_at, position);

create index runs_by_parent on runs (tenant_id, parent_session_id, created_at, position) where parent_session_id is not null;

create index runs_by_status on runs (tenant_id, status, created_at, position) where status <> 'completed';

create index runs_with_hooks on runs (tenant_id, created_at, position) where hooks > 0;

create index runs_blocked on runs (tenant_id, created_at, position) where block_reason is not null;

create index runs_to_take on runs (tenant_id, demand_key, tag_keys, position) where status = 'pending';

create index runs_due on runs (due_at) where due_at is not null;

create index runs_to_finish on runs (finish_due_at) where finish_pending = true;

create index runs_ended on runs (completed_at) where completed_at is not null;

create index runs_of_runner on runs (tenant_id, runner_id) where status in ('claimed', 'running', 'stopping');

create or replace function hint_runs() returns trigger language plpgsql as $$ begin
       perform pg_notify('hookhelm_runs', new.tenant_id::text);
       return null;
     end $$;

create or replace trigger hint_runs after insert or update of status on runs for each row when (new.status not in ('preparing', 'claimed', 'running')) execute function hint_runs();

create table run_events (
  tenant_id uuid not null,
  position bigint not null,
  event_id text not null,
  session_id text not null,
  run_id text,
  event_type text not null,
  created_at bigint not null,
  data text not null,
  primary key (tenant_id, position),
  unique (tenant_id, event_id),
  foreign key (tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade
);

create index run_events_by_session on run_events (tenant_id, session_id, position);

create index run_events_by_run on run_events (tenant_id, run_id) where run_id is not null;

create table run_event_positions (
  tenant_id uuid primary key references tenants (id) on delete cascade,
  position bigint not null
);

create table deleted_run_sessions (
  tenant_id uuid not null references tenants (id) on delete cascade,
  position bigint not null,
  session_id text not null,
  created_by text not null,
  deleted_at bigint not null,
  primary key (tenant_id, position)
);

create index deleted_run_sessions_to_prune on deleted_run_sessions (deleted_at);

create table approvals (
  position bigint generated always as identity primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  approval_id text not null,
  event text not null,
  event_id text not null,
  hook_id text,
  hook_name text,
  agent text,
  session_id text,
  caller_key text,
  run_id text,
  folder text,
  tool text,
  content text not null,
  input_hash text not null,
  requested_by text not null,
  caller_id text not null,
  member_id uuid,
  approvers_needed bigint not null,
  status text not null,
  answers text,
  created_at bigint not null,
  deadline_at bigint not null,
  decided_at bigint,
  decided_by text,
  waits_until bigint,
  used_at bigint,
  repeated_at bigint,
  granted_until bigint,
  unique (tenant_id, approval_id)
);

create unique index approvals_pending on approvals (tenant_id, event_id, input_hash) where status = 'pending';

create index approvals_due on approvals (deadline_at) where status = 'pending';

create index approvals_by_time on approvals (tenant_id, created_at, position);

create index approvals_by_call on approvals (tenant_id, input_hash, position);

create index approvals_by_id on approvals (approval_id);

create index approvals_of_caller on approvals (tenant_id, caller_key, created_at);

create index approvals_of_agent on approvals (tenant_id, agent, created_at);

create index approvals_granted on approvals (tenant_id, granted_until) where granted_until is not null;

create or replace function hint_approvals() returns trigger language plpgsql as $$ begin
       perform pg_notify('hookhelm_approvals', new.approval_id);
       return null;
     end $$;

create or replace trigger hint_approvals after update of status on approvals for each row when (new.status <> 'pending') execute function hint_approvals();

create table approval_links (
  link_id text primary key,
  tenant_id uuid not null,
  approval_id text not null,
  verdict text not null,
  route text not null,
  recipient text not null,
  member_id uuid,
  input_hash text not null,
  digest text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  foreign key (tenant_id, approval_id) references approvals (tenant_id, approval_id) on delete cascade
);

create index links_of_approval on approval_links (tenant_id, approval_id);

create table approval_alerts (
  tenant_id uuid not null references tenants (id) on delete cascade,
  scope text not null,
  subject text not null,
  questions bigint not null,
  refused bigint not null,
  since bigint not null,
  last_at bigint not null,
  primary key (tenant_id, scope, subject)
);

create table rules (
  tenant_id uuid not null references tenants (id) on delete cascade,
  rule_id text not null,
  definition text not null,
  enabled boolean not null,
  version bigint not null,
  created_by text,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, rule_id)
);

create table teams (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  definition text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table environments (
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  definition text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, name)
);

create table mailbox_messages (
  tenant_id uuid not null references tenants (id) on delete cascade,
  message_id text not null,
  team text not null,
  member text not null,
  firing_id text,
  content text not null,
  created_at bigint not null,
  read_at bigint,
  primary key (tenant_id, message_id)
);

create index mailbox_by_time on mailbox_messages (tenant_id, created_at, message_id);

create index mailbox_of_member on mailbox_messages (tenant_id, team, member, created_at, message_id);

create index mailbox_to_prune on mailbox_messages (created_at);

create index mailbox_of_firing on mailbox_messages (tenant_id, firing_id, created_at, message_id) where firing_id is not null;

create table rule_firings (
  tenant_id uuid not null references tenants (id) on delete cascade,
  firing_id text not null,
  rule_id text not null,
  source text not null,
  event_id text not null,
  event text not null,
  outcome text not null,
  session_id text,
  run_id text,
  depth bigint not null,
  content text not null,
  created_at bigint not null,
  primary key (tenant_id, firing_id)
);

create index firings_by_time on rule_firings (tenant_id, created_at, firing_id);

create index firings_of_rule on rule_firings (tenant_id, rule_id, created_at, firing_id);

create index firings_of_run on rule_firings (tenant_id, run_id, created_at, firing_id) where run_id is not null;

create index firings_to_prune on rule_firings (created_at);

create index firings_of_event on rule_firings (tenant_id, event_id, created_at, firing_id);

create table rule_actions (
  tenant_id uuid not null,
  firing_id text not null,
  position bigint not null,
  action_id text not null,
  action_type text not null,
  status text not null,
  reason text,
  detail text,
  run_id text,
  updated_at bigint not null,
  primary key (tenant_id, firing_id, position),
  foreign key (tenant_id, firing_id) references rule_firings (tenant_id, firing_id) on delete cascade
);

create index actions_of_run on rule_actions (tenant_id, run_id) where run_id is not null;

insert into tenants (id, name, created_at) values ('0193a5b0-7000-7000-8000-000000000001', 'master', 0);

insert into members (id, tenant_id, name, kind, created_at)
      values ('0193a5b0-7000-7000-8000-000000000002', '0193a5b0-7000-7000-8000-000000000001', 'owner', 'person', 0);

