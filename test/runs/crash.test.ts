import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { gatewayProcess } from './gateway-process.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 180_000

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'hookhelm-crash-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** JavaScript of an agent that notes its process id, and goes on when a file appears. */
const waitForFile = `const fs=require('fs');fs.writeFileSync(p.pid,String(process.pid));
  while(!fs.existsSync(p.go))await wait(20);`

test(
  'a runner that is killed in the middle of a run loses it, and another one completes it',
  async () => {
    const gateway = await running({ runs: { leaseMs: 1_000, pollMs: 1_000 } })
    const { agent, start, run } = runsOf(gateway)
    const [pid, go] = [join(folder(), 'pid'), join(folder(), 'go')]
    await agent('waits', `${waitForFile} return { done: true }`)
    const first = await runnerProcess(gateway)
    const { run_id } = await start('waits', { pid, go })
    await gateway.until(async () => existsSync(pid) && readFileSync(pid, 'utf8') !== '', Boolean)
    const lost = (await run(run_id)).runner_id
    await first.kill()
    writeFileSync(go, '')
    await runnerProcess(gateway)
    const ended = await untilEnded(gateway, run_id)
    expect(ended).toMatchObject({ status: 'completed', attempts: 2 })
    expect(ended.runner_id).not.toBe(lost)
  },
  HANG,
)

test(
  'AO-33 a coordinator that is killed in the middle of a hook finds the same hook run again',
  async () => {
    const home = folder()
    const first = await gatewayProcess(home)
    const { agent, start, ok } = runsOf(first)
    const [pid, go] = [join(folder(), 'pid'), join(folder(), 'go')]
    await agent(
      'slow',
      `const own = p.parameters; ${waitForFile.replaceAll('p.', 'own.')}
     return { action: 'continue', parameters: { ...own, seen: 1 } }`,
    )
    await agent('main', 'return {}', {
      hooks: { on_run_start: { type: 'agent', agent_name: 'slow', on_error: 'block' } },
    })
    await runnerProcess(first)
    const { run_id } = await start('main', { pid, go })
    await first.until(async () => existsSync(pid), Boolean)
    expect((await ok('GET', `/runs/${run_id}`)).run.status).toBe('preparing')
    await first.kill()
    const second = await gatewayProcess(home, new URL(first.url).port)
    writeFileSync(go, '')
    expect(await untilEnded(second, run_id)).toMatchObject({
      ...{ status: 'completed', parameters: { seen: 1 }, original_parameters: { pid, go } },
    })
    const hookRuns = (await runsOf(second).ok('GET', '/runs?agent_name=slow')).runs
    expect(hookRuns).toHaveLength(1)
  },
  HANG,
)
