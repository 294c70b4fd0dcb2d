import { afterAll, beforeAll } from 'vitest'
import { runnerGateway } from '../../src/app/runner-gateway.ts'
import { createRunnerMeans } from '../../src/app/runner-means.ts'
import { createClient } from '../../src/client/client.ts'
import { Runner } from '../../src/runs/runner/runner.ts'
import type { Running } from '../gateway/running.fixture.ts'
import { runsOf, untilEnded } from '../runs/runs.fixture.ts'

/** A runner in this process for all tests of a file. */
export function sharedRunner(gateway: () => Running): void {
  let stop = async () => {}
  beforeAll(async () => {
    const client = createClient({ url: gateway().url, token: gateway().token })
    const registered = Promise.withResolvers<void>()
    const { means, dispose } = createRunnerMeans({
      ...{ env: {}, client, cwd: gateway().home, folders: () => [gateway().home] },
      log: (name) => {
        if (name === 'runner.registered') registered.resolve()
      },
    })
    const runner = new Runner({
      ...means,
      gateway: runnerGateway(client),
      offer: {
        ...{ hostname: 'build-2', project_dir: '', executor_profile: '', executor_type: 'command' },
        ...{ tags: [], require_matching_tags: false },
      },
      concurrency: 4,
    })
    stop = async () => {
      await runner.stop()
      await dispose()
      await client.close()
    }
    await registered.promise
  })
  afterAll(() => stop())
}

const hook = (agent_name: string, more = {}) => ({ type: 'agent', agent_name, on_error: 'block', ...more })

/** The agents of the seed's use cases: enrich, block, chain, audit. */
async function seedAgents(gateway: Running): Promise<void> {
  const { agent } = runsOf(gateway)
  await agent(
    'path-resolver',
    `await wait(150); return p.parameters.report_id === 'R666'
      ? { action: 'block', block_reason: 'The report R666 is confidential.' }
      : { action: 'continue', parameters: { ...p.parameters, resolved_path: '/data/reports/' + p.parameters.report_id + '.csv' } }`,
    { description: 'Finds the file of a report.' },
  )
  await agent('flaky-check', 'console.error("the list of reports is gone"); process.exit(3)')
  await agent('audit-logger', 'return { logged: true }', { description: 'Writes each run down.' })
  await agent('mail-report', 'return { sent: 1 }', {
    description: 'Sends the report.',
    hooks: { on_run_finish: hook('audit-logger', { on_error: 'continue' }) },
  })
  await agent('report-generator', 'await wait(400); return { rows: 48, path: p.resolved_path }', {
    description: 'Writes a report as CSV.',
    parameters_schema: {
      type: 'object',
      required: ['report_id'],
      properties: {
        report_id: { type: 'string', description: 'Which report', minLength: 2 },
        resolved_path: { type: 'string' },
        copies: { type: 'integer', default: 1 },
        draft: { type: 'boolean' },
      },
    },
    hooks: {
      on_run_start: [hook('flaky-check', { on_error: 'continue' }), hook('path-resolver')],
      on_run_finish: hook('mail-report', { on_error: 'continue' }),
    },
  })
  await agent('long-job', 'await wait(600000); return {}')
}

interface SeededRuns {
  readonly enriched: string
  readonly blocked: string
  readonly waiting: string
}

/** One run with changed parameters and a chain, one that a hook blocks, and one that waits for a runner. */
export async function seedRuns(gateway: Running): Promise<SeededRuns> {
  await seedAgents(gateway)
  const { start, ok } = runsOf(gateway)
  const enriched = await start('report-generator', { report_id: 'R123' })
  const blocked = await start('report-generator', { report_id: 'R666' })
  const waiting = await start('long-job', {}, { demands: { tags: ['no-such-runner'] } })
  await untilEnded(gateway, enriched.run_id)
  await untilEnded(gateway, blocked.run_id)
  // The chain: report-generator → mail-report → audit-logger.
  await gateway.until(
    () => ok('GET', '/runs?agent_name=audit-logger'),
    ({ runs }) => runs[0]?.status === 'completed',
  )
  return { enriched: enriched.run_id, blocked: blocked.run_id, waiting: waiting.run_id }
}
