import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import {
  callAt,
  inSystemAt,
  inTenant,
  inTenantAt,
  operation,
  type Tx,
  timed,
} from '../../database/operation.ts'
import { find, insert, listRows, removeRow, update } from '../../database/rows.ts'
import { offerKeys } from './demand-keys.ts'
import { readRun } from './run-row.ts'
import { reportRun } from './run-state.ts'
import { type RunnerRow, runners, runs, type TakenRun, type TakeRunRequest } from './run-tables.ts'

type NewRunner = Omit<RunnerRow, 'registered_at' | 'last_seen_at' | 'is_leaving'>

/** Literals, because a partial index serves no parameter. */
const isHeld = sql`status in ('claimed', 'running', 'stopping')`

export const runnerOperations = {
  /** Creates or replaces the runner. Replacing ends the leases of its runs, because the process that had them is gone. */
  registerRunner: inTenantAt(async (tx, runner: NewRunner): Promise<RunnerRow> => {
    const { tenant_id, runner_id, ...offer } = runner
    const now = tx.now()
    const times = { registered_at: now, last_seen_at: now }
    const columns = { ...offer, ...offerKeys(runner), ...times, is_leaving: false }
    await endLeases(tx, { tenant_id, runner_id })
    const row = await insert(tx, runners, { tenant_id, runner_id, ...columns }, columns)
    // An insert that replaces always returns its row.
    return row as RunnerRow
  }, timed),

  /** `silent_ms`: since when it was not seen, by the clock of the store. */
  findRunner: inTenantAt(async (tx, tenant: string, runner_id: string) => {
    const row = await find(tx, runners, { tenant_id: tenant, runner_id })
    return row && { ...row, silent_ms: (await tx.time()) - row.last_seen_at }
  }, timed),

  listRunners: inTenant((tx, tenant: string) =>
    listRows(tx, runners, { tenant_id: tenant }, ['registered_at', 'runner_id']),
  ),

  /**
   * Marks the runner as alive and extends the leases of its running runs. A claimed run must report `started` within its
   * first lease, because the answer to the poll may be lost; a stopping run must end within its own. Undefined if the runner
   * is not registered.
   */
  keepRunner: inTenantAt(async (tx, tenant: string, runner_id: string, lease_ms: number) => {
    const key = { tenant_id: tenant, runner_id }
    const [row] = await update(tx, runners, key, { last_seen_at: tx.now() })
    const extended = { lease_ms, due_at: sql`${tx.now()} + ${lease_ms}` }
    if (row !== undefined) await update(tx, runs, { ...key, status: 'running' }, extended, [isHeld])
    return row
  }, timed),

  /** Asks the runner to leave: it gets no more runs. Undefined if it is not registered. */
  markRunnerLeaving: inTenant(
    async (tx, tenant: string, runner_id: string) =>
      (await update(tx, runners, { tenant_id: tenant, runner_id }, { is_leaving: true }))[0],
  ),

  /** Removes the runner and ends the leases of its runs. */
  removeRunner: inTenantAt(async (tx, tenant: string, runner_id: string) => {
    const key = { tenant_id: tenant, runner_id }
    await endLeases(tx, key)
    return removeRow(tx, runners, key)
  }, timed),

  /** Removes the runners of all tenants that are silent for so long. Their leases have ended. Returns how many. */
  removeSilentRunners: inSystemAt(async (tx, silent_ms: number) => {
    const before = (await tx.time()) - silent_ms
    const { rows } =
      await sql`delete from runners where last_seen_at < ${before} returning runner_id`.execute(tx.trx)
    return rows.length
  }, timed),

  /** The sessions of a runner whose runs are `stopping`. */
  stoppingSessions: inTenant(async (tx, tenant: string, runner_id: string) => {
    const stopping = { tenant_id: tenant, runner_id, status: 'stopping' } as const
    return (await listRows(tx, runs, stopping, ['position'], [isHeld])).map((row) => row.session_id)
  }),

  /**
   * Takes the oldest pending run of the tenant whose demands the runner meets. A run that is not prepared becomes
   * `preparing`, a prepared one `claimed` by the runner. `needsHooks` names the agents whose runs have start hooks; runs of
   * others, and runs of hooks, count as prepared. Two polls never take the same run. A run whose parameters cannot be
   * decrypted fails, and the next one is taken.
   */
  takeRun: operation(timed, async (call, given: TakeRunRequest): Promise<TakenRun | undefined> => {
    const request = call.sentAt === undefined ? given : { now: call.sentAt, ...given }
    for (;;) {
      const lease = randomUUID()
      const row = await call.db.statements.takeRun({ ...request, lease })
      if (row === undefined) return undefined
      const run = readRun(call.db, row)
      const next: TakenRun['next'] = run.status === 'preparing' ? 'prepare' : 'start'
      if (run.parameters !== null) return { run: { ...run, parameters: run.parameters }, next, lease }
      await reportRun.run(callAt(call, request.now), request.tenant, run.run_id, null, { ...UNREADABLE_RUN })
    }
  }),
}

/** The runs of a runner that is gone are due at once. */
async function endLeases(tx: Tx, runner: Pick<RunnerRow, 'tenant_id' | 'runner_id'>) {
  await update(tx, runs, runner, { due_at: tx.now() }, [isHeld])
}

const UNREADABLE_RUN = {
  report: 'ended',
  status: 'failed',
  error: 'secret.unreadable: the key that sealed the parameters of the run is gone',
} as const
