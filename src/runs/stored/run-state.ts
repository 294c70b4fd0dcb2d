/** How runs change their state after a poll took them: preparation, reports, stops and the repair of abandoned runs. */
import { sql } from 'kysely'
import {
  callAt,
  inSystemAt,
  inSystemOf,
  inTenant,
  inTenantAt,
  inTenantOf,
  operation,
  type Tx,
  timed,
} from '../../database/operation.ts'
import { type Changes, lockRow, lockRows, readRows, update } from '../../database/rows.ts'
import { shownRun, type WholeRun } from './run-row.ts'
import {
  FINISH_WITHIN_MS,
  type RunChange,
  type RunEnd,
  type RunReport,
  type RunRow,
  type RunSessionStatus,
  runSessions,
  runs,
} from './run-tables.ts'

const NO_RUNNER = 'No matching runner available within timeout'

export interface PreparationEnd {
  readonly lease: string
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly now?: number
}

/**
 * Applies what a runner or the coordinator reports. `runner_id` must hold the run, unless the coordinator itself reports
 * (null); otherwise the answer is undefined. A repeated report changes nothing and returns the run as it is. `started`
 * begins a new lease. A run that ended is taken by `takeUnfinishedRuns` until `confirmFinish`.
 */
export const reportRun = inTenantAt(
  async (
    tx,
    tenant: string,
    run_id: string,
    runner_id: string | null,
    report: RunReport,
  ): Promise<RunChange | undefined> => {
    const row = await lockRow(tx, runs, { tenant_id: tenant, run_id })
    if (row === undefined || (runner_id !== null && row.runner_id !== runner_id)) return undefined
    return report.report === 'started' ? recordStart(tx, row, report) : recordEnd(tx, row, report)
  },
  timed,
)

export const runStateOperations = {
  reportRun,

  /** Keeps a run that is being prepared. False if the lease was lost. */
  extendPreparation: inTenantAt(
    async (tx, tenant: string, run_id: string, lease: string, lease_ms: number) => {
      const held = { tenant_id: tenant, run_id, status: 'preparing', lease } as const
      const due_at = sql`${tx.now()} + ${lease_ms}`
      return (await update(tx, runs, held, { lease_ms, due_at })).length > 0
    },
    timed,
  ),

  /** Ends the preparation: the run is pending again, with other parameters if given. False if the lease was lost. */
  endPreparation: operation(
    timed,
    (call, tenant: string, run_id: string, { lease, parameters, now }: PreparationEnd) =>
      inTenantOf(callAt(call, now), tenant, async (tx) => {
        const row = await lockRow(tx, runs, { tenant_id: tenant, run_id })
        if (row?.status !== 'preparing' || row.lease !== lease) return false
        const original_parameters = row.original_parameters ?? row.parameters
        const changed = parameters === undefined ? {} : { parameters, original_parameters }
        await updateRun(tx, row, { ...changed, ...backToPending(tx, row), is_prepared: true })
        return true
      }),
  ),

  /**
   * A pending or preparing run stops at once; a claimed or running one becomes `stopping` until its runner reports, for one
   * lease at most.
   */
  stopRun: inTenantAt(async (tx, tenant: string, run_id: string): Promise<RunChange | undefined> => {
    const row = await lockRow(tx, runs, { tenant_id: tenant, run_id })
    if (row === undefined) return undefined
    if (row.status === 'pending' || row.status === 'preparing')
      return recordEnd(tx, row, { status: 'stopped' })
    if (row.status !== 'claimed' && row.status !== 'running') return unchanged(row)
    return changed(await updateRun(tx, row, { status: 'stopping', due_at: afterLease(tx, row) }))
  }, timed),

  /** Stops the runs of a session that no runner has taken yet. Returns those that it stopped. */
  stopWaitingRuns: inTenantAt(async (tx, tenant: string, session_id: string): Promise<readonly RunRow[]> => {
    const isWaiting = [sql`status in ('pending', 'preparing')`]
    const stopped: RunRow[] = []
    for (const row of await lockRows(tx, runs, { tenant_id: tenant, session_id }, isWaiting))
      stopped.push((await recordEnd(tx, row, { status: 'stopped' })).run)
    return stopped
  }, timed),

  /**
   * Takes ended runs of all tenants whose finish was not confirmed, oldest first, for ten seconds: two nodes do not
   * finish the same run at the same time. The node that ended a run has the first ten. A callback that waits for its parent
   * session is due as soon as a run of that session has ended.
   */
  takeUnfinishedRuns: inSystemAt(async (tx, limit: number): Promise<readonly RunRow[]> => {
    const now = tx.now()
    const { rows } =
      await sql`update runs set finish_due_at = ${now} + ${FINISH_WITHIN_MS} where position in (
        select position from runs where finish_pending = ${isTrue(tx)} and finish_due_at <= ${now}
        order by finish_due_at limit ${limit} ${skipLocked(tx)})
      returning *`.execute(tx.trx)
    return readRows<typeof runs, WholeRun>(tx, runs, rows)
      .sort((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0) || a.position - b.position)
      .map(shownRun)
  }, timed),

  confirmFinish: inTenant(async (tx, tenant: string, run_id: string): Promise<void> => {
    const key = { tenant_id: tenant, run_id }
    await update(tx, runs, key, { finish_pending: false }, [sql`completed_at is not null`])
  }),

  /**
   * Repairs what was abandoned, in all tenants: a run whose lease ran out is pending again, or failed after
   * `max_attempts`, or stopped if it was `stopping`; a run that no runner claimed in time fails. A run that is pending
   * again has its whole `claim_within_ms`. Returns the changed runs, at most `limit`.
   */
  expireRuns: operation(
    timed,
    (
      call,
      {
        max_attempts,
        limit,
        now,
      }: { readonly max_attempts: number; readonly limit: number; readonly now?: number },
    ): Promise<readonly RunRow[]> =>
      inSystemOf(callAt(call, now), async (tx) => {
        const { rows } =
          await sql`select * from runs where due_at <= ${await tx.time()} order by due_at limit ${limit}
          ${skipLocked(tx)}`.execute(tx.trx)
        const repaired: RunRow[] = []
        for (const row of readRows<typeof runs, WholeRun>(tx, runs, rows))
          repaired.push(await repairRun(tx, row, max_attempts))
        return repaired
      }),
  ),
}

/** A literal, because a partial index serves no parameter. */
function isTrue({ db }: Tx) {
  return sql.lit(db.codec.flag(true))
}

function skipLocked({ db }: Tx) {
  return db.dialect === 'postgres' ? sql`for update skip locked` : sql``
}

async function updateRun(tx: Tx, row: WholeRun, changes: Changes<typeof runs>): Promise<RunRow> {
  const { tenant_id, run_id } = row
  const [updated] = await update(tx, runs, { tenant_id, run_id }, changes)
  // Its transaction has locked the row.
  return updated as RunRow
}

function changed(run: RunRow): RunChange {
  return { run, changed: true }
}

function unchanged(row: WholeRun): RunChange {
  return { run: shownRun(row), changed: false }
}

function afterLease(tx: Tx, { lease_ms }: WholeRun) {
  return sql`${tx.now()} + ${lease_ms ?? 0}`
}

/** The columns of a run that any matching runner may take again. */
function backToPending(tx: Tx, row: WholeRun): Changes<typeof runs> {
  return {
    status: 'pending',
    runner_id: null,
    lease: null,
    due_at: sql`${tx.now()} + ${row.claim_within_ms}`,
    claimed_at: null,
    started_at: null,
  }
}

/** A start that comes while the run stops only tells how the executor knows the session. */
async function recordStart(
  tx: Tx,
  row: WholeRun,
  { executor_session_id }: Extract<RunReport, { report: 'started' }>,
): Promise<RunChange> {
  const isHeld = row.status === 'claimed' || row.status === 'running' || row.status === 'stopping'
  if (isHeld && executor_session_id !== undefined) await updateSession(tx, row, { executor_session_id })
  if (row.status !== 'claimed') return unchanged(row)
  await updateSession(tx, row, { status: 'running' })
  const due_at = afterLease(tx, row)
  return changed(await updateRun(tx, row, { status: 'running', started_at: tx.now(), due_at }))
}

type End = Omit<Extract<RunReport, { report: 'ended' }>, 'report'>

const sessionStatusAfter = {
  completed: 'finished',
  failed: 'failed',
  stopped: 'stopped',
} as const satisfies Record<RunEnd, RunSessionStatus>

async function recordEnd(tx: Tx, row: WholeRun, end: End): Promise<RunChange> {
  if (row.completed_at !== null) return unchanged(row)
  const ended = await updateRun(tx, row, {
    status: end.status,
    error: end.error ?? null,
    block_reason: end.block_reason ?? null,
    timed_out: end.timed_out ?? false,
    lease: null,
    due_at: null,
    finish_pending: true,
    finish_due_at: sql`${tx.now()} + ${FINISH_WITHIN_MS}`,
    completed_at: tx.now(),
  })
  await updateSession(tx, row, { status: end.session_status ?? sessionStatusAfter[end.status] })
  // Children whose callback waited for this session can be finished now.
  const children = { tenant_id: row.tenant_id, parent_session_id: row.session_id }
  await update(tx, runs, children, { finish_due_at: tx.now() }, [
    sql`execution_mode = 'async_callback' and finish_pending = ${isTrue(tx)}`,
  ])
  return changed(ended)
}

async function updateSession(
  tx: Tx,
  { tenant_id, session_id }: WholeRun,
  changes: Changes<typeof runSessions>,
): Promise<void> {
  await update(tx, runSessions, { tenant_id, session_id }, changes)
}

async function repairRun(tx: Tx, row: WholeRun, maxAttempts: number): Promise<RunRow> {
  const end = endOfAbandoned(row, maxAttempts)
  if (end !== undefined) return (await recordEnd(tx, row, end)).run
  if (row.status === 'running') await updateSession(tx, row, { status: 'pending' })
  return updateRun(tx, row, backToPending(tx, row))
}

/** How an abandoned run ends; undefined if a runner may take it again. */
function endOfAbandoned({ status, attempts, preparations }: WholeRun, maxAttempts: number): End | undefined {
  if (status === 'pending') return { status: 'failed', error: NO_RUNNER }
  if (status === 'stopping') return { status: 'stopped' }
  if (status === 'preparing')
    return preparations < maxAttempts
      ? undefined
      : { status: 'failed', error: `Preparing the run was interrupted ${preparations} times` }
  return attempts < maxAttempts
    ? undefined
    : { status: 'failed', error: `The runner of the run was lost ${attempts} times` }
}
