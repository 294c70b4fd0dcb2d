import { sql } from 'kysely'
import { isHookError } from '../../../engine/core/error.ts'
import { serverError } from '../../../engine/core/server-errors.ts'
import type { NewRun, RunFilter, RunRow, RunSessionRow, RunStore } from '../../stores/run-store.ts'
import { pageFromRows, readNumberCursor, readTextCursor } from '../page-cursor.ts'
import { isUniqueViolation, type QueryBuilder, type SqlDatabase } from '../sql-database.ts'
import { takePositions } from './run-event-queries.ts'
import { readRun, readRunSession, writeRun } from './run-row.ts'

/** Counts texts that were sealed, after their transaction. */
export type CountSealed = (texts: number) => Promise<void>

type RunQueries = Pick<RunStore, 'createRun' | 'findRun' | 'findRunByKey' | 'findRunOfExecutor' | 'listRuns'>

export function runQueries(db: SqlDatabase, countSealed: CountSealed): RunQueries {
  const findRunByKey: RunQueries['findRunByKey'] = (tenant, key) =>
    db.tenant(tenant, (trx) => findRun(db, trx, { tenant, column: 'key', value: key }))
  return {
    async createRun(run, session, now) {
      try {
        const created = await db.tenant(run.tenant_id, async (trx) => {
          if (run.type === 'resume_session') await resumeSession(db, trx, { run, now })
          else await insertSession(db, trx, { run, session, now })
          return insertRun(db, trx, { run, now })
        })
        await countSealed(1)
        return created
      } catch (error) {
        const mayExist = isUniqueViolation(error) || (isHookError(error) && error.code === 'gateway.conflict')
        const existing = mayExist && run.key !== null ? await findRunByKey(run.tenant_id, run.key) : undefined
        if (existing === undefined) throw error
        return existing
      }
    },

    findRun: (tenant, runId) =>
      db.tenant(tenant, (trx) => findRun(db, trx, { tenant, column: 'run_id', value: runId })),

    findRunByKey,

    findRunOfExecutor: (tenant, executorSessionId) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('run_sessions')
          .innerJoin('runs', (join) =>
            join
              .onRef('runs.tenant_id', '=', 'run_sessions.tenant_id')
              .onRef('runs.session_id', '=', 'run_sessions.session_id'),
          )
          .selectAll('runs')
          .where('run_sessions.tenant_id', '=', tenant)
          .where('run_sessions.executor_session_id', '=', executorSessionId)
          .where('runs.completed_at', 'is', null)
          .orderBy('runs.position', 'desc')
          .executeTakeFirst()
        return row && readRun(db.secrets, row)
      }),

    listRuns: (tenant, filter, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const rows = await selectRuns(db, trx, { tenant, filter })
          .$if(Boolean(cursor), (query) => {
            const { time, key } = readNumberCursor(cursor ?? '')
            return query.where((eb) => eb(eb.refTuple('created_at', 'position'), '<', eb.tuple(time, key)))
          })
          .orderBy('created_at', 'desc')
          .orderBy('position', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.position }))
        return { ...page, rows: page.rows.map((row) => readRun(db.secrets, row)) }
      }),
  }
}

async function findRun(
  db: SqlDatabase,
  trx: QueryBuilder,
  { tenant, column, value }: { tenant: string; column: 'run_id' | 'key'; value: string },
): Promise<RunRow | undefined> {
  const row = await trx
    .selectFrom('runs')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(column, '=', value)
    .executeTakeFirst()
  return row && readRun(db.secrets, row)
}

/** Statuses are literals in the SQL text: a partial index cannot serve a parameter. */
function selectRuns(
  { codec }: SqlDatabase,
  trx: QueryBuilder,
  { tenant, filter }: { tenant: string; filter: RunFilter },
) {
  const { status, agent_name, session_id, parent_session_id, has_hooks, hook_blocked } = filter
  // SQLite has no statistics, so only the most selective filter may choose the index.
  const unindexed = (column: string, value: string) => sql<boolean>`${codec.unindexed(column)} = ${value}`
  const bySession = session_id !== undefined || parent_session_id !== undefined
  return trx
    .selectFrom('runs')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .$if(session_id !== undefined, (query) => query.where('session_id', '=', session_id ?? ''))
    .$if(parent_session_id !== undefined, (query) =>
      session_id === undefined
        ? query.where('parent_session_id', '=', parent_session_id ?? '')
        : query.where(unindexed('parent_session_id', parent_session_id ?? '')),
    )
    .$if(agent_name !== undefined, (query) =>
      bySession
        ? query.where(unindexed('agent_name', agent_name ?? ''))
        : query.where('agent_name', '=', agent_name ?? ''),
    )
    .$if(status !== undefined, (query) =>
      bySession || agent_name !== undefined
        ? query.where(unindexed('status', status ?? ''))
        : query.where(sql<boolean>`status = ${sql.lit(status)}`).where(whenNotCompleted(status)),
    )
    .$if(has_hooks !== undefined, (query) => query.where('hooks', has_hooks ? '>' : '=', sql.lit(0)))
    .$if(hook_blocked !== undefined, (query) =>
      query.where('block_reason', hook_blocked ? 'is not' : 'is', null),
    )
}

/** Repeats the condition of the partial index, because SQLite does not infer it. */
function whenNotCompleted(status: RunFilter['status']) {
  return status === 'completed' ? sql<boolean>`1 = 1` : sql<boolean>`status <> 'completed'`
}

interface RunCreation {
  readonly run: NewRun
  readonly now: number | undefined
}

async function insertRun(db: SqlDatabase, trx: QueryBuilder, { run, now }: RunCreation): Promise<RunRow> {
  const row = await trx
    .insertInto('runs')
    .values({
      ...writeRun(db.secrets, run),
      status: 'pending',
      is_prepared: db.codec.flag(false),
      timed_out: db.codec.flag(false),
      original_parameters: null,
      runner_id: null,
      attempts: 0,
      preparations: 0,
      lease: null,
      lease_ms: null,
      due_at: sql<number>`${db.codec.now(now)} + ${run.claim_within_ms}`,
      error: null,
      block_reason: null,
      hooks: 0,
      finish_pending: db.codec.flag(false),
      finish_due_at: null,
      created_at: db.codec.now(now),
      claimed_at: null,
      started_at: null,
      completed_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return readRun(db.secrets, row)
}

async function insertSession(
  { codec }: SqlDatabase,
  trx: QueryBuilder,
  given: RunCreation & { readonly session: Pick<RunSessionRow, 'hostname' | 'executor_profile'> },
): Promise<void> {
  const { tenant_id, session_id, agent_name, project_dir, parent_session_id, created_by } = given.run
  const { hostname, executor_profile } = given.session
  await trx
    .insertInto('run_sessions')
    .values({
      ...{ tenant_id, session_id, agent_name, project_dir, parent_session_id, created_by },
      ...{ hostname, executor_profile },
      status: 'pending',
      executor_session_id: null,
      created_at: codec.now(given.now),
      last_resumed_at: null,
    })
    .execute()
}

/** A session has one run at a time: two that resume it at once must not both begin. */
async function resumeSession({ codec }: SqlDatabase, trx: QueryBuilder, { run, now }: RunCreation) {
  const { tenant_id, session_id } = run
  const resumed = await trx
    .updateTable('run_sessions')
    .set({ last_resumed_at: codec.now(now), status: 'pending' })
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
    .where('status', 'not in', ['pending', 'running'])
    .returning('session_id')
    .executeTakeFirst()
  if (resumed !== undefined) return
  const busy = await trx
    .selectFrom('run_sessions')
    .select('session_id')
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id)
    .executeTakeFirst()
  if (busy === undefined) throw serverError('gateway.not_found', `there is no session ${session_id}`)
  throw serverError('gateway.conflict', `session ${session_id} is busy`, {
    hint: 'Wait until its run has ended, or stop the run.',
  })
}

type RunSessionQueries = Pick<RunStore, 'findRunSession' | 'listRunSessions' | 'deleteRunSession'>

export function runSessionQueries(db: SqlDatabase): RunSessionQueries {
  return {
    findRunSession: (tenant, sessionId) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('run_sessions')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', sessionId)
          .executeTakeFirst()
        return row && readRunSession(row)
      }),

    listRunSessions: (tenant, { parent_session_id, created_by }, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        let query = trx.selectFrom('run_sessions').selectAll().where('tenant_id', '=', tenant)
        if (parent_session_id !== undefined) query = query.where('parent_session_id', '=', parent_session_id)
        if (created_by !== undefined)
          query =
            parent_session_id === undefined
              ? query.where('created_by', '=', created_by)
              : query.where(sql<boolean>`${db.codec.unindexed('created_by')} = ${created_by}`)
        if (cursor) {
          const { time, key } = readTextCursor(cursor)
          query = query.where((eb) => eb(eb.refTuple('created_at', 'session_id'), '<', eb.tuple(time, key)))
        }
        const rows = await query
          .orderBy('created_at', 'desc')
          .orderBy('session_id', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.session_id }))
        return { ...page, rows: page.rows.map(readRunSession) }
      }),

    deleteRunSession: (tenant, sessionId, now) =>
      db.tenant(tenant, async (trx) => {
        // First, as writers of events do: two transactions that lock in different orders would deadlock.
        const position = await takePositions(trx, tenant, 1)
        const deleted = await trx
          .deleteFrom('run_sessions')
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', sessionId)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('runs')
                  .select('run_id')
                  .where('runs.tenant_id', '=', tenant)
                  .where('runs.session_id', '=', sessionId)
                  .where((eb) =>
                    eb.or([eb('completed_at', 'is', null), eb('finish_pending', '=', db.codec.flag(true))]),
                  ),
              ),
            ),
          )
          .returning('created_by')
          .executeTakeFirst()
        if (deleted === undefined) return false
        await trx
          .insertInto('deleted_run_sessions')
          .values({
            ...{ tenant_id: tenant, position, session_id: sessionId, created_by: deleted.created_by },
            deleted_at: db.codec.now(now),
          })
          .execute()
        return true
      }),
  }
}
