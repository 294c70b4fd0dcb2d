/** How runs change their state after a poll took them: preparation, reports, stops and the repair of abandoned runs. */
import { sql, type UpdateObject } from 'kysely'
import { runPath } from '../../paths.ts'
import type {
  RunChange,
  RunEnd,
  RunReport,
  RunRow,
  RunSessionStatus,
  RunStore,
} from '../../stores/run-store.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import type { CountSealed } from './run-queries.ts'
import { readRun, type StoredRun, sealRunParameters, sealRunText } from './run-row.ts'

const NO_RUNNER = 'No matching runner available within timeout'
/** A node has this long to finish a run before another node tries. */
export const FINISH_WITHIN_MS = 10_000

type RunStateQueries = Pick<
  RunStore,
  | 'extendPreparation'
  | 'endPreparation'
  | 'reportRun'
  | 'stopRun'
  | 'takeUnfinishedRuns'
  | 'confirmFinish'
  | 'expireRuns'
>

export function runStateQueries(db: SqlDatabase, countSealed: CountSealed): RunStateQueries {
  return {
    ...preparationQueries(db, countSealed),

    async reportRun(tenant, runId, runner_id, report, now) {
      const change = await db.tenant(tenant, async (trx) => {
        const row = await lockRun(db, trx, { tenant, runId })
        if (row === undefined || (runner_id !== null && row.runner_id !== runner_id)) return undefined
        return report.report === 'started'
          ? recordStart(db, trx, { row, report, now })
          : recordEnd(db, trx, { row, end: report, now })
      })
      if (report.report === 'ended' && change?.changed) await countSealed(2)
      return change
    },

    stopRun: (tenant, runId, now) =>
      db.tenant(tenant, async (trx) => {
        const row = await lockRun(db, trx, { tenant, runId })
        if (row === undefined) return undefined
        if (row.status === 'pending' || row.status === 'preparing')
          return recordEnd(db, trx, { row, end: { status: 'stopped' }, now })
        if (row.status !== 'claimed' && row.status !== 'running') return unchanged(db, row)
        const due_at = sql<number>`${db.codec.now(now)} + ${row.lease_ms ?? 0}`
        return changed(db, await updateRun(trx, row, { status: 'stopping', due_at }))
      }),

    takeUnfinishedRuns: (limit, now) =>
      db.system(async (trx) => {
        const time = db.codec.now(now)
        const due = trx
          .selectFrom('runs')
          .select('position')
          .where(sql<boolean>`finish_pending = ${sql.lit(db.codec.flag(true))}`)
          .where(sql<boolean>`finish_due_at <= ${time}`)
          .orderBy('finish_due_at')
          .limit(limit)
          .$if(db.dialect === 'postgres', (query) => query.forUpdate().skipLocked())
        const rows = await trx
          .updateTable('runs')
          .set({ finish_due_at: sql<number>`${time} + ${FINISH_WITHIN_MS}` })
          .where('position', 'in', due)
          .returningAll()
          .execute()
        rows.sort((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0) || a.position - b.position)
        return rows.map((row) => readRun(db.secrets, row))
      }),

    confirmFinish: (tenant, runId) =>
      db.tenant(tenant, async (trx) => {
        await trx
          .updateTable('runs')
          .set({ finish_pending: db.codec.flag(false) })
          .where('tenant_id', '=', tenant)
          .where('run_id', '=', runId)
          .where('completed_at', 'is not', null)
          .execute()
      }),

    async expireRuns({ max_attempts, limit, now: given }) {
      const runs = await db.system(async (trx) => {
        const now = await readNow(trx, db, given)
        const due = await trx
          .selectFrom('runs')
          .selectAll()
          .where('due_at', '<=', now)
          .orderBy('due_at')
          .limit(limit)
          .$if(db.dialect === 'postgres', (query) => query.forUpdate().skipLocked())
          .execute()
        const repaired: RunRow[] = []
        for (const row of due) repaired.push(await repairRun(db, trx, { row, max_attempts, now }))
        return repaired
      })
      if (runs.length > 0) await countSealed(runs.length)
      return runs
    },
  }
}

type PreparationQueries = Pick<RunStore, 'extendPreparation' | 'endPreparation'>

function preparationQueries(db: SqlDatabase, countSealed: CountSealed): PreparationQueries {
  const { codec, secrets } = db
  return {
    extendPreparation: (tenant, runId, lease, lease_ms, now) =>
      db.tenant(tenant, async (trx) => {
        const extended = await trx
          .updateTable('runs')
          .set({ lease_ms, due_at: sql<number>`${codec.now(now)} + ${lease_ms}` })
          .where('tenant_id', '=', tenant)
          .where('run_id', '=', runId)
          .where('status', '=', 'preparing')
          .where('lease', '=', lease)
          .returning('run_id')
          .executeTakeFirst()
        return extended !== undefined
      }),

    async endPreparation(tenant, runId, { lease, parameters, now }) {
      const ended = await db.tenant(tenant, async (trx) => {
        const row = await lockRun(db, trx, { tenant, runId })
        if (row?.status !== 'preparing' || row.lease !== lease) return false
        const content =
          parameters === undefined
            ? {}
            : {
                parameters: sealRunParameters(secrets, { ...row, parameters }, 'parameters'),
                original_parameters: row.original_parameters ?? sealOriginal(db, row),
              }
        await updateRun(trx, row, {
          ...content,
          ...backToPending(db, row, now),
          is_prepared: codec.flag(true),
        })
        return true
      })
      if (parameters !== undefined) await countSealed(2)
      return ended
    },
  }
}

/** Seals the parameters again, because a sealed text belongs to its column. */
function sealOriginal({ secrets }: SqlDatabase, row: StoredRun): string {
  const { tenant_id, run_id } = row
  const text = secrets.decrypt(row.parameters, runPath(tenant_id, run_id, 'parameters'))
  return secrets.encrypt(text, runPath(tenant_id, run_id, 'original_parameters'))
}

/** Reads a run. On PostgreSQL other transactions wait until this one ends. */
function lockRun(
  db: SqlDatabase,
  trx: QueryBuilder,
  { tenant, runId }: { tenant: string; runId: string },
): Promise<StoredRun | undefined> {
  return trx
    .selectFrom('runs')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('run_id', '=', runId)
    .$if(db.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
}

function updateRun(
  trx: QueryBuilder,
  { position }: StoredRun,
  columns: UpdateObject<Tables, 'runs'>,
): Promise<StoredRun> {
  return trx
    .updateTable('runs')
    .set(columns)
    .where('position', '=', position)
    .returningAll()
    .executeTakeFirstOrThrow()
}

function changed(db: SqlDatabase, row: StoredRun): RunChange {
  return { run: readRun(db.secrets, row), changed: true }
}

function unchanged(db: SqlDatabase, row: StoredRun): RunChange {
  return { run: readRun(db.secrets, row), changed: false }
}

/** The columns of a run that any matching runner may take again. */
function backToPending({ codec }: SqlDatabase, row: StoredRun, now: number | undefined) {
  return {
    status: 'pending',
    runner_id: null,
    lease: null,
    due_at: sql<number>`${codec.now(now)} + ${row.claim_within_ms}`,
    claimed_at: null,
    started_at: null,
  }
}

interface StartRecord {
  readonly row: StoredRun
  readonly report: Extract<RunReport, { report: 'started' }>
  readonly now: number | undefined
}

/** A start that comes while the run stops only tells how the executor knows the session. */
async function recordStart(db: SqlDatabase, trx: QueryBuilder, given: StartRecord): Promise<RunChange> {
  const { row, report, now } = given
  const { executor_session_id } = report
  const isHeld = row.status === 'claimed' || row.status === 'running' || row.status === 'stopping'
  if (isHeld && executor_session_id !== undefined) await updateSession(trx, row, { executor_session_id })
  if (row.status !== 'claimed') return unchanged(db, row)
  await updateSession(trx, row, { status: 'running' })
  const time = db.codec.now(now)
  const due_at = sql<number>`${time} + ${row.lease_ms ?? 0}`
  return changed(db, await updateRun(trx, row, { status: 'running', started_at: time, due_at }))
}

interface EndRecord {
  readonly row: StoredRun
  readonly end: Omit<Extract<RunReport, { report: 'ended' }>, 'report'>
  readonly now: number | undefined
}

const sessionStatusAfter = {
  completed: 'finished',
  failed: 'failed',
  stopped: 'stopped',
} as const satisfies Record<RunEnd, RunSessionStatus>

async function recordEnd(
  db: SqlDatabase,
  trx: QueryBuilder,
  { row, end, now }: EndRecord,
): Promise<RunChange> {
  if (row.completed_at !== null) return unchanged(db, row)
  const ended = await updateRun(trx, row, {
    status: end.status,
    error: sealRunText(db.secrets, row, { column: 'error', text: end.error }),
    block_reason: sealRunText(db.secrets, row, { column: 'block_reason', text: end.block_reason }),
    timed_out: db.codec.flag(end.timed_out ?? false),
    lease: null,
    due_at: null,
    finish_pending: db.codec.flag(true),
    finish_due_at: sql<number>`${db.codec.now(now)} + ${FINISH_WITHIN_MS}`,
    completed_at: db.codec.now(now),
  })
  await updateSession(trx, row, { status: end.session_status ?? sessionStatusAfter[end.status] })
  await hastenCallbacks(db, trx, { row, now })
  return changed(db, ended)
}

/** Children whose callback waited for this session can be finished now. */
async function hastenCallbacks(
  { codec }: SqlDatabase,
  trx: QueryBuilder,
  { row: { tenant_id, session_id }, now }: Pick<EndRecord, 'row' | 'now'>,
): Promise<void> {
  await trx
    .updateTable('runs')
    .set({ finish_due_at: codec.now(now) })
    .where('tenant_id', '=', tenant_id)
    .where('parent_session_id', '=', session_id)
    .where(sql<boolean>`execution_mode = 'async_callback' and finish_pending = ${sql.lit(codec.flag(true))}`)
    .execute()
}

async function updateSession(
  trx: QueryBuilder,
  { tenant_id, session_id }: StoredRun,
  columns: { readonly status?: RunSessionStatus; readonly executor_session_id?: string },
): Promise<void> {
  await trx
    .updateTable('run_sessions')
    .set(columns)
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
    .execute()
}

interface Repair {
  readonly row: StoredRun
  readonly max_attempts: number
  readonly now: number
}

async function repairRun(db: SqlDatabase, trx: QueryBuilder, repair: Repair): Promise<RunRow> {
  const { row, now } = repair
  const end = endOfAbandoned(repair)
  if (end !== undefined) return (await recordEnd(db, trx, { row, end, now })).run
  if (row.status === 'running') await updateSession(trx, row, { status: 'pending' })
  return readRun(db.secrets, await updateRun(trx, row, backToPending(db, row, now)))
}

/** How an abandoned run ends; undefined if a runner may take it again. */
function endOfAbandoned({ row, max_attempts }: Repair): EndRecord['end'] | undefined {
  const { status, attempts, preparations } = row
  if (status === 'pending') return { status: 'failed', error: NO_RUNNER }
  if (status === 'stopping') return { status: 'stopped' }
  if (status === 'preparing')
    return preparations < max_attempts
      ? undefined
      : { status: 'failed', error: `Preparing the run was interrupted ${preparations} times` }
  return attempts < max_attempts
    ? undefined
    : { status: 'failed', error: `The runner of the run was lost ${attempts} times` }
}
