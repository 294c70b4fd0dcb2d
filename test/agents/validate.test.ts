import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

// Each line a person types is a process of its own.
vi.setConfig({ testTimeout: 60_000 })

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hookhelm-validate-'))
  mkdirSync(join(home, 'repository/.git'), { recursive: true })
  mkdirSync(join(home, 'repository/.hookhelm'))
  const hooks = ['subagent_start', 'pre_tool_use', 'setup'].map((event) => ({
    id: `on-${event}`,
    event,
    handler_type: 'command',
    config: { command: 'true' },
  }))
  writeFileSync(join(home, 'repository/.hookhelm/hooks.json'), JSON.stringify({ hooks }))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function validate(...args: readonly string[]): Promise<Ran> {
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const child = spawn(process.execPath, [main, 'validate', ...args], {
    cwd: join(home, 'repository'),
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      HOOKHELM_HOME: join(home, 'own'),
      NO_COLOR: '1',
    },
  })
  const ran = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    ran.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    ran.stderr += chunk
  })
  child.stdin.end()
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...ran })))
}

const warnings = ({ stderr }: Ran) => stderr.split('\n').filter((line) => line.startsWith('warning: '))

test('with no agent connected there is nothing to warn of', async () => {
  const ran = await validate()
  expect(ran).toMatchObject({ code: 0, stdout: '' })
  expect(warnings(ran)).toEqual([])
})

test('an agent that is named is warned about, and the file is good all the same', async () => {
  const ran = await validate('--agent', 'codex')
  expect(ran).toMatchObject({ code: 0, stdout: '' })
  expect(warnings(ran).map((line) => line.replace(/^.*hooks\.json /, ''))).toEqual([
    '/hooks/0 on-subagent_start: Codex cannot be stopped at SubagentStart (to block a sub-agent, block the tool `Agent`)',
    '/hooks/1: when a hook changes the input at PreToolUse, Codex also takes the call as granted',
    '/hooks/2 on-setup: setup never comes from Codex',
  ])
})

test('warnings are data too, for several agents', async () => {
  const { stdout } = await validate('--json', '--agent', 'codex', '--agent=claude-code')
  const data = JSON.parse(stdout)
  expect(data.problems).toEqual([])
  expect(data.warnings).toMatchObject([
    { pointer: '/hooks/0', hook: 'on-subagent_start', event: 'subagent_start', agent: 'codex' },
    { pointer: '/hooks/0', hook: 'on-subagent_start', event: 'subagent_start', agent: 'claude-code' },
    { pointer: '/hooks/1', event: 'pre_tool_use', agent: 'codex' },
  ])
})

test('all of them at once; a name that there is not is an error', async () => {
  expect(warnings(await validate('--agent', 'all')).join('\n')).toContain('OpenClaw')
  expect(await validate('--agent', 'codx')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Did you mean codex?'),
  })
})

test('an agent counts with the events that are connected here', async () => {
  mkdirSync(join(home, '.codex'))
  const command =
    '/usr/bin/hookhelm-hook codex Stop --socket /tmp/x.sock --spool /tmp/spool --within 5000 --observe'
  const hooks = { Stop: [{ hooks: [{ type: 'command', command, timeout: 10 }] }] }
  writeFileSync(join(home, '.codex/hooks.json'), JSON.stringify({ hooks }))
  expect(warnings(await validate()).join('\n')).toContain(
    'pre_tool_use never comes from Codex; Codex has PreToolUse, which is connected only on request',
  )
})
