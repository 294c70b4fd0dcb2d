import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openLocal } from '../../src/app/local.ts'
import { hookhelm } from '../gateway/doors.fixture.ts'
import type { Running } from '../gateway/running.fixture.ts'
import { scratch } from './repository.fixture.ts'

const init = (home: string, ...args: readonly string[]) =>
  hookhelm({ home, url: '' } as Running, ['init', '--cwd', join(home, 'repository'), ...args])

async function protectedRepository() {
  const home = scratch()
  mkdirSync(join(home, 'repository'))
  const done = await init(home, '--protect')
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('written and trusted') })
  const env = { HOME: home, HOOKHELM_HOME: home, PATH: process.env.PATH }
  const cwd = join(home, 'repository')
  const local = await openLocal({ cwd, env })
  const decide = async (tool_name: string, tool_input: Record<string, unknown>) => {
    const { kind, by } = await local.hooks.dispatch('pre_tool_use', { tool_name, tool_input }, { cwd })
    return kind === 'block' ? by : kind
  }
  return { home, local, decide }
}

const touched = [
  '.hookhelm/hooks.yaml',
  '/somewhere/repo/.hookhelm/hooks.json',
  './src/../.hookhelm/new.sh',
  '.claude/settings.json',
  '/home/me/.claude/settings.local.json',
  '.codex/hooks.json',
  '/home/me/.codex/config.toml',
  '.gemini/settings.json',
  '.cursor/hooks.json',
  '.github/hooks/other.json',
  '.opencode/plugin/other.js',
  '/home/me/.openclaw/openclaw.json',
  '/home/me/.config/hookhelm/hooks.yaml',
  '/home/me/.local/state/hookhelm/trust.json',
  '/etc/hookhelm/hooks.yaml',
]

describe('the pack that init adds with --protect', () => {
  test('keeps agents from changing hooks, hook settings and the data of Hookhelm', async () => {
    const { home, local, decide } = await protectedRepository()
    const tools = 'protect-hooks/tools'
    for (const file_path of [...touched, join(home, 'trust.json')]) {
      expect([file_path, await decide('Write', { file_path, content: 'x' })]).toEqual([file_path, tools])
      expect(await decide('Edit', { file_path, old_string: 'a', new_string: 'b' })).toBe(tools)
      expect(await decide('mcp__files__write_file', { path: file_path })).toBe(tools)
      const patch = `*** Begin Patch\n*** Update File: ${file_path}\n*** End Patch`
      expect(await decide('Edit', { command: patch })).toBe(tools)
      expect(await decide('Bash', { command: `tee ${file_path}` })).toBe('protect-hooks/files')
    }
    expect(await decide('Write', { file_path: 'src/app.ts', content: '.hookhelm/hooks.yaml' })).toBe('allow')
    expect(await decide('Bash', { command: 'rm -r build .config/other' })).toBe('allow')
    await local.close()
  })

  test('is not written unasked; --yes writes every recommended pack, and a file that exists stays', async () => {
    const home = scratch()
    const plain = await init(home)
    expect(plain.stderr).toContain('hookhelm add destructive-commands force-push secrets protect-hooks')
    expect(await init(home, '--packs', 'force-push')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/exists already\n.*hookhelm add/),
    })
    const other = scratch()
    expect((await init(other, '--yes')).code).toBe(0)
    const listed = await hookhelm({ home: other, url: '' } as Running, [
      ...['add', '--list', '--json', '--cwd', join(other, 'repository')],
    ])
    const { packs } = JSON.parse(listed.stdout)
    for (const { name, hooks, present, recommended } of packs)
      expect([name, present]).toEqual([name, recommended ? hooks : 0])
  })
})
