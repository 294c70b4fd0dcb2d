import type { NewHook } from './hook-store.ts'

/** `preparing`: the hooks before its start run. A prepared run is `pending` again until a runner claims it. */
export const runStatuses = [
  ...['pending', 'preparing', 'claimed', 'running', 'stopping'],
  ...['completed', 'failed', 'stopped'],
] as const

export type RunStatus =
  | 'pending'
  | 'preparing'
  | 'claimed'
  | 'running'
  | 'stopping'
  | 'completed'
  | 'failed'
  | 'stopped'
export type RunEnd = 'completed' | 'failed' | 'stopped'

export interface BlueprintRow {
  readonly tenant_id: string
  readonly name: string
  /** `file` rows follow `agent.json` files and cannot be changed over the API. */
  readonly source: 'stored' | 'file'
  /** The blueprint as it was saved, unknown keys included. */
  readonly definition: Readonly<Record<string, unknown>>
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
}

/** A hook of a blueprint. It applies to the agent with the blueprint's name. */
export type BlueprintHook = Omit<NewHook, 'tenant_id' | 'source' | 'scope' | 'agent_ids'>

export interface NewBlueprint extends Pick<BlueprintRow, 'name' | 'source' | 'definition'> {
  /** Replaces the stored hooks of the blueprint, in the same transaction. A hook keeps its id if it is given again. */
  readonly hooks?: readonly BlueprintHook[]
}

/** A named hook that blueprints refer to with `$ref`. */
export interface RunHookRow {
  readonly tenant_id: string
  readonly name: string
  readonly definition: Readonly<Record<string, unknown>>
  readonly created_at: number
  readonly updated_at: number
}

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

export interface RunnerRow extends RunnerOffer {
  readonly runner_id: string
  readonly tenant_id: string
  /** The name of the token that registered it. */
  readonly registered_by: string
  readonly registered_at: number
  readonly last_seen_at: number
  /** A runner that was asked to leave gets no more runs. */
  readonly is_leaving: boolean
}

export type RunSessionStatus = 'pending' | 'running' | 'idle' | 'finished' | 'failed' | 'stopped'

/** A conversation of one agent. Its first run starts it, later runs resume it. */
export interface RunSessionRow {
  readonly session_id: string
  readonly tenant_id: string
  readonly status: RunSessionStatus
  readonly agent_name: string | null
  readonly project_dir: string | null
  readonly parent_session_id: string | null
  /** How the executor knows the session, for resuming it. */
  readonly executor_session_id: string | null
  readonly executor_profile: string | null
  readonly hostname: string | null
  readonly created_by: string
  readonly created_at: number
  readonly last_resumed_at: number | null
}

/** What a run has in place of its blueprint. */
export interface RunOverrides {
  readonly tools?: readonly string[]
  readonly model?: string
}

export interface NewRun {
  readonly run_id: string
  readonly tenant_id: string
  readonly session_id: string
  readonly type: 'start_session' | 'resume_session'
  readonly agent_name: string | null
  /** Sealed when stored, like every content of a run. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly project_dir: string | null
  readonly parent_session_id: string | null
  /** The run whose hook or rule started this one. */
  readonly parent_run_id: string | null
  readonly execution_mode: 'sync' | 'async_poll' | 'async_callback'
  readonly demands: RunDemands
  /** The point of the run hook that this run serves. Such a run fires no run hooks itself. */
  readonly hook_point: string | null
  readonly depth: number
  /** Unique within the tenant: a second run with the same key is not created. */
  readonly key: string | null
  readonly created_by: string
  /** Without a runner by then, the run fails. */
  readonly claim_within_ms: number
  readonly overrides?: RunOverrides
}

export interface RunRow extends Omit<NewRun, 'key' | 'claim_within_ms' | 'parameters'> {
  /** Null if the key that sealed them is gone. */
  readonly parameters: Readonly<Record<string, unknown>> | null
  readonly status: RunStatus
  /** Its start hooks have run. */
  readonly is_prepared: boolean
  /** What the caller sent, if a hook changed `parameters`. */
  readonly original_parameters: Readonly<Record<string, unknown>> | null
  readonly runner_id: string | null
  /** How often a runner claimed it. */
  readonly attempts: number
  readonly error: string | null
  /** The reason of the hook that blocked it. */
  readonly block_reason: string | null
  /** It failed because it took too long. */
  readonly timed_out: boolean
  /** How many `hook_start` events it has. */
  readonly hooks: number
  readonly created_at: number
  readonly claimed_at: number | null
  readonly started_at: number | null
  readonly completed_at: number | null
}

/** One line of a session: progress, messages, tool calls, results, and what run hooks did. */
export interface NewRunEvent {
  readonly event_id: string
  readonly tenant_id: string
  readonly session_id: string
  readonly run_id: string | null
  readonly event_type: string
  readonly created_at: number
  /** Sealed when stored. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface RunEventRow extends Omit<NewRunEvent, 'data'> {
  /** A number that grows with every event of the tenant. A reader that sees an event has seen all lower ones. */
  readonly position: string
  /** Null if the key that sealed them is gone. */
  readonly data: Readonly<Record<string, unknown>> | null
}

export interface RunFilter {
  readonly status?: RunStatus
  readonly agent_name?: string
  readonly session_id?: string
  readonly parent_session_id?: string
  readonly has_hooks?: boolean
  readonly hook_blocked?: boolean
}

type Page = { readonly cursor?: string; readonly limit: number }

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

/** Agents that can be started, their runs, and the runners that execute them. Without `now`, the clock of the store. */
export interface RunStore {
  /** Creates or replaces. With `version`, only if the stored one has it (0: only if there is none). Undefined if it does not. */
  saveBlueprint(
    tenant: string,
    blueprint: NewBlueprint,
    version?: number,
    now?: number,
  ): Promise<BlueprintRow | undefined>
  findBlueprint(tenant: string, name: string): Promise<BlueprintRow | undefined>
  listBlueprints(tenant: string): Promise<readonly BlueprintRow[]>
  /** Deletes the blueprint and its hooks. */
  deleteBlueprint(tenant: string, name: string): Promise<boolean>
  /** Creates the hook if `isNew`, else replaces it. Undefined if it exists already, or does not exist. */
  saveRunHook(
    tenant: string,
    hook: Pick<RunHookRow, 'name' | 'definition'>,
    isNew: boolean,
    now?: number,
  ): Promise<RunHookRow | undefined>
  findRunHook(tenant: string, name: string): Promise<RunHookRow | undefined>
  listRunHooks(tenant: string): Promise<readonly RunHookRow[]>
  deleteRunHook(tenant: string, name: string): Promise<boolean>

  /**
   * Creates the run and, for `start_session`, its session. With a key that exists it returns that run and creates nothing.
   * Rejects with `gateway.not_found` if the session to resume does not exist, with `gateway.conflict` if a run of it has not
   * ended, and with `store.taken` if an id exists.
   */
  createRun(
    run: NewRun,
    session: Pick<RunSessionRow, 'hostname' | 'executor_profile'>,
    now?: number,
  ): Promise<RunRow>
  findRun(tenant: string, runId: string): Promise<RunRow | undefined>
  findRunByKey(tenant: string, key: string): Promise<RunRow | undefined>
  /** The run that has not ended in the session that its executor knows by this id. */
  findRunOfExecutor(tenant: string, executorSessionId: string): Promise<RunRow | undefined>
  listRuns(
    tenant: string,
    filter: RunFilter,
    page: Page,
  ): Promise<{ readonly rows: readonly RunRow[]; readonly nextCursor: string }>
  findRunSession(tenant: string, sessionId: string): Promise<RunSessionRow | undefined>
  listRunSessions(
    tenant: string,
    filter: { readonly parent_session_id?: string; readonly created_by?: string },
    page: Page,
  ): Promise<{ readonly rows: readonly RunSessionRow[]; readonly nextCursor: string }>
  /**
   * Deletes the session with its runs and events, and adds `session_deleted` to the events of the tenant. False if there is
   * none, or if a run has not ended or not confirmed its finish.
   */
  deleteRunSession(tenant: string, sessionId: string, now?: number): Promise<boolean>

  /**
   * Takes the oldest pending run of the tenant whose demands the runner meets. A run that is not prepared becomes
   * `preparing`, a prepared one `claimed` by the runner. `needsHooks` names the agents whose runs have start hooks; runs of
   * others, and runs of hooks, count as prepared. Two polls never take the same run. A run whose parameters cannot be
   * decrypted fails, and the next one is taken.
   */
  takeRun(request: {
    readonly tenant: string
    readonly runner_id: string
    readonly needsHooks: readonly string[]
    readonly lease_ms: number
    readonly now?: number
  }): Promise<TakenRun | undefined>
  /** Keeps a run that is being prepared. False if the lease was lost. */
  extendPreparation(
    tenant: string,
    runId: string,
    lease: string,
    lease_ms: number,
    now?: number,
  ): Promise<boolean>
  /** Ends the preparation: the run is pending again, with other parameters if given. False if the lease was lost. */
  endPreparation(
    tenant: string,
    runId: string,
    end: {
      readonly lease: string
      readonly parameters?: Readonly<Record<string, unknown>>
      readonly now?: number
    },
  ): Promise<boolean>
  /**
   * Applies what a runner or the coordinator reports. `runner_id` must hold the run, unless the coordinator itself reports
   * (null); otherwise the answer is undefined. A repeated report changes nothing and returns the run as it is. `started`
   * begins a new lease. A run that ended is taken by
   * `takeUnfinishedRuns` until `confirmFinish`.
   */
  reportRun(
    tenant: string,
    runId: string,
    runner_id: string | null,
    report: RunReport,
    now?: number,
  ): Promise<RunChange | undefined>
  /**
   * A pending or preparing run stops at once; a claimed or running one becomes `stopping` until its runner reports, for one
   * lease at most.
   */
  stopRun(tenant: string, runId: string, now?: number): Promise<RunChange | undefined>
  /**
   * Takes ended runs of all tenants whose finish was not confirmed, oldest first, for ten seconds: two nodes do not
   * finish the same run at the same time. The node that ended a run has the first ten. A callback that waits for its parent
   * session is due as soon as a run of that session has ended.
   */
  takeUnfinishedRuns(limit: number, now?: number): Promise<readonly RunRow[]>
  confirmFinish(tenant: string, runId: string): Promise<void>

  /** Creates or replaces the runner. Replacing ends the leases of its runs, because the process that had them is gone. */
  registerRunner(
    runner: Omit<RunnerRow, 'registered_at' | 'last_seen_at' | 'is_leaving'>,
    now?: number,
  ): Promise<RunnerRow>
  /** `silent_ms`: since when it was not seen, by the clock of the store. */
  findRunner(
    tenant: string,
    runnerId: string,
    now?: number,
  ): Promise<(RunnerRow & { readonly silent_ms: number }) | undefined>
  listRunners(tenant: string): Promise<readonly RunnerRow[]>
  /**
   * Marks the runner as alive and extends the leases of its running runs. A claimed run must report `started` within its
   * first lease, because the answer to the poll may be lost; a stopping run must end within its own. Undefined if the runner
   * is not registered.
   */
  keepRunner(tenant: string, runnerId: string, lease_ms: number, now?: number): Promise<RunnerRow | undefined>
  /** Asks the runner to leave: it gets no more runs. Undefined if it is not registered. */
  markRunnerLeaving(tenant: string, runnerId: string): Promise<RunnerRow | undefined>
  /** Removes the runner and ends the leases of its runs. */
  removeRunner(tenant: string, runnerId: string, now?: number): Promise<boolean>
  /** The sessions of a runner whose runs are `stopping`. */
  stoppingSessions(tenant: string, runnerId: string): Promise<readonly string[]>
  /**
   * Repairs what was abandoned, in all tenants: a run whose lease ran out is pending again, or failed after
   * `max_attempts`, or stopped if it was `stopping`; a run that no runner claimed in time fails. A run that is pending
   * again has its whole `claim_within_ms`. Returns the changed runs, at most `limit`.
   */
  expireRuns(limits: {
    readonly max_attempts: number
    readonly limit: number
    readonly now?: number
  }): Promise<readonly RunRow[]>

  /** Appends the events, all or nothing. Existing event ids stay as they are. Rejects if the session does not exist. */
  appendRunEvents(events: readonly NewRunEvent[]): Promise<void>
  listRunEvents(
    tenant: string,
    filter: { readonly session_id: string },
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly RunEventRow[]>
  /** Events of a tenant after a position, in the order of positions; without `after`, no rows and the position of now. */
  tailRunEvents(
    tenant: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly rows: readonly RunEventRow[]; readonly position: string }>
}
