import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { runsOf } from './runs.fixture.ts'

const HANG = 120_000

async function opened() {
  const gateway = await running({ edition: 'standard', runs: { pollMs: 300 } })
  const { ok, ...runs } = runsOf(gateway)
  const { runner_id } = await ok('POST', '/runner/register', {
    ...{ hostname: 'here', project_dir: '/w', executor_profile: 'words' },
  })
  const agent = (name: string, more: object = {}) =>
    ok('POST', '/agents', { name, type: 'procedural', executor: { profile: 'words' }, ...more })
  const report = (run_id: string, what: string, fields: object = {}) =>
    gateway.call('POST', `/runner/runs/${run_id}/${what}`, { runner_id, ...fields })
  const poll = async () => {
    const { body } = await gateway.until(
      () => gateway.call('GET', `/runner/runs?runner_id=${runner_id}`),
      ({ status }) => status === 200,
    )
    return body.run
  }
  const stop = async (run_id: string) => (await ok('POST', `/runs/${run_id}/stop`, {})).status
  return { gateway, ...runs, agent, report, poll, stop }
}

test(
  'of contradictory ends that a runner reports at once one counts, and nothing comes after it',
  async () => {
    const { gateway, agent, start, report, poll, run, events } = await opened()
    await agent('writer')
    const { run_id, session_id } = await start('writer')
    await poll()
    await report(run_id, 'started')
    const ends = Array.from({ length: 21 }, (_, n) => {
      const what = ['completed', 'failed', 'stopped'][n % 3] ?? ''
      return report(run_id, what, what === 'failed' ? { error: `failure ${n}` } : {})
    })
    for (const { status } of await Promise.all(ends)) expect(status).toBe(200)
    const ended = await run(run_id)
    const late = [{ event_type: 'result', data: { result_text: 'late' } }]
    expect((await report(run_id, 'events', { events: late })).status).toBe(404)
    expect((await report(run_id, 'tokens', { tokens: 5 })).status).toBe(404)
    await report(run_id, 'started')
    expect(await run(run_id)).toEqual(ended)
    const types = await gateway.until(
      async () => (await events(session_id)).map(({ event_type }) => event_type),
      (found) => found.includes(`run_${ended.status}`),
    )
    expect(types.filter((type) => /^run_(?:completed|failed|stopped)$/.test(type))).toEqual([
      `run_${ended.status}`,
    ])
  },
  HANG,
)

test(
  'a run that is stopped while it is prepared does not start, and the run of its hook is stopped too',
  async () => {
    const { gateway, agent, start, report, poll, run, stop } = await opened()
    await agent('checker')
    const hooks = { on_run_start: { type: 'agent', agent_name: 'checker', on_error: 'block' } }
    await agent('writer', { hooks })
    const { run_id } = await start('writer')
    const hookRun = await poll()
    expect(hookRun.agent_name).toBe('checker')
    expect(await run(run_id)).toMatchObject({ status: 'preparing' })
    expect([await stop(run_id), await stop(run_id)]).toEqual(['stopped', 'stopped'])
    expect(await run(hookRun.run_id)).toMatchObject({ status: 'stopping' })
    // An answer of the hook that comes too late does not bring the run back.
    const answer = { result_data: { action: 'continue', parameters: {} } }
    await report(hookRun.run_id, 'events', { events: [{ event_type: 'result', data: answer }] })
    await report(hookRun.run_id, 'completed')
    await gateway.until(
      () => run(hookRun.run_id),
      ({ completed_at }) => completed_at !== null,
    )
    expect(await run(run_id)).toMatchObject({ status: 'stopped', runner_id: null })
  },
  HANG,
)

test(
  'of calls that resume a session at once one begins a run, and none while it runs or stops',
  async () => {
    const { gateway, agent, start, report, poll, stop } = await opened()
    await agent('writer')
    const { run_id, session_id } = await start('writer')
    const resume = async () =>
      (await gateway.call('POST', '/runs', { type: 'resume_session', session_id, parameters: {} })).status
    expect(await resume()).toBe(409)
    await poll()
    await report(run_id, 'started')
    expect(await resume()).toBe(409)
    await stop(run_id)
    expect(await resume()).toBe(409)
    await report(run_id, 'stopped')
    const answers = await Promise.all(Array.from({ length: 10 }, resume))
    expect(answers.toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  },
  HANG,
)
