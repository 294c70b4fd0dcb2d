import { sql } from 'kysely'
import {
  callAt,
  inTenant,
  inTenantAt,
  inTenantOf,
  operation,
  type Tx,
  timed,
} from '../../database/operation.ts'
import { type Condition, find, insert, type PageRequest, page, update } from '../../database/rows.ts'
import { isUniqueViolation } from '../../database/sql-database.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { RunFilter } from '../methods/run-methods.ts'
import { takePositions } from './run-event-operations.ts'
import { newRunColumns, readRun } from './run-row.ts'
import {
  deletedRunSessions,
  type NewRun,
  type RunRow,
  type RunSessionRow,
  runSessions,
  runs,
} from './run-tables.ts'

type NewSession = Pick<RunSessionRow, 'hostname' | 'executor_profile'>

export const runOperations = {
  /**
   * Creates the run and, for `start_session`, its session. With a key that exists it returns that run and creates nothing.
   * Rejects with `gateway.not_found` if the session to resume does not exist, with `gateway.conflict` if a run of it has not
   * ended, and with `store.taken` if an id exists.
   */
  createRun: operation(
    timed,
    async (call, run: NewRun, session: NewSession, now?: number): Promise<RunRow> => {
      try {
        return await inTenantOf(callAt(call, now), run, async (tx) => {
          if (run.type === 'resume_session') await resumeSession(tx, run)
          else await insertSession(tx, run, session)
          const created = await insert(tx, runs, {
            ...newRunColumns(run),
            due_at: sql`${tx.now()} + ${run.claim_within_ms}`,
            created_at: tx.now(),
          })
          // Without `keep` an insert returns its row.
          return created as RunRow
        })
      } catch (error) {
        const mayExist = isUniqueViolation(error) || (isHookError(error) && error.code === 'gateway.conflict')
        const { tenant_id, key } = run
        const existing =
          mayExist && key !== null
            ? await inTenantOf(call, run, (tx) => find(tx, runs, { tenant_id, key }))
            : undefined
        if (existing === undefined) throw error
        return existing
      }
    },
  ),

  findRun: inTenant((tx, tenant: string, run_id: string) => find(tx, runs, { tenant_id: tenant, run_id })),

  findRunByKey: inTenant((tx, tenant: string, key: string) => find(tx, runs, { tenant_id: tenant, key })),

  /** The run that has not ended in the session that its executor knows by this id. */
  findRunOfExecutor: inTenant(async (tx, tenant: string, executorSessionId: string) => {
    const { rows } = await sql`select runs.* from run_sessions s
      join runs on runs.tenant_id = s.tenant_id and runs.session_id = s.session_id
      where s.tenant_id = ${tenant} and s.executor_session_id = ${executorSessionId} and runs.completed_at is null
      order by runs.position desc limit 1`.execute(tx.trx)
    return rows[0] === undefined ? undefined : readRun(tx.db, rows[0])
  }),

  listRuns: inTenant((tx, tenant: string, filter: RunFilter, request: PageRequest) =>
    page(tx, runs, {
      ...request,
      match: { tenant_id: tenant },
      and: runConditions(tx, filter),
      by: ['created_at', 'position'],
    }),
  ),
}

/**
 * SQLite has no statistics, so only the most selective filter may choose the index. Statuses are literals in the SQL text:
 * a partial index cannot serve a parameter, and SQLite does not infer its condition, which is repeated.
 */
function runConditions({ db: { codec } }: Tx, filter: RunFilter): readonly Condition[] {
  const { status, agent_name, session_id, parent_session_id, has_hooks, hook_blocked } = filter
  const bySession = session_id !== undefined || parent_session_id !== undefined
  const is = (column: string, value: string | undefined, isIndexed: boolean) =>
    value === undefined ? [] : [sql`${isIndexed ? sql.ref(column) : codec.unindexed(column)} = ${value}`]
  const byStatus = sql`status = ${sql.lit(status)} ${status === 'completed' ? sql`` : sql`and status <> 'completed'`}`
  return [
    ...is('session_id', session_id, true),
    ...is('parent_session_id', parent_session_id, session_id === undefined),
    ...is('agent_name', agent_name, !bySession),
    ...(bySession || agent_name !== undefined || status === undefined
      ? is('status', status, false)
      : [byStatus]),
    ...(has_hooks === undefined ? [] : [has_hooks ? sql`hooks > 0` : sql`hooks = 0`]),
    ...(hook_blocked === undefined
      ? []
      : [hook_blocked ? sql`block_reason is not null` : sql`block_reason is null`]),
  ]
}

async function insertSession(tx: Tx, run: NewRun, { hostname, executor_profile }: NewSession): Promise<void> {
  const { tenant_id, session_id, agent_name, project_dir, parent_session_id, created_by } = run
  await insert(tx, runSessions, {
    ...{ tenant_id, session_id, agent_name, project_dir, parent_session_id, created_by },
    ...{ hostname, executor_profile, status: 'pending', created_at: tx.now() },
  })
}

/** A session has one run at a time: two that resume it at once must not both begin. */
async function resumeSession(tx: Tx, { tenant_id, session_id }: NewRun) {
  const key = { tenant_id, session_id }
  const isFree = [sql`status not in ('pending', 'running')`]
  const change = { last_resumed_at: tx.now(), status: 'pending' } as const
  if ((await update(tx, runSessions, key, change, isFree)).length > 0) return
  if ((await find(tx, runSessions, key)) === undefined)
    throw serverError('gateway.not_found', `there is no session ${session_id}`)
  throw serverError('gateway.conflict', `session ${session_id} is busy`, {
    hint: 'Wait until its run has ended, or stop the run.',
  })
}

export const runSessionOperations = {
  findRunSession: inTenant((tx, tenant: string, session_id: string) =>
    find(tx, runSessions, { tenant_id: tenant, session_id }),
  ),

  listRunSessions: inTenant(
    (
      tx,
      tenant: string,
      filter: { readonly parent_session_id?: string; readonly created_by?: string },
      request: PageRequest,
    ) => {
      const { parent_session_id, created_by } = filter
      const isOfParent = parent_session_id !== undefined
      const creator = isOfParent ? tx.db.codec.unindexed('created_by') : sql.ref('created_by')
      return page(tx, runSessions, {
        ...request,
        match: { tenant_id: tenant, ...(isOfParent ? { parent_session_id } : {}) },
        and: created_by === undefined ? [] : [sql`${creator} = ${created_by}`],
        by: ['created_at', 'session_id'],
      })
    },
  ),

  /**
   * Deletes the session with its runs and events, and adds `session_deleted` to the events of the tenant. False if there is
   * none, or if a run has not ended or not confirmed its finish.
   */
  deleteRunSession: inTenantAt(async (tx, tenant: string, session_id: string) => {
    // First, as writers of events do: two transactions that lock in different orders would deadlock.
    const position = await takePositions(tx, tenant, 1)
    const { rows } = await sql<{ created_by: string }>`delete from run_sessions
      where tenant_id = ${tenant} and session_id = ${session_id} and not exists (
        select 1 from runs where runs.tenant_id = ${tenant} and runs.session_id = ${session_id}
          and (completed_at is null or finish_pending))
      returning created_by`.execute(tx.trx)
    const [deleted] = rows
    if (deleted === undefined) return false
    const { created_by } = deleted
    const row = { tenant_id: tenant, position, session_id, created_by, deleted_at: tx.now() }
    await insert(tx, deletedRunSessions, row)
    return true
  }, timed),
}
