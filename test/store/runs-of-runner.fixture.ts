import type { NewRun, RunnerOffer, RunRow, RunStatus } from '../../src/runs/stored/run-tables.ts'
import type { Store } from '../../src/store/store.ts'
import { NOON, newRun, newRunner, newTenant } from './samples.fixture.ts'

export const nowhere = { hostname: null, executor_profile: null }
export const LEASE_MS = 1_000
export const ended = (status: 'completed' | 'failed' | 'stopped') => ({ report: 'ended', status }) as const
export const started = { report: 'started' } as const

/** A tenant with one runner, and short forms of the calls that its tests repeat. */
export async function openRuns(store: Store, offer: Partial<RunnerOffer> = {}) {
  const tenant = await newTenant(store)
  const { runner_id } = await store.registerRunner(newRunner(tenant, offer), NOON)
  const take = (fields: { needsHooks?: readonly string[]; now?: number; runner_id?: string } = {}) =>
    store.takeRun({ tenant, runner_id, needsHooks: [], lease_ms: LEASE_MS, now: NOON, ...fields })
  return {
    tenant,
    runner_id,
    take,
    create: (fields: Partial<NewRun> = {}, now = NOON) =>
      store.createRun(newRun(tenant, fields), nowhere, now),
    find: async (run: RunRow) => (await store.findRun(tenant, run.run_id)) as RunRow,
    session: (run: RunRow) => store.findRunSession(tenant, run.session_id),
    /** Only the changed runs of this tenant, because the sweep repairs those of all. */
    expire: async (now: number, max_attempts = 3) =>
      (await store.expireRuns({ max_attempts, limit: 1_000, now })).filter((run) => run.tenant_id === tenant),
    started: (run: RunRow, now = NOON) => store.reportRun(tenant, run.run_id, runner_id, started, now),
  }
}

/** Brings a new run into a state. */
export async function runIn(
  runs: Awaited<ReturnType<typeof openRuns>>,
  store: Store,
  status: RunStatus,
): Promise<RunRow> {
  const run = await runs.create()
  const report = (given: Parameters<Store['reportRun']>[3]) =>
    store.reportRun(runs.tenant, run.run_id, runs.runner_id, given, NOON)
  if (status === 'preparing') await runs.take({ needsHooks: ['writer'] })
  else if (status !== 'pending') await runs.take()
  if (status === 'running' || status === 'stopping') await report(started)
  if (status === 'stopping') await store.stopRun(runs.tenant, run.run_id, NOON)
  if (status === 'completed' || status === 'failed' || status === 'stopped') await report(ended(status))
  return runs.find(run)
}
