import type { TakeBatch } from '../sql/runs/take-batches.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { nowOr, toParameter } from './postgres-dialect.ts'

const PENDING = `from runs where tenant_id = $1 and status = 'pending'`
const NEEDS_HOOKS = 'not r.is_prepared and r.hook_point is null and r.agent_name = any($3::text[])'

/**
 * The index lists the pending runs by demands. `sets` jumps from one distinct set of demands to the next, so the cost does
 * not depend on the number of runs that the runner cannot execute. Skips rows that another poll is taking.
 */
const TAKE = `with recursive runner as (
    select string_to_array(demand_keys, ',') as demand_keys, string_to_array(tag_keys, ',') as tag_keys from runners
    where tenant_id = $1 and runner_id = $2 and not is_leaving),
  sets (demand_key, tag_keys) as (
    select met.demand_key, first.tag_keys from runner, unnest(runner.demand_keys) as met (demand_key), lateral (
      select tag_keys ${PENDING} and demand_key = met.demand_key order by tag_keys limit 1) first
    union all
    select sets.demand_key, next.tag_keys from sets, lateral (
      select tag_keys ${PENDING} and demand_key = sets.demand_key and tag_keys > sets.tag_keys
      order by tag_keys limit 1) next),
  fitting as (
    select sets.*, (
      select position ${PENDING} and demand_key = sets.demand_key and tag_keys = sets.tag_keys
      order by position limit 1) as first
    from sets, runner where string_to_array(sets.tag_keys, ',') <@ runner.tag_keys),
  oldest as (
    select locked.position from (select * from fitting order by first) fit, lateral (
      select position ${PENDING} and demand_key = fit.demand_key and tag_keys = fit.tag_keys
      order by position limit 1 for update skip locked) locked
    limit 1)
  update runs r set
    status = case when ${NEEDS_HOOKS} then 'preparing' else 'claimed' end,
    runner_id = case when ${NEEDS_HOOKS} then null else $2 end,
    preparations = r.preparations + case when ${NEEDS_HOOKS} then 1 else 0 end,
    attempts = r.attempts + case when ${NEEDS_HOOKS} then 0 else 1 end,
    claimed_at = case when ${NEEDS_HOOKS} then null else ${nowOr('$4')} end,
    lease = $5, lease_ms = $6::int8, due_at = ${nowOr('$4')} + $6::int8
  where r.position = (select position from oldest) returning r.*`

/** The requests of a batch have one tenant. */
export function takeRunsLocked(pool: ConnectionPool): TakeBatch {
  return async (requests) => {
    const statements = requests.map(({ tenant, runner_id, needsHooks, lease, lease_ms, now }) => {
      const values = [tenant, toParameter(runner_id), toParameter(needsHooks), now, lease, lease_ms]
      return { name: 'take_run', text: TAKE, values }
    })
    const answers = await pool.tenantQueries(requests[0]?.tenant ?? '', statements)
    return answers.map(({ rows }) => rows[0])
  }
}
