import type { DatabaseSync } from 'node:sqlite'
import { prepareTransaction } from '../../database/sqlite/prepared-statement.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import type { TakeBatch } from './take-batches.ts'

const PENDING = `from runs where tenant_id = :tenant and status = 'pending'`
const NEEDS_HOOKS =
  'is_prepared = 0 and hook_point is null and agent_name in (select value from json_each(:needs_hooks))'

/** A list of keys as rows. Keys have no character that JSON would escape. */
const rowsOf = (keys: string) => `json_each('["' || replace(${keys}, ',', '","') || '"]')`
const isOffered = `value in (select value from ${rowsOf('runner.tag_keys')})`

/**
 * The index lists the pending runs by demands. `sets` jumps from one distinct set of demands to the next, so the cost does
 * not depend on the number of runs that the runner cannot execute.
 */
const TAKE = `update runs set
    status = case when ${NEEDS_HOOKS} then 'preparing' else 'claimed' end,
    runner_id = case when ${NEEDS_HOOKS} then null else :runner end,
    preparations = preparations + case when ${NEEDS_HOOKS} then 1 else 0 end,
    attempts = attempts + case when ${NEEDS_HOOKS} then 0 else 1 end,
    claimed_at = case when ${NEEDS_HOOKS} then null else :now end,
    lease = :lease, lease_ms = :lease_ms, due_at = :now + :lease_ms
  where position = (
    with recursive runner as (
      select demand_keys, tag_keys from runners
      where tenant_id = :tenant and runner_id = :runner and is_leaving = 0),
    sets (demand_key, tag_keys) as (
      select value, (select tag_keys ${PENDING} and demand_key = value order by tag_keys limit 1)
      from runner, ${rowsOf('runner.demand_keys')}
      union all
      select demand_key, (
        select runs.tag_keys ${PENDING} and runs.demand_key = sets.demand_key and runs.tag_keys > sets.tag_keys
        order by runs.tag_keys limit 1)
      from sets where tag_keys is not null)
    select min((
      select position ${PENDING} and runs.demand_key = sets.demand_key and runs.tag_keys = sets.tag_keys
      order by position limit 1))
    from sets, runner where sets.tag_keys is not null
      and (sets.tag_keys = '' or not exists (select 1 from ${rowsOf('sets.tag_keys')} where not ${isOffered})))
  returning *`

export function prepareTakeRuns(
  database: DatabaseSync,
): (requests: Parameters<TakeBatch>[0]) => Awaited<ReturnType<TakeBatch>> {
  const take = database.prepare(TAKE)
  const transaction = prepareTransaction(database)
  const takeOne = (request: Parameters<TakeBatch>[0][number]) => {
    const { tenant, runner_id, needsHooks, lease, lease_ms, now = systemClock.now() } = request
    const names = { tenant, runner: runner_id, needs_hooks: JSON.stringify(needsHooks), lease, lease_ms, now }
    const [row] = take.all(names)
    return row
  }
  return (requests) => transaction(() => requests.map(takeOne))
}
