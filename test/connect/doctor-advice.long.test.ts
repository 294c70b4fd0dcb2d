import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { splitShellLine } from '../../src/connect/hook-command.ts'
import { clinic, spoil } from './clinic.fixture.ts'

describe('the advice of the doctor works', () => {
  const green = { code: 0, bad: [], commands: [] }

  test('async, --observe, a condition, a narrowed matcher and arguments', async () => {
    const { home, examine, follow, connectAgents } = await clinic()
    await connectAgents('claude-code', '--project', '--client', 'node', '--timeout', '20')
    const settings = 'project/.claude/settings.json'
    expect(await examine()).toEqual(green)
    const written = home.read(settings)
    spoil(home, settings, (text) => {
      const value = JSON.parse(text)
      const at = (event: string) => value.hooks[event][0].hooks[0]
      at('PreToolUse').async = true
      at('PostToolUse').if = 'Bash(git *)'
      // As earlier versions wrote it.
      const [command, ...args] = splitShellLine(at('Stop').command).slice(4)
      Object.assign(at('Stop'), { command, args })
      value.hooks.PermissionRequest[0].matcher = 'Bash'
      const line: string = at('UserPromptSubmit').command
      at('UserPromptSubmit').command = line.replace(/--refuse prompt$/, '--observe')
      return JSON.stringify(value)
    })
    const { code, bad, commands } = await examine()
    expect(code).toBe(1)
    expect(bad).toEqual(
      expect.arrayContaining([
        'PreToolUse: the entry has "async": true, so the agent does not wait for the answer',
        'PostToolUse: the entry has "if": "Bash(git *)", so only some calls pass the hooks',
        expect.stringMatching(/^Stop: the entry has "args": .*, so other agents .* every call fails there$/),
        'UserPromptSubmit: the command has --observe, so no hook can block',
        'PermissionRequest: only calls that match "Bash" pass the hooks',
      ]),
    )
    expect(commands).toEqual(['hookhelm connect claude-code --project --timeout 20 --client node'])
    follow(commands)
    expect(await examine()).toEqual(green)
    expect(JSON.parse(home.read(settings))).toEqual(JSON.parse(written))
  })

  test('a settings file, a plugin or a hook that is gone or broken', async () => {
    const { home, env, examine, follow, connectAgents } = await clinic()
    await connectAgents('gemini-cli', 'opencode')
    await connectAgents('opencode', 'copilot-cli', '--project')
    home.write('.copilot/config.json', JSON.stringify({ trusted_folders: [home.project] }))
    expect(await examine()).toEqual(green)
    rmSync(home.path('.gemini/settings.json'))
    home.write('project/.github/hooks/hookhelm.json', '{ "version": 1, "hooks": {} }')
    spoil(home, '.config/opencode/plugin/hookhelm.js', (text) =>
      text.replace('export const Hookhelm =', '= ='),
    )
    home.write('project/.opencode/plugin/hookhelm.js', 'export const Other = async () => ({})\n')
    const { code, bad, commands } = await examine()
    expect(code).toBe(1)
    expect(bad.toSorted()).toEqual([
      expect.stringMatching(
        /^~\/\.config\/opencode\/plugin\/hookhelm\.js cannot be loaded, .* SyntaxError: /,
      ),
      '~/.gemini/settings.json is gone, and with it every hook',
      '~/project/.github/hooks/hookhelm.json no longer has the hooks of Hookhelm',
      '~/project/.opencode/plugin/hookhelm.js no longer has the hooks of Hookhelm',
    ])
    follow(commands)
    expect(await examine()).toEqual(green)
    rmSync(home.path('.gemini/settings.json'))
    expect((await home.hookhelm(['disconnect', 'gemini-cli'], env)).code).toBe(0)
    expect(await examine()).toEqual(green)
  })

  test('hook files that are pending trust, changed since, or gone', async () => {
    const { home, examine, follow } = await clinic()
    const file = 'project/.hookhelm/hooks.yaml'
    const path = `~/${file}`
    home.write(file, 'hooks: []\n')
    const steps: readonly (readonly [string, () => void])[] = [
      [`${path} is not trusted, so its hooks do not run`, () => {}],
      [`${path} changed since it was trusted`, () => home.write(file, 'hooks: []\n# more\n')],
      [`${path} was trusted and is gone`, () => rmSync(home.path(file))],
    ]
    for (const [problem, change] of steps) {
      change()
      const { code, bad, commands } = await examine()
      expect({ code, bad }).toEqual({ code: 1, bad: [problem] })
      follow(commands)
      expect(await examine()).toEqual(green)
    }
  })
})
