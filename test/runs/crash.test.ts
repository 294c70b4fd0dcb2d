import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { coordinatorDeaths } from './coordinator-deaths.fixture.ts'
import { scratchFolder } from './crash.fixture.ts'
import { runnerProcess, runsOf, untilEnded, waitForFile } from './runs.fixture.ts'

const HANG = 180_000

const pidIn = (file: string) => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)

/** A process that has ended may wait for its parent to take note. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('a runner that is killed in the middle of a run', () => {
  test(
    'loses it, its command ends, and another runner completes the run',
    async () => {
      const gateway = await running({ runs: { leaseMs: 1_000, pollMs: 1_000 } })
      const { agent, start, run } = runsOf(gateway)
      const [pid, go] = [join(scratchFolder(), 'pid'), join(scratchFolder(), 'go')]
      await agent('waits', `${waitForFile} return { done: true }`)
      const first = await runnerProcess(gateway)
      const { run_id } = await start('waits', { pid, go })
      await gateway.until(async () => pidIn(pid), Boolean)
      const orphan = pidIn(pid)
      const lost = (await run(run_id)).runner_id
      await first.kill()
      await gateway.until(
        async () => isAlive(orphan),
        (alive) => !alive,
      )
      writeFileSync(go, '')
      await runnerProcess(gateway)
      const ended = await untilEnded(gateway, run_id)
      expect(ended).toMatchObject({ status: 'completed', attempts: 2 })
      expect(ended.runner_id).not.toBe(lost)
    },
    HANG,
  )

  test(
    'takes a coding agent with it, and what that has started',
    async () => {
      const gateway = await running()
      const { ok, start } = runsOf(gateway)
      const pids = join(scratchFolder(), 'pids')
      const agent = `const {spawn}=require('child_process');
        const own=spawn(process.execPath,['-e','setInterval(()=>{},1e3)']);
        require('fs').writeFileSync(${JSON.stringify(pids)},process.pid+' '+own.pid);setInterval(()=>{},1e3)`
      const cli = { type: 'cli', agent: 'claude-code', unconnected: 'allow' }
      const executor = { ...cli, command: [process.execPath, '-e', agent, '--'] }
      await ok('POST', '/agents', { name: 'coder', type: 'autonomous', executor })
      const runner = await runnerProcess(gateway)
      await start('coder', { prompt: 'wait' })
      const text = await gateway.until(async () => existsSync(pids) && readFileSync(pids, 'utf8'), Boolean)
      const started = String(text).split(' ').map(Number)
      expect(started.map(isAlive)).toEqual([true, true])
      await runner.kill()
      await gateway.until(
        async () => started.some(isAlive),
        (alive) => !alive,
      )
    },
    HANG,
  )
})

describe('a coordinator that is killed', () => coordinatorDeaths('SQLite', 'first and last'))
