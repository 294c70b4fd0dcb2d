import type { Generated } from 'kysely'
import type { ApprovalAlert, ApprovalLink, ApprovalRow } from '../stores/approval-store.ts'
import type { SessionRow } from '../stores/audit-store.ts'
import type { BudgetRow } from '../stores/guard-store.ts'
import type { FiringAction, FiringRow, MailboxRow, NamedRow, RuleRow } from '../stores/rule-store.ts'
import type { RunnerRow, RunRow, RunSessionRow } from '../stores/run-store.ts'
import type { TenantRow, TokenRow } from '../stores/tenant-store.ts'
import type { ProviderRow, SecretRow } from '../stores/vault-store.ts'
import type { EventSummary } from '../stores/view-store.ts'

/** The tables, typed for kysely. Columns that the dialects store differently are `unknown`; the codec reads them. */
export interface Tables {
  tenants: TenantRow
  tokens: Omit<TokenRow, 'role'> & { role: string; hash: Uint8Array }
  agent_hooks: AgentHooks
  /** `stamp` orders changes by visibility, which on PostgreSQL differs from the order of writing. */
  definition_versions: { tenant_id: string; version: number; stamp: number }
  /** Global hooks that the breaker disabled for one tenant. */
  hook_trips: { tenant_id: string; hook_id: string; tripped_at: number; tripped_by: string }
  events: Events
  hook_executions: HookExecutions
  sessions: Omit<SessionRow, 'sub_agents' | 'ended'> & { ended_at: number | null }
  session_lanes: { tenant_id: string; session_id: string; lane: string; created_at: number }
  event_summaries: EventSummaries
  decision_minutes: { tenant_id: string; minute: number }
  decision_hours: { tenant_id: string; minute: number }
  event_hours: EventHours
  hook_hours: { tenant_id: string; hour: number; hook_id: string; hook_name: string | null }
  session_folders: { tenant_id: string; session: string; folder: string; last_at: number }
  audit_journal: { position: number; id: string; events: number; sealed: string; created_at: number }
  audit_chains: AuditChains
  audit_gaps: AuditGaps
  idempotency: { tenant_id: string; key: string; request_hash: string; answer: string; expires_at: number }
  tenant_hook_budget: BudgetRow & { metadata: unknown; updated_at: number }
  guard_state: { tenant_id: string; key: string; until: number; count: number }
  deliveries: Deliveries
  secrets: SecretRow
  providers: ProviderRow
  settings: { tenant_id: string; value: unknown; updated_at: number }
  agent_reports: { tenant_id: string; agent: string; report: unknown; reported_at: number }
  key_uses: { key_id: string; uses: number }
  blueprints: Blueprints
  run_hooks: Omit<Blueprints, 'source' | 'version'>
  runners: Runners
  run_sessions: Omit<RunSessionRow, 'status'> & { status: string }
  runs: Runs
  run_events: RunEvents
  deleted_run_sessions: DeletedRunSessions
  run_event_positions: { tenant_id: string; position: number }
  approvals: Approvals
  approval_links: ApprovalLinks
  approval_alerts: ApprovalAlert & { tenant_id: string }
  rules: Omit<RuleRow, 'definition' | 'enabled'> & { definition: string; enabled: unknown }
  teams: Omit<NamedRow, 'definition'> & { definition: string }
  environments: Omit<NamedRow, 'definition'> & { definition: string }
  mailbox_messages: Omit<MailboxRow, 'content'> & { content: string }
  rule_firings: Omit<FiringRow, 'content' | 'actions'> & { content: string }
  rule_actions: Omit<FiringAction, 'status'> & { tenant_id: string; firing_id: string; status: string }
}

interface AgentHooks {
  id: string
  tenant_id: string
  name: string | null
  description: string | null
  agent_ids: unknown
  event: string
  handler_type: string
  scope: string
  config: unknown
  matcher: string | null
  if_expr: string | null
  timeout_ms: number | null
  on_timeout: string | null
  priority: number
  enabled: unknown
  disabled_reason: string | null
  tripped_by: string | null
  version: number
  source: string
  /** The fields of a definition without their own column. */
  options: unknown
  created_by: string | null
  created_at: number
  updated_at: number
}

interface Events {
  tenant_id: string
  event_id: string
  event: string
  session_id: string | null
  agent_id: string | null
  kind: string
  by_hook: string | null
  code: string | null
  duration_ms: number
  created_at: number
  request: string
  answer: string
  moment: string | null
}

interface EventSummaries extends Omit<EventSummary, 'kind' | 'rewritten' | 'probe'> {
  /** The order of writing, assigned by the database. */
  position: number
  tenant_id: string
  kind: string
  rewritten: unknown
  probe: unknown
}

/** How many events of an hour have the same values. An empty text means none; flags are 0 or 1. */
interface EventHours {
  tenant_id: string
  hour: number
  event: string
  agent_id: string
  tool: string
  kind: string
  by_hook: string
  rewritten: number
  opened: number
  failed: number
  agent: string | null
  hook_name: string | null
  events: number
}

interface HookExecutions {
  /** The order of writing, assigned by the database. */
  position: number
  id: string
  tenant_id: string
  hook_id: string | null
  event_id: string
  event: string
  handler_type: string
  session_id: string | null
  agent_id: string | null
  input_hash: string
  decision: string
  duration_ms: number
  retry: number
  dedup_key: string
  code: string | null
  error: string | null
  error_detail: string | null
  shadow: unknown
  metadata: unknown
  created_at: number
  chain: string
  seq: number
  mac: Uint8Array
}

/** One chain per opened store. Rows up to `base_seq` are pruned. Pruning writes the base columns, recording the head. */
interface AuditChains {
  chain: string
  /** Numbers the chains without gaps, so that a missing chain is noticed. */
  ordinal: number
  sealed_key: string
  base_seq: number
  base_link: Uint8Array
  base_mac: Uint8Array
  head_seq: number
  head_link: Uint8Array
  head_mac: Uint8Array
}

/** Rows that were deleted with their tenant, and the link with which the chain continues. */
interface AuditGaps {
  chain: string
  from_seq: number
  to_seq: number
  link: Uint8Array
  mac: Uint8Array
}

interface Deliveries {
  id: string
  tenant_id: string
  kind: string
  dedup_key: string
  payload: string
  /** A `done` row only keeps its dedup key. */
  state: string
  attempts: number
  /** When a worker may claim it; for a leased row, when its lease ends. */
  due_at: number
  lease: string | null
  last_error: string | null
  /** The question that it is about. */
  approval_id: string | null
  created_at: number
  updated_at: number
}

interface Blueprints {
  tenant_id: string
  name: string
  source: string
  definition: string
  version: number
  created_at: number
  updated_at: number
}

/** `demand_keys` and `tag_keys` are what `demandKeys` returns for its offer. */
interface Runners extends Omit<RunnerRow, 'tags' | 'require_matching_tags' | 'is_leaving'> {
  tags: unknown
  require_matching_tags: unknown
  demand_keys: string
  tag_keys: string
  is_leaving: unknown
}

interface Runs
  extends Omit<
    RunRow,
    | 'status'
    | 'type'
    | 'execution_mode'
    | 'parameters'
    | 'original_parameters'
    | 'demands'
    | 'is_prepared'
    | 'timed_out'
    | 'overrides'
  > {
  /** The order of creation, assigned by the database. */
  position: Generated<number>
  status: string
  is_prepared: unknown
  timed_out: unknown
  type: string
  execution_mode: string
  /** Sealed, as are the original parameters, the error and the block reason. */
  parameters: string
  original_parameters: string | null
  demands: string
  demand_key: string
  tag_keys: string
  key: string | null
  claim_within_ms: number
  /** How often a coordinator began to prepare it. */
  preparations: number
  lease: string | null
  lease_ms: number | null
  /** When its lease ends, or until when a runner must claim it; null after its end. */
  due_at: number | null
  finish_pending: unknown
  overrides: string | null
  /** When another node may finish it; null before its end. */
  finish_due_at: number | null
}

interface DeletedRunSessions {
  tenant_id: string
  /** Of the same order as the positions of events. */
  position: number
  session_id: string
  created_by: string
  deleted_at: number
}

interface RunEvents {
  tenant_id: string
  position: number
  event_id: string
  session_id: string
  run_id: string | null
  event_type: string
  created_at: number
  /** Sealed. */
  data: string
}

interface Approvals extends Omit<ApprovalRow, 'status' | 'votes' | 'edited' | 'what' | 'reason' | 'input'> {
  /** The order of creation, assigned by the database. */
  position: Generated<number>
  status: string
  /** Sealed: what the call does, why a person is asked, and the final arguments. */
  content: string
  /** Sealed: the votes, and the input that a person wrote. */
  answers: string | null
}

interface ApprovalLinks extends Omit<ApprovalLink, 'verdict'> {
  verdict: string
}
