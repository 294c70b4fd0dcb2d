import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openLocal } from '../../src/app/local.ts'
import { hookhelm } from '../gateway/doors.fixture.ts'
import type { Running } from '../gateway/running.fixture.ts'
import { scratch, write } from './repository.fixture.ts'

const init = (home: string, ...args: readonly string[]) =>
  hookhelm({ home, url: '' } as Running, ['init', '--cwd', join(home, 'repository'), ...args])

async function protectedRepository() {
  const home = scratch()
  mkdirSync(join(home, 'repository'))
  const done = await init(home, '--yes')
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('written and trusted') })
  const env = { HOME: home, HOOKHELM_HOME: home, PATH: process.env.PATH }
  const local = await openLocal({ cwd: join(home, 'repository'), env })
  const decide = async (tool_name: string, tool_input: Record<string, unknown>) => {
    const { kind, by } = await local.hooks.dispatch('pre_tool_use', { tool_name, tool_input })
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
const commands = [
  'echo "# x" >> .hookhelm/hooks.yaml',
  'mv .hookhelm .x',
  'rm -rf ./.hookhelm',
  'cd .hookhelm && rm hooks.yaml',
  "sed -i s/block/allow/ '.hookhelm/hooks.yaml'",
  `python3 -c "open('.claude/settings.json','w')"`,
  'mv .claude .c',
  'rm -f ~/.local/state/hookhelm/trust.json',
  'cp /tmp/x "$HOOKHELM_HOME/trust.json"',
  'hookhelm trust',
  'npx hookhelm disconnect claude-code',
  'pkill -f hookhelm',
]
const harmless: readonly [string, Record<string, unknown>][] = [
  ['Write', { file_path: 'src/app.ts', content: 'about .hookhelm/hooks.yaml and .claude/settings.json' }],
  ['Write', { file_path: '.claude/agents/reviewer.md', content: '' }],
  ['Write', { file_path: '.github/workflows/ci.yml', content: '' }],
  ['Read', { file_path: '.hookhelm/hooks.yaml' }],
  ['Bash', { command: 'cat .hookhelm/hooks.yaml | head' }],
  ['Bash', { command: 'git add .hookhelm && git commit -m "hooks"' }],
  ['Bash', { command: 'hookhelm validate && hookhelm status' }],
  ['Bash', { command: 'rm -r build .config/other' }],
  ['mcp__files__read_file', { path: '.hookhelm/hooks.yaml' }],
]

describe('the hook that init offers', () => {
  test('keeps agents from changing hooks, hook settings and the data of Hookhelm, and nothing else', async () => {
    const { home, local, decide } = await protectedRepository()
    for (const file_path of [...touched, join(home, 'trust.json')]) {
      expect([file_path, await decide('Write', { file_path, content: 'x' })]).toEqual([
        file_path,
        'protect-hooks',
      ])
      expect(await decide('Edit', { file_path, old_string: 'a', new_string: 'b' })).toBe('protect-hooks')
      expect(await decide('mcp__files__write_file', { path: file_path })).toBe('protect-hooks')
      const patch = `*** Begin Patch\n*** Update File: ${file_path}\n*** End Patch`
      expect(await decide('Edit', { command: patch })).toBe('protect-hooks')
    }
    for (const command of commands)
      expect([command, await decide('Bash', { command })]).toEqual([
        command,
        expect.stringMatching(/protect-hooks|no-recursive/),
      ])
    for (const [tool, input] of harmless)
      expect([tool, input, await decide(tool, input)]).toEqual([tool, input, 'allow'])
    await local.close()
  })

  test('is not written unasked, and is printed for a file that exists', async () => {
    const home = scratch()
    const plain = await init(home)
    expect(plain.stderr).toContain('hookhelm init --protect')
    const again = await init(home, '--protect')
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('- id: protect-hooks'),
      stderr: expect.stringContaining('add these lines'),
    })
    write(join(home, 'other', '.hookhelm', 'hooks.yaml'), `hooks:\n${again.stdout}`)
    const checked = await hookhelm({ home, url: '' } as Running, ['validate', '--cwd', join(home, 'other')])
    expect(checked.stderr).toContain('1 of 1 files are valid')
  })
})
