import { describe, expect, test } from 'vitest'
import { type GatewayProcess, homeOn } from './crash.fixture.ts'
import { bothDatabases, runsOf } from './runs.fixture.ts'

const HANG = 180_000
const options = { edition: 'standard', runs: { leaseMs: 4_000, pollMs: 200 } } as const
const causes = ['their runner is gone', 'their coordinator is killed', 'their runner is removed'] as const

/** A runner that is only a client. */
async function clientRunner(gateway: GatewayProcess) {
  const { ok } = runsOf(gateway)
  const offer = { hostname: 'here', project_dir: '', executor_profile: 'p' }
  const { runner_id } = await ok('POST', '/runner/register', offer)
  const report = (run_id: string, what: string, fields = {}) =>
    ok('POST', `/runner/runs/${run_id}/${what}`, { runner_id, ...fields })
  return {
    runner_id,
    report,
    poll: async () => (await ok('GET', `/runner/runs?runner_id=${runner_id}`)).run,
  }
}

/** One run in each state in which a run waits for somebody. */
async function runsInEveryState(gateway: GatewayProcess) {
  const { ok, start, run } = runsOf(gateway)
  const blueprint = { type: 'procedural', executor: { profile: 'p' } }
  const hook = { type: 'agent', agent_name: 'check', on_error: 'block' }
  await ok('POST', '/agents', { name: 'plain', ...blueprint })
  await ok('POST', '/agents', { name: 'check', ...blueprint })
  await ok('POST', '/agents', { name: 'guarded', ...blueprint, hooks: { on_run_start: hook } })
  const runner = await clientRunner(gateway)
  const held = async (agent: string): Promise<string> => {
    const { run_id } = await start(agent)
    await gateway.until(runner.poll, Boolean)
    return run_id
  }
  const running = await held('plain')
  const stopping = await held('plain')
  for (const run_id of [running, stopping]) await runner.report(run_id, 'started')
  const preparing = await held('guarded')
  const claimed = await held('plain')
  await ok('POST', `/runs/${stopping}/stop`, {})
  const { run_id: pending } = await start('plain')
  const ids = { pending, preparing, claimed, running, stopping }
  for (const [status, run_id] of Object.entries(ids)) expect(await run(run_id)).toMatchObject({ status })
  return { ids, runner }
}

/** Executes whatever comes until the runs have ended. */
async function rescue(gateway: GatewayProcess, ids: readonly string[]): Promise<void> {
  const { run } = runsOf(gateway)
  const { poll, report } = await clientRunner(gateway)
  const isOpen = async () =>
    (await Promise.all(ids.map(run))).some(({ completed_at }) => completed_at === null)
  while (await isOpen()) {
    const taken = await poll()
    if (taken === undefined) continue
    await report(taken.run_id, 'started')
    const events = [{ event_type: 'result', data: { result_data: { action: 'continue' } } }]
    await report(taken.run_id, 'events', { events })
    await report(taken.run_id, 'completed')
  }
}

describe.each(bothDatabases)('on %s, runs in every state', (kind) => {
  test.each(causes)(
    'end although %s: another runner completes them, and the stopping one is stopped',
    async (cause) => {
      const home = await homeOn(kind)
      let gateway = await home.open(options)
      const { ids, runner } = await runsInEveryState(gateway)
      if (cause === 'their runner is removed') await gateway.call('DELETE', `/runners/${runner.runner_id}`)
      if (cause === 'their coordinator is killed') {
        await gateway.kill()
        gateway = await home.open(options)
      }
      await rescue(gateway, Object.values(ids))
      const { run } = runsOf(gateway)
      const ends = Object.entries(ids).map(async ([state, id]) => [state, (await run(id)).status])
      expect(Object.fromEntries(await Promise.all(ends))).toEqual({
        ...{ pending: 'completed', preparing: 'completed', claimed: 'completed', running: 'completed' },
        stopping: 'stopped',
      })
    },
    HANG,
  )
})
