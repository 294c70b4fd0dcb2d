import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Running, running } from '../gateway/running.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const root = join(import.meta.dirname, '../..')
const main = join(root, 'src/cli/main.ts')

/** The folders of the examples. */
export const runExamples = globSync('examples/runs/*/.hookhelm', { cwd: root })
  .map((path) => basename(join(path, '..')))
  .sort()

export interface OpenExample {
  readonly gateway: Running
  /** A copy of the example, where its commands run. */
  readonly folder: string
  /** Starts an agent and waits for the end of its run. */
  finish(agent: string, parameters: object): Promise<Finished>
  /** The run of an agent that the hook of a session started. */
  child(agent: string, session: string): Promise<Finished>
}

interface Finished {
  // biome-ignore lint/suspicious/noExplicitAny: a run, for tests to look into
  readonly run: any
  // biome-ignore lint/suspicious/noExplicitAny: its result, for tests to look into
  readonly result: any
}

/** Opens an example as its README says: trust its agents, start a gateway in its folder, and a runner. */
export async function openExample(name: string): Promise<OpenExample> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-example-home-'))
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-example-'))
  for (const path of [home, folder]) onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  cpSync(join(root, 'examples/runs', name), folder, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: home,
    HOOKHELM_HOME: home,
  }
  const trusted = spawnSync(process.execPath, [main, 'trust'], { cwd: folder, env, encoding: 'utf8' })
  expect([trusted.status, trusted.stderr]).toEqual([0, trusted.stderr])
  const gateway = await running({ home, cwd: folder })
  await runnerProcess(gateway, '--cwd', folder)
  const { start, run, result } = runsOf(gateway)
  return {
    gateway,
    folder,
    async finish(agent, parameters) {
      const { run_id, session_id } = await start(agent, { ...parameters })
      return { run: await untilEnded(gateway, run_id), result: await result(session_id) }
    },
    async child(agent, session) {
      const path = `/runs?agent_name=${agent}&parent_session_id=${session}`
      const { run_id, session_id } = await gateway.until(
        async () => (await gateway.call('GET', path)).body.runs[0],
        (found) => found?.completed_at != null,
      )
      return { run: await run(run_id), result: await result(session_id) }
    },
  }
}
