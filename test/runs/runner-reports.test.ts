import { expect, test } from 'vitest'
import { serverError } from '../../src/engine/core/errors/server-errors.ts'
import type { RunnerGateway } from '../../src/runs/runner/runner.ts'
import { running } from '../gateway/running.fixture.ts'
import { localRunner, runsOf, untilEnded } from './runs.fixture.ts'

/** A gateway that refuses the first reports of each kind for good. */
function refusing(kinds: readonly ('started' | 'completed' | 'failed')[], refusal = 'gateway.request') {
  return (real: RunnerGateway): RunnerGateway => {
    const left = new Set<string>(kinds)
    const refuse =
      <Args extends readonly unknown[]>(kind: string, report: (...args: Args) => Promise<unknown>) =>
      async (...args: Args) => {
        if (left.delete(kind)) throw serverError(refusal as 'gateway.request', 'the report is refused')
        await report(...args)
      }
    return {
      ...real,
      started: refuse('started', real.started),
      completed: refuse('completed', real.completed),
      failed: refuse('failed', real.failed),
    }
  }
}

test.each([
  ['its start', ['started'], 'failed'],
  ['its result', ['completed'], 'failed'],
  ['its result and its failure', ['completed', 'failed'], 'completed'],
  ['its start and its failure', ['started', 'failed'], 'completed'],
] as const)('a run ends although the gateway refuses to hear of %s', async (_, kinds, status) => {
  const own = await running({ runs: { pollMs: 300 } })
  const { agent, start } = runsOf(own)
  await agent('worker', 'return { done: true }')
  const { run_id } = await start('worker')
  await localRunner(own, 1, refusing(kinds))
  expect((await untilEnded(own, run_id)).status).toBe(status)
  // The runner goes on.
  expect((await untilEnded(own, (await start('worker')).run_id)).status).toBe('completed')
})

test('a runner that was killed is no longer listed after ten leases', async () => {
  const own = await running({ edition: 'standard', runs: { leaseMs: 50 } })
  const offer = { hostname: 'killed', project_dir: '', executor_profile: 'words' }
  const { ok } = runsOf(own)
  await ok('POST', '/runner/register', offer)
  const left = await own.until(
    async () => (await ok('GET', '/runners')).runners,
    (runners) => runners.length === 0,
  )
  expect(left).toEqual([])
})
