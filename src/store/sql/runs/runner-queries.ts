import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { RunnerRow, RunStore, TakenRun } from '../../stores/run-store.ts'
import { type Codec, type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import { offerKeys } from './demand-keys.ts'
import { readRun } from './run-row.ts'

type RunnerQueries = Pick<
  RunStore,
  | 'registerRunner'
  | 'findRunner'
  | 'listRunners'
  | 'keepRunner'
  | 'markRunnerLeaving'
  | 'removeRunner'
  | 'stoppingSessions'
>

export function runnerQueries(db: SqlDatabase): RunnerQueries {
  const { codec } = db
  return {
    registerRunner: (runner, now) =>
      db.tenant(runner.tenant_id, async (trx) => {
        const { tenant_id, runner_id } = runner
        const values = writeRunner(codec, runner, now)
        await endLeases(codec, trx, { tenant_id, runner_id, now })
        const row = await trx
          .insertInto('runners')
          .values({ tenant_id, runner_id, ...values })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'runner_id']).doUpdateSet(values))
          .returningAll()
          .executeTakeFirstOrThrow()
        return readRunner(codec, row)
      }),

    findRunner: (tenant, runnerId, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const row = await trx
          .selectFrom('runners')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .executeTakeFirst()
        return row && { ...readRunner(codec, row), silent_ms: now - row.last_seen_at }
      }),

    listRunners: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('runners')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy('registered_at')
          .orderBy('runner_id')
          .execute()
        return rows.map((row) => readRunner(codec, row))
      }),

    keepRunner: (tenant, runnerId, lease_ms, now) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .updateTable('runners')
          .set({ last_seen_at: codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return undefined
        await trx
          .updateTable('runs')
          .set({ lease_ms, due_at: sql<number>`${codec.now(now)} + ${lease_ms}` })
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .where(sql<boolean>`status in ('claimed', 'running', 'stopping') and status = 'running'`)
          .execute()
        return readRunner(codec, row)
      }),

    markRunnerLeaving: (tenant, runnerId) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .updateTable('runners')
          .set({ is_leaving: codec.flag(true) })
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .returningAll()
          .executeTakeFirst()
        return row && readRunner(codec, row)
      }),

    removeRunner: (tenant, runnerId, now) =>
      db.tenant(tenant, async (trx) => {
        await endLeases(codec, trx, { tenant_id: tenant, runner_id: runnerId, now })
        const deleted = await trx
          .deleteFrom('runners')
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .returning('runner_id')
          .executeTakeFirst()
        return deleted !== undefined
      }),

    stoppingSessions: (tenant, runnerId) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('runs')
          .select('session_id')
          .where('tenant_id', '=', tenant)
          .where('runner_id', '=', runnerId)
          .where(sql<boolean>`status in ('claimed', 'running', 'stopping') and status = 'stopping'`)
          .orderBy('position')
          .execute()
        return rows.map((row) => row.session_id)
      }),
  }
}

interface HeldRuns {
  readonly tenant_id: string
  readonly runner_id: string
  readonly now: number | undefined
}

/** The runs of a runner that is gone are due at once. */
async function endLeases(codec: Codec, trx: QueryBuilder, held: HeldRuns): Promise<void> {
  await trx
    .updateTable('runs')
    .set({ due_at: codec.now(held.now) })
    .where('tenant_id', '=', held.tenant_id)
    .where('runner_id', '=', held.runner_id)
    .where(sql<boolean>`status in ('claimed', 'running', 'stopping')`)
    .execute()
}

type NewRunner = Parameters<RunStore['registerRunner']>[0]

function writeRunner(codec: Codec, runner: NewRunner, now: number | undefined) {
  const { hostname, project_dir, executor_profile, executor_type, tags, registered_by } = runner
  return {
    ...{ hostname, project_dir, executor_profile, executor_type, registered_by },
    tags: codec.list(tags),
    require_matching_tags: codec.flag(runner.require_matching_tags),
    ...offerKeys(runner),
    registered_at: codec.now(now),
    last_seen_at: codec.now(now),
    is_leaving: codec.flag(false),
  }
}

function readRunner(codec: Codec, row: Tables['runners']): RunnerRow {
  const { demand_keys: _, tag_keys: __, ...rest } = row
  return {
    ...rest,
    tags: codec.readList(row.tags),
    require_matching_tags: Boolean(row.require_matching_tags),
    is_leaving: Boolean(row.is_leaving),
  }
}

/** Takes runs until one can be decrypted. The others fail, as their parameters are lost. */
export function takeRun(db: SqlDatabase, reportRun: RunStore['reportRun']): RunStore['takeRun'] {
  return async (request) => {
    const { tenant, now } = request
    for (;;) {
      const lease = randomUUID()
      const row = await db.statements.takeRun({ ...request, lease })
      if (row === undefined) return undefined
      const run = readRun(db.secrets, row)
      const next: TakenRun['next'] = run.status === 'preparing' ? 'prepare' : 'start'
      if (run.parameters !== null) return { run: { ...run, parameters: run.parameters }, next, lease }
      await reportRun(tenant, run.run_id, null, { ...UNREADABLE_RUN }, now)
    }
  }
}

const UNREADABLE_RUN = {
  report: 'ended',
  status: 'failed',
  error: 'secret.unreadable: the key that sealed the parameters of the run is gone',
} as const
