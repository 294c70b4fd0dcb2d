import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import { nowOr, toParameter } from '../../database/postgres/postgres-dialect.ts'
import type { TakeBatch, TakeRequest } from './take-batches.ts'

const PENDING = `from runs where tenant_id = $1 and status = 'pending'`
const NEEDS_HOOKS = 'not r.is_prepared and r.hook_point is null and r.agent_name = any($3::text[])'

/** The changes of a run that is taken. `runner` and `lease` are expressions. */
const claim = (runner: string, lease: string) => `
    status = case when ${NEEDS_HOOKS} then 'preparing' else 'claimed' end,
    runner_id = case when ${NEEDS_HOOKS} then null else ${runner} end,
    preparations = r.preparations + case when ${NEEDS_HOOKS} then 1 else 0 end,
    attempts = r.attempts + case when ${NEEDS_HOOKS} then 0 else 1 end,
    claimed_at = case when ${NEEDS_HOOKS} then null else ${nowOr('$4')} end,
    lease = ${lease}, lease_ms = $6::int8, due_at = ${nowOr('$4')} + $6::int8`

/**
 * The sets of demands that `runner` meets, each with its first run. The index lists the pending runs by demands, and `sets` jumps
 * from one distinct set to the next, so the cost does not depend on the number of runs that the runner cannot execute.
 */
const FITTING = `sets (demand_key, tag_keys) as (
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
    from sets, runner where string_to_array(sets.tag_keys, ',') <@ runner.tag_keys)`

/** The runs of the set `fit`, the oldest first, without those that another poll is taking. */
const lockedRuns = (count: string) => `lateral (
      select position ${PENDING} and demand_key = fit.demand_key and tag_keys = fit.tag_keys
      order by position limit ${count} for update skip locked) locked`

const TAKE_ONE = `with recursive runner as (
    select string_to_array(demand_keys, ',') as demand_keys, string_to_array(tag_keys, ',') as tag_keys from runners
    where tenant_id = $1 and runner_id = $2 and not is_leaving),
  ${FITTING},
  oldest as (
    select locked.position from (select * from fitting order by first) fit, ${lockedRuns('1')} limit 1)
  update runs r set ${claim('$2', '$5')}
  where r.position = (select position from oldest) returning r.*`

/**
 * Runs for all runners that offer the same as the first of `$2`, as long as all their runs have the same demands. The search
 * through the demands costs more than the claim, and here it is made once. Any other runner gets none.
 */
const TAKE_FOR_ALIKE = `with recursive asked as (
    select asked.*, demand_keys, tag_keys from unnest($2::text[], $5::text[]) with ordinality as asked (runner_id, lease, n)
    join runners using (runner_id) where tenant_id = $1 and not is_leaving),
  first_asked as (select * from asked order by n limit 1),
  alike as (
    select asked.runner_id, asked.lease, row_number() over (order by asked.n) as turn from asked, first_asked
    where asked.demand_keys = first_asked.demand_keys and asked.tag_keys = first_asked.tag_keys),
  runner as (
    select string_to_array(demand_keys, ',') as demand_keys, string_to_array(tag_keys, ',') as tag_keys from first_asked),
  ${FITTING},
  oldest as (
    select locked.position from (select * from fitting order by first limit 1) fit,
      ${lockedRuns('(select case when (select count(*) from fitting) = 1 then (select count(*) from alike) else 1 end)')}),
  turns as (select position, row_number() over (order by position) as turn from oldest)
  update runs r set ${claim('alike.runner_id', 'alike.lease')}
  from turns join alike using (turn) where r.position = turns.position returning r.*`

/** The requests of a batch have one tenant. */
export function takeRunsLocked(pool: ConnectionPool): TakeBatch {
  const takeEach = async (requests: readonly TakeRequest[]) => {
    const statements = requests.map(({ tenant, runner_id, needsHooks, lease, lease_ms, now }) => {
      const values = [tenant, toParameter(runner_id), toParameter(needsHooks), now, lease, lease_ms]
      return { name: 'take_run', text: TAKE_ONE, values }
    })
    const answers = await pool.tenantQueries(requests[0]?.tenant ?? '', statements)
    return answers.map(({ rows }) => rows[0])
  }

  return async (requests) => {
    const [first, ...others] = requests
    if (first === undefined || others.length === 0) return takeEach(requests)
    const { tenant, needsHooks, now, lease_ms } = first
    const isAlike = (request: TakeRequest) =>
      request.now === now &&
      request.lease_ms === lease_ms &&
      request.needsHooks.join('\n') === needsHooks.join('\n')
    const alike = requests.filter(isAlike)
    const runners = toParameter(alike.map(({ runner_id }) => runner_id))
    const leases = alike.map(({ lease }) => lease)
    const values = [tenant, runners, toParameter(needsHooks), now, leases, lease_ms]
    const [answer] = await pool.tenantQueries(tenant, [{ name: 'take_runs', text: TAKE_FOR_ALIKE, values }])
    const taken = new Map(answer?.rows.map((row) => [row.lease, row]))
    const left = requests.filter(({ lease }) => !taken.has(lease))
    // What was taken is the runners' own, even if this fails.
    const later = left.length === 0 ? undefined : takeEach(left)
    return requests.map(
      (request) => taken.get(request.lease) ?? later?.then((rows) => rows[left.indexOf(request)]),
    )
  }
}
