import type { MethodsOf } from '../../database/operation.ts'
import { columns, type RowOf, table } from '../../database/table.ts'
import type { NewHook } from '../../stored-hooks/hook-tables.ts'
import type { Content } from '../../teams/team-tables.ts'
import type { blueprintOperations, runHookOperations } from './blueprint-operations.ts'
import type { runEventOperations } from './run-event-operations.ts'
import type { runOperations, runSessionOperations } from './run-operations.ts'
import type { runStateOperations } from './run-state.ts'
import type { runnerOperations } from './runner-operations.ts'

const {
  checked,
  flag,
  id,
  internal,
  jsonText,
  list,
  nullable,
  number,
  oneOf,
  optional,
  position,
  sealedJson,
  sealedText,
  tenantId,
  text,
} = columns

/** `preparing`: the hooks before its start run. A prepared run is `pending` again until a runner claims it. */
export const runStatuses = [
  ...(['pending', 'preparing', 'claimed', 'running', 'stopping'] as const),
  ...(['completed', 'failed', 'stopped'] as const),
] as const

export type RunStatus = (typeof runStatuses)[number]
export type RunEnd = 'completed' | 'failed' | 'stopped'
/** What starts runs, besides callers. `retry`: a recovery rule that repeats a run. */
const runOrigins = ['hook', 'rule', 'retry', 'callback'] as const

const LOST = 'The text cannot be read: the key that sealed it is gone.'

export const blueprints = table(
  'blueprints',
  {
    tenant_id: tenantId(),
    name: text(),
    /** `file` rows follow `agent.json` files and cannot be changed over the API. */
    source: checked(oneOf(['stored', 'file'])),
    /** The gateway whose file it is; null for `stored`. */
    owner: nullable(text()),
    /** The blueprint as it was saved, unknown keys included. */
    definition: jsonText<Content>(),
    version: number(),
    created_at: number(),
    updated_at: number(),
  },
  { key: ['tenant_id', 'name'] },
)
export type BlueprintRow = RowOf<typeof blueprints>

/** A hook of a blueprint. It applies to the agent with the blueprint's name. */
export type BlueprintHook = Omit<NewHook, 'tenant_id' | 'source' | 'scope' | 'agent_ids'>

export interface NewBlueprint extends Pick<BlueprintRow, 'name' | 'source' | 'definition'> {
  /** null if omitted. */
  readonly owner?: BlueprintRow['owner']
  /** Replaces the stored hooks of the blueprint, in the same transaction. A hook keeps its id if it is given again. */
  readonly hooks?: readonly BlueprintHook[]
}

/** A named hook that blueprints refer to with `$ref`. */
export const runHooks = table(
  'run_hooks',
  {
    tenant_id: tenantId(),
    name: text(),
    definition: jsonText<Content>(),
    created_at: number(),
    updated_at: number(),
  },
  { key: ['tenant_id', 'name'] },
)

/** What a runner must offer. An absent or empty field accepts every runner. */
export interface RunDemands {
  readonly hostname?: string
  readonly project_dir?: string
  readonly executor_profile?: string
  readonly executor_type?: string
  /** The runner must have all of them. */
  readonly tags?: readonly string[]
}

/** What a runner offers to runs. */
export interface RunnerOffer {
  readonly hostname: string
  readonly project_dir: string
  readonly executor_profile: string
  readonly executor_type: string
  readonly tags: readonly string[]
  /** Accept only runs that demand at least one of the runner's tags. */
  readonly require_matching_tags: boolean
}

export const runners = table(
  'runners',
  {
    tenant_id: tenantId(),
    runner_id: text(),
    hostname: text(),
    project_dir: text(),
    executor_profile: text(),
    executor_type: text(),
    tags: list(),
    require_matching_tags: flag(),
    /** What `offerKeys` returns for its offer. */
    demand_keys: internal(text()),
    tag_keys: internal(text()),
    /** The name of the token that registered it. */
    registered_by: text(),
    registered_at: number(),
    last_seen_at: number(),
    /** A runner that was asked to leave gets no more runs. */
    is_leaving: flag(),
  },
  {
    key: ['tenant_id', 'runner_id'],
    expiry: [{ where: 'last_seen_at < :before', keep: 'history' }],
    windows: [{ ends: 'last_seen_at', within: 0 }],
  },
)
export type RunnerRow = RowOf<typeof runners>

export const runSessionStatuses = ['pending', 'running', 'idle', 'finished', 'failed', 'stopped'] as const
export type RunSessionStatus = (typeof runSessionStatuses)[number]

/** A conversation of one agent. Its first run starts it, later runs resume it. */
export const runSessions = table(
  'run_sessions',
  {
    tenant_id: tenantId(),
    session_id: text(),
    status: oneOf(runSessionStatuses),
    agent_name: nullable(text()),
    project_dir: nullable(text()),
    parent_session_id: nullable(text()),
    /** How the executor knows the session, for resuming it. */
    executor_session_id: nullable(text()),
    executor_profile: nullable(text()),
    hostname: nullable(text()),
    created_by: text(),
    created_at: number(),
    last_resumed_at: nullable(number()),
  },
  {
    key: ['tenant_id', 'session_id'],
    indexes: [
      'sessions_of_runs (tenant_id, created_at, session_id)',
      'sessions_of_runs_by_creator (tenant_id, created_by, created_at, session_id)',
      'sessions_of_runs_by_parent (tenant_id, parent_session_id, created_at, session_id) where parent_session_id is not null',
      'sessions_of_runs_to_prune (created_at)',
      'sessions_of_runs_by_executor (tenant_id, executor_session_id) where executor_session_id is not null',
    ],
    // A session that has a run stays with it.
    expiry: [
      {
        where: `created_at < :before and not exists (select 1 from runs r
          where r.tenant_id = run_sessions.tenant_id and r.session_id = run_sessions.session_id)`,
        order: 'created_at',
        keep: 'history',
      },
    ],
  },
)
export type RunSessionRow = RowOf<typeof runSessions>

/** What a run has in place of its blueprint. */
export interface RunOverrides {
  readonly tools?: readonly string[]
  readonly model?: string
}

export interface NewRun
  extends Pick<
    RowOf<typeof runs>,
    | ('run_id' | 'tenant_id' | 'session_id' | 'type' | 'agent_name' | 'project_dir' | 'parent_session_id')
    | 'origin'
    | ('parent_run_id' | 'execution_mode' | 'demands' | 'hook_point' | 'depth' | 'created_by' | 'overrides')
  > {
  readonly parameters: Content
  /** Unique within the tenant: a second run with the same key is not created. */
  readonly key: string | null
  /** Without a runner by then, the run fails. */
  readonly claim_within_ms: number
}

/** A node has this long to finish a run before another node tries. */
export const FINISH_WITHIN_MS = 10_000

/** The channel on which PostgreSQL tells nodes about runs that someone waits for. */
export const RUN_HINT_CHANNEL = 'hookhelm_runs'

export const runs = table(
  'runs',
  {
    /** The order of creation. */
    position: internal(position()),
    tenant_id: id(),
    run_id: text(),
    session_id: text(),
    type: oneOf(['start_session', 'resume_session']),
    agent_name: nullable(text()),
    parameters: sealedJson(),
    /** What the caller sent, if a hook changed `parameters`. */
    original_parameters: nullable(sealedJson()),
    project_dir: nullable(text()),
    parent_session_id: nullable(text()),
    /** The run whose hook or rule started this one. */
    parent_run_id: nullable(text()),
    execution_mode: oneOf(['sync', 'async_poll', 'async_callback']),
    demands: jsonText<RunDemands>(),
    /** What `demandKeys` returns for its demands. */
    demand_key: internal(text()),
    tag_keys: internal(text()),
    /** The point of the run hook that this run serves. Such a run fires no run hooks itself. */
    hook_point: nullable(text()),
    depth: number(),
    key: internal(nullable(text())),
    created_by: text(),
    claim_within_ms: internal(number()),
    status: oneOf(runStatuses),
    /** Its start hooks have run. */
    is_prepared: flag(),
    runner_id: nullable(text()),
    /** How often a runner claimed it. */
    attempts: number(),
    /** How often a coordinator began to prepare it. */
    preparations: internal(number()),
    lease: internal(nullable(text())),
    lease_ms: internal(nullable(number())),
    /** When its lease ends, or until when a runner must claim it; null after its end. */
    due_at: internal(nullable(number())),
    error: nullable(sealedText(LOST)),
    /** The reason of the hook that blocked it. */
    block_reason: nullable(sealedText(LOST)),
    /** It failed because it took too long. */
    timed_out: flag(),
    /** How many `hook_start` events it has. */
    hooks: number(),
    finish_pending: internal(flag()),
    /** When another node may finish it; null before its end. */
    finish_due_at: internal(nullable(number())),
    created_at: number(),
    claimed_at: nullable(number()),
    started_at: nullable(number()),
    completed_at: nullable(number()),
    overrides: optional(jsonText<RunOverrides>()),
    /** Absent if a caller started it. */
    origin: optional(oneOf(runOrigins)),
  },
  {
    unique: [
      ['tenant_id', 'run_id'],
      ['tenant_id', 'key'],
    ],
    identity: ['tenant_id', 'run_id'],
    foreignKeys: [
      '(tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade',
    ],
    indexes: [
      'runs_by_time (tenant_id, created_at, position)',
      'runs_by_agent (tenant_id, agent_name, created_at, position)',
      'runs_by_session (tenant_id, session_id, created_at, position)',
      'runs_by_parent (tenant_id, parent_session_id, created_at, position) where parent_session_id is not null',
      // Most runs are completed, so those are found by time.
      "runs_by_status (tenant_id, status, created_at, position) where status <> 'completed'",
      'runs_with_hooks (tenant_id, created_at, position) where hooks > 0',
      'runs_blocked (tenant_id, created_at, position) where block_reason is not null',
      // Each distinct set of demands is one range, so that a runner skips what it cannot execute.
      "runs_to_take (tenant_id, demand_key, tag_keys, position) where status = 'pending'",
      'runs_due (due_at) where due_at is not null',
      'runs_to_finish (finish_due_at) where finish_pending = :true',
      'runs_ended (completed_at) where completed_at is not null',
      "runs_of_runner (tenant_id, runner_id) where status in ('claimed', 'running', 'stopping')",
    ],
    notice: {
      name: 'hint_runs',
      channel: RUN_HINT_CHANNEL,
      payload: 'new.tenant_id::text',
      on: 'insert or update of status',
      when: "new.status not in ('preparing', 'claimed', 'running')",
    },
    // A run whose finish is not confirmed stays: its hooks have not run yet.
    expiry: [
      { where: 'completed_at < :before and not finish_pending', order: 'completed_at', keep: 'history' },
    ],
    windows: [
      {
        ends: 'due_at',
        within: {
          sql: "case when status = 'pending' then claim_within_ms else coalesce(lease_ms, 0) end",
        },
      },
      { ends: 'finish_due_at', within: FINISH_WITHIN_MS, where: 'finish_pending' },
    ],
  },
)
export type RunRow = RowOf<typeof runs>

/** One line of a session: progress, messages, tool calls, results, and what run hooks did. */
export const runEventRows = table(
  'run_events',
  {
    tenant_id: id(),
    position: number(),
    event_id: text(),
    session_id: text(),
    run_id: nullable(text()),
    event_type: text(),
    created_at: number(),
    data: sealedJson(),
  },
  {
    key: ['tenant_id', 'position'],
    unique: [['tenant_id', 'event_id']],
    identity: ['tenant_id', 'event_id'],
    foreignKeys: [
      '(tenant_id, session_id) references run_sessions (tenant_id, session_id) on delete cascade',
    ],
    indexes: [
      'run_events_by_session (tenant_id, session_id, position)',
      'run_events_by_run (tenant_id, run_id) where run_id is not null',
    ],
  },
)

/** The last position of each tenant. Its row lock orders the writers, so positions become visible in their order. */
export const runEventPositions = table(
  'run_event_positions',
  { tenant_id: tenantId(), position: number() },
  { key: ['tenant_id'], isKeyed: true },
)

/** The sessions that people deleted, for readers of the event stream. Not events, which go with their session. */
export const deletedRunSessions = table(
  'deleted_run_sessions',
  {
    tenant_id: tenantId(),
    /** Of the same order as the positions of events. */
    position: number(),
    session_id: text(),
    created_by: text(),
    deleted_at: number(),
  },
  {
    key: ['tenant_id', 'position'],
    indexes: ['deleted_run_sessions_to_prune (deleted_at)'],
    expiry: [{ where: 'deleted_at < :before', order: 'deleted_at', keep: 'history' }],
  },
)

export type NewRunEvent = Omit<RowOf<typeof runEventRows>, 'position' | 'data'> & { readonly data: Content }

export type RunEventRow = Omit<RowOf<typeof runEventRows>, 'position'> & {
  /** A number that grows with every event of the tenant. A reader that sees an event has seen all lower ones. */
  readonly position: string
}

/** A poll of a runner. */
export interface TakeRunRequest {
  readonly tenant: string
  readonly runner_id: string
  readonly needsHooks: readonly string[]
  readonly lease_ms: number
  readonly now?: number
}

/** A run that a poll took. `prepare`: its start hooks must run first, under the lease. */
export interface TakenRun {
  readonly run: RunRow & Pick<NewRun, 'parameters'>
  readonly next: 'prepare' | 'start'
  readonly lease: string
}

export type RunReport =
  | { readonly report: 'started'; readonly executor_session_id?: string }
  | {
      readonly report: 'ended'
      readonly status: RunEnd
      readonly error?: string
      readonly block_reason?: string
      readonly timed_out?: boolean
      /** The status that the session gets; by the end of the run if omitted. */
      readonly session_status?: RunSessionStatus
    }

/** A run after a report or a stop. `changed` tells whether this call changed it. */
export interface RunChange {
  readonly run: RunRow
  readonly changed: boolean
}

export type RunStore = MethodsOf<
  typeof blueprintOperations &
    typeof runHookOperations &
    typeof runOperations &
    typeof runSessionOperations &
    typeof runStateOperations &
    typeof runnerOperations &
    typeof runEventOperations
>
