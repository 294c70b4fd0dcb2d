import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { commandOf, type Reachable, runnerProcess, runsOf } from './runs.fixture.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')
const HANG = 120_000

/** Runs a command of `hookhelm` to its end. */
async function hookhelm({ url, token }: Reachable, ...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: process.env.HOME,
      HOOKHELM_URL: url,
      HOOKHELM_TOKEN: token,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { out, err, code }
}

function fileOf(content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-blueprint-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'agent.json')
  writeFileSync(path, JSON.stringify(content))
  return path
}

const hook = { type: 'agent', agent_name: 'resolver', on_error: 'block' }
const report = {
  name: 'report',
  type: 'procedural',
  description: 'Writes a report.',
  executor: { command: commandOf('return { rows: 48, path: p.path }') },
}

test(
  'blueprints save creates, then replaces as a whole: fields and hooks that the file lacks are gone',
  async () => {
    const gateway = await running()
    const first = fileOf({ ...report, hooks: { on_run_start: hook }, note: 'kept' })
    const created = await hookhelm(gateway, 'blueprints', 'save', first)
    expect([created.code, created.out.trim()]).toEqual([0, 'created report, version 1'])
    expect(created.err).toContain('warning: note is kept and has no effect')
    expect(created.err).toContain('warning: a hook starts the agent resolver, which does not exist yet')
    expect((await hookhelm(gateway, 'blueprints', 'list')).out).toMatch(
      /report +procedural +Writes a report\. +on_run_start +stored +1/,
    )
    const replaced = await hookhelm(gateway, 'blueprints', 'save', '--file', fileOf(report))
    expect(replaced.out.trim()).toBe('replaced report, version 2')
    const shown = await hookhelm(gateway, 'blueprints', 'show', 'report')
    expect(JSON.parse(shown.out)).toEqual({ ...report, hooks: {} })
    const broken = await hookhelm(gateway, 'blueprints', 'save', fileOf({ ...report, hooks: 'none' }))
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('hooks must be an object')])
  },
  HANG,
)

test(
  'AO-58 runs watch prints each hook as it runs, then the timeline and the result; a blocked run ends with code 2',
  async () => {
    const gateway = await running()
    await runnerProcess(gateway)
    const { agent } = runsOf(gateway)
    await agent(
      'resolver',
      `await wait(300); return p.parameters.id === 'R1'
        ? { action: 'continue', parameters: { ...p.parameters, path: '/data/R1.csv' } }
        : { action: 'block', block_reason: 'No such report.' }`,
    )
    await gateway.call('POST', '/agents', { ...report, hooks: { on_run_start: hook } })
    const start = async (id: string): Promise<string> => {
      const { out } = await hookhelm(
        gateway,
        ...['runs', 'start', 'report', '--parameters', JSON.stringify({ id }), '--json'],
      )
      return JSON.parse(out).run_id
    }
    const good = await hookhelm(gateway, 'runs', 'watch', await start('R1'))
    expect(good.out).toMatch(/hook_start +on_run_start → resolver/)
    expect(good.out).toMatch(/hook_complete +on_run_start → resolver: continue/)
    expect(JSON.parse(good.out.slice(good.out.indexOf('{\n')))).toEqual({ rows: 48, path: '/data/R1.csv' })
    expect(good.err).toMatch(/on_run_start → resolver +│ *█+ *│ +\d+ ms +changed/)
    expect(good.err).toMatch(/running +│ *█+ *│ +\d+ ms/)
    expect(good.code).toBe(0)

    const blocked = await hookhelm(gateway, 'runs', 'watch', await start('R2'))
    expect(blocked.out).toMatch(/hook_blocked +on_run_start → resolver: No such report\./)
    expect(blocked.err).toContain('blocked: No such report.')
    expect(blocked.code).toBe(2)
    const list = await hookhelm(gateway, 'runs', 'list', '--hook-blocked')
    expect(list.out).toMatch(/report +blocked +1 .*No such report\./)
  },
  HANG,
)
