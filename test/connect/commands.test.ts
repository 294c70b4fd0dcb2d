import { chmodSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { temporaryHome } from './home.fixture.ts'

// Each line a person types is a process of its own.
vi.setConfig({ testTimeout: 60_000 })

const claude = '.claude/settings.json'

/** An agent as far as looking for it goes. */
function installed(home: ReturnType<typeof temporaryHome>, program: string, version: string) {
  chmodSync(home.write(`bin/${program}`, `#!/bin/sh\necho "${program} ${version}"\n`), 0o755)
  return { PATH: `${home.path('bin')}:${process.env.PATH}` }
}

describe('connect', () => {
  test('says what is enforced, what cannot be, and that nobody answers yet', async () => {
    const home = temporaryHome()
    const { code, stdout, stderr } = await home.hookhelm(['connect', 'codex'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain(`Codex is connected: ${home.path('.codex/hooks.json')}`)
    expect(stderr).toContain(
      'gates      PreToolUse, PermissionRequest, UserPromptSubmit (blocked when the gateway does not answer)',
    )
    expect(stderr).toContain('cannot be  tool calls: confirmed by a person · sub-agents: blocked')
    expect(stderr).toContain('silently skips every hook that you have not trusted')
    expect(stderr).toContain('every call is blocked until you start it with `hookhelm up`')
  })

  test('a dry run prints the difference and writes nothing', async () => {
    const home = temporaryHome()
    home.write(claude, '{\n  "model": "x"\n}\n')
    const { code, stdout } = await home.hookhelm(['connect', 'claude-code', '--dry-run'])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^--- ${home.path(claude)}\n\\+\\+\\+ ${home.path(claude)}\n@@ `))
    expect(stdout).toContain('-  "model": "x"\n+  "model": "x",\n+  "hooks": {')
    expect(home.files()).toEqual([claude])
  })

  test('twice is once, and --json tells what changed', async () => {
    const home = temporaryHome()
    const args = [
      'connect',
      'gemini-cli',
      '--json',
      '--timeout',
      '20',
      '--socket',
      '/run/x.sock',
      '--client',
      'node',
    ]
    const [first] = JSON.parse((await home.hookhelm(args)).stdout)
    expect(first).toMatchObject({ agent: 'gemini-cli', level: 'user', changes: [{ kind: 'made' }] })
    const text = home.read('.gemini/settings.json')
    expect(text).toMatch(
      /hookhelm-hook\.cjs'? gemini-cli BeforeTool --socket \/run\/x\.sock .* --within 18000 --wait 595000"/,
    )
    const [again] = JSON.parse((await home.hookhelm(args)).stdout)
    expect(again.changes).toEqual([])
    expect(home.read('.gemini/settings.json')).toBe(text)
  })

  test('in a project: its root, a folder that is named, or a file that is not shared', async () => {
    const home = temporaryHome()
    home.write('project/sub/x', '')
    home.write('other/x', '')
    await home.hookhelm(['connect', 'claude-code', '--project', '--cwd', home.path('project/sub')])
    await home.hookhelm(['connect', 'claude-code', '--local'])
    await home.hookhelm(['connect', 'cursor', 'codex', '--project', '../other'])
    await home.hookhelm(['connect', `--project=${home.path('other')}`, 'gemini-cli'])
    expect(home.files().filter((file) => !/^data\/|\/x$/.test(file))).toEqual([
      'other/.codex/hooks.json',
      'other/.cursor/hooks.json',
      'other/.gemini/settings.json',
      'project/.claude/settings.json',
      'project/.claude/settings.local.json',
    ])
  })

  test('without a name it lists what is here, and says how', async () => {
    const home = temporaryHome()
    const env = installed(home, 'claude', '2.1.0')
    // A folder of an agent does not prove that the agent is there: `connect` itself writes into it.
    home.write('.cursor/hooks.json', '{}')
    home.write('.opencode/bin/opencode', '#!/bin/sh\necho 1.18.33\n')
    chmodSync(home.path('.opencode/bin/opencode'), 0o755)
    const { code, stderr } = await home.hookhelm(['connect'], env)
    expect(code).toBe(0)
    expect(stderr).toContain('  claude-code\n')
    expect(stderr).toContain('connect with: hookhelm connect claude-code opencode\n')
    expect(home.exists(claude)).toBe(false)
  })

  test('--fail-open is visible in what is written and said', async () => {
    const home = temporaryHome()
    const { stderr } = await home.hookhelm(['connect', 'claude-code', '--fail-open'])
    expect(stderr).toContain('! calls pass when the gateway does not answer (--fail-open)')
    expect(home.read(claude)).toMatch(/ --fail-open"/)
    expect(home.read(claude)).not.toContain('onFailure')
  })

  test.each([
    [
      ['connect', 'claud-code'],
      'connect.agent: there is no agent called claud-code\n  Did you mean claude-code?',
    ],
    [['connect', './claude-code'], 'If this is a folder, add --project.'],
    [['connect', 'openclaw', '--project'], 'openclaw has no configuration file at the level project'],
    [['connect', 'codex', '--timeout', 'soon'], '--timeout must be a number of seconds from 2 to 600'],
    [['connect', 'codex', '--socket', 'run.sock'], '--socket must be an absolute path'],
    [['connect', 'codex', '--dryrun'], 'Did you mean --dry-run?'],
    [['disconnect', 'codex'], 'codex is not connected in'],
    [['undo', 'codex'], 'no backup of'],
    [['doctor', 'nobody'], 'there is no agent called nobody'],
  ])('%j is refused, and nothing is written', async (args, words) => {
    const home = temporaryHome()
    const { code, stderr } = await home.hookhelm(args)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(words) })
    expect(home.files().filter((file) => !file.endsWith('lock.db'))).toEqual([])
  })

  test('one bad name among several connects none', async () => {
    const home = temporaryHome()
    expect((await home.hookhelm(['connect', 'codex', 'nobody'])).code).toBe(1)
    expect(home.files()).toEqual([])
  })
})

describe('disconnect and undo', () => {
  test('say where else it is connected', async () => {
    const home = temporaryHome()
    await home.hookhelm(['connect', 'cursor', '--project'])
    const { stderr } = await home.hookhelm(['disconnect', 'cursor'])
    expect(stderr).toContain('use --project')
    expect((await home.hookhelm(['disconnect', 'cursor', '--project'])).code).toBe(0)
    expect(home.exists('project/.cursor')).toBe(false)
  })

  test('undo shows the difference that somebody else made', async () => {
    const home = temporaryHome()
    home.write(claude, '{}\n')
    await home.hookhelm(['connect', 'claude-code'])
    home.write(claude, home.read(claude).replace('{', '{\n  "mine": true,'))
    const { code, stderr } = await home.hookhelm(['undo', 'claude-code'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('-  "mine": true,') })
    expect((await home.hookhelm(['undo', 'claude-code', '--force'])).code).toBe(0)
    expect(home.read(claude)).toBe('{}\n')
  })
})

describe('agents', () => {
  test('which are here, in which version, and where they are connected', async () => {
    const home = temporaryHome()
    const env = installed(home, 'codex', '0.166.0')
    await home.hookhelm(['connect', 'codex'], env)
    home.write('.gemini/settings.json', '{ "hooks": ')
    const { code, stdout, stderr } = await home.hookhelm(['agents'], env)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^codex +0\.166\.0 +user +unknown +-$/m)
    expect(stdout).toMatch(/^openclaw +- +- +unknown +-$/m)
    expect(stderr).toContain('.gemini/settings.json:1:12 is not JSON')
    const { agents } = JSON.parse((await home.hookhelm(['agents', '--json'], env)).stdout)
    expect(agents).toHaveLength(7)
    expect(agents[1]).toMatchObject({
      agent: 'codex',
      installed: true,
      version: '0.166.0',
      connected: [{ level: 'user', file: home.path('.codex/hooks.json') }],
    })
  })
})

describe('doctor', () => {
  test('without a gateway it says so, what is closed, and ends with 1', async () => {
    const home = temporaryHome()
    await home.hookhelm(['connect', 'gemini-cli'])
    const { code, stdout } = await home.hookhelm(['doctor', 'gemini-cli'])
    expect(code).toBe(1)
    expect(stdout).toContain('  ✗ no gateway listens on')
    expect(stdout).toContain(`Gemini CLI, user (${home.path('.gemini/settings.json')})`)
    expect(stdout).toContain('  ✓ BeforeTool, BeforeAgent are blocked when no gateway listens')
  })

  test('an agent that is named must be connected', async () => {
    const { stdout } = await temporaryHome().hookhelm(['doctor', 'cursor', '--json'])
    expect(JSON.parse(stdout).checks).toContainEqual({
      agent: 'cursor',
      state: 'bad',
      text: 'is not connected',
      hint: 'Run `hookhelm connect cursor`.',
    })
  })
})

describe('import of the hooks that an agent has', () => {
  test('from its user and project files, without our own', async () => {
    const home = temporaryHome()
    const hook = (command: string) => ({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
    home.write(claude, JSON.stringify(hook('./user.sh')))
    home.write('project/.claude/settings.json', JSON.stringify(hook('./project.sh')))
    await home.hookhelm(['connect', 'claude-code'])
    const { code, stdout, stderr } = await home.hookhelm(['import', 'claude-code', '--json'])
    expect(code).toBe(0)
    const { hooks, notes } = JSON.parse(stdout)
    expect(hooks.map(({ config }: { config: { command: string } }) => config.command)).toEqual([
      './user.sh',
      './project.sh',
    ])
    expect(notes).toContain(
      `the hooks are still in ${home.path(claude)} and would run twice: remove them there when you use these`,
    )
    expect(stderr).toContain('2 hooks imported')
  })

  test('a file of one can be named with its format', async () => {
    const home = temporaryHome()
    home.write(
      'project/x.json',
      '{ "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "a" }] }] } }',
    )
    const { stdout } = await home.hookhelm(['import', 'x.json', '--from', 'gemini-cli', '--json'])
    expect(JSON.parse(stdout).hooks).toMatchObject([{ event: 'pre_tool_use', timeout_ms: 60_000 }])
    const { stderr } = await home.hookhelm(['import', 'x.json', '--from', 'nothing'])
    expect(stderr).toContain('config.field: unknown format nothing')
  })
})
