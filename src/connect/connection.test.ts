import { spawn } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { connectionOf } from '../../test/connect/connections.fixture.ts'
import { temporaryHome } from '../../test/connect/home.fixture.ts'
import { settings, writings } from '../../test/connect/jsonc.fixture.ts'
import { connect, disconnect, undo } from './connection.ts'

const agents = ['claude-code', 'codex', 'gemini-cli', 'copilot-cli', 'cursor', 'openclaw', 'opencode']
const claude = '.claude/settings.json'

const groups = fc.record({
  matcher: fc.string(),
  hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), { maxLength: 2 }),
})
const texts = writings(settings(['PreToolUse', 'Stop', 'BeforeTool', 'Other'], groups))
const odd = fc.oneof(
  texts,
  fc.constantFrom('', '{}', '\n', '  ', '// only words', '{ }\r\n', '\uFEFF', '\uFEFF{}'),
)

describe('byte for byte', () => {
  test.each(['claude-code', 'codex', 'gemini-cli'])(
    '%s: what was there comes back, whatever it was',
    (agent) => {
      const home = temporaryHome()
      const connection = connectionOf(agent, home)
      const { file } = connection.config
      fc.assert(
        fc.property(odd, (text) => {
          mkdirSync(join(file, '..'), { recursive: true })
          writeFileSync(file, text)
          if (connection.targets.at(-1)?.explainUnreadable?.(text) !== undefined) {
            // The agent itself would not read it, and our hooks in it neither.
            expect(() => connect(connection)).toThrow('ignore the whole file')
            expect(readFileSync(file, 'utf8')).toBe(text)
            return
          }
          connect(connection)
          const once = readFileSync(file, 'utf8')
          expect(once).not.toBe(text)
          expect(connect(connection)).toEqual([])
          expect(readFileSync(file, 'utf8')).toBe(once)
          undo(connection)
          expect(readFileSync(file, 'utf8')).toBe(text)
          connect(connection)
          expect(readFileSync(file, 'utf8')).toBe(once)
          disconnect(connection)
          expect(readFileSync(file, 'utf8')).toBe(text)
        }),
        { numRuns: 50 },
      )
    },
  )

  test.each(agents)('%s: where there was nothing there is nothing again', (agent) => {
    const home = temporaryHome()
    const before = readdirSync(home.folder)
    for (const back of [undo, disconnect]) {
      const connection = connectionOf(agent, home)
      expect(connect(connection).map(({ kind }) => kind)).toContain('made')
      expect(connect(connection)).toEqual([])
      back(connection)
      expect(readdirSync(home.folder).filter((name) => name !== 'data')).toEqual(before)
      expect(home.files('data')).toEqual(['data/connections/lock.db'])
    }
  })

  test.each(agents)('%s: other options replace our own entries only', (agent) => {
    const home = temporaryHome()
    const first = connectionOf(agent, home)
    connect(first)
    const second = connectionOf(agent, home, { timeoutMs: 20_000 })
    expect(connect(second)).not.toEqual([])
    const direct = temporaryHome()
    connect(connectionOf(agent, direct, { timeoutMs: 20_000 }))
    const at = (text: string, folder: string) => text.replaceAll(folder, '')
    expect(at(readFileSync(second.config.file, 'utf8'), home.folder)).toBe(
      at(readFileSync(connectionOf(agent, direct).config.file, 'utf8'), direct.folder),
    )
    undo(second)
    expect(home.files().filter((file) => !file.startsWith('data/'))).toEqual([])
  })

  test('the endings of lines stay as they are', () => {
    const home = temporaryHome()
    home.write(claude, '{\r\n  "model": "x"\r\n}\r\n')
    connect(connectionOf('claude-code', home))
    expect(home.read(claude).replaceAll('\r\n', '')).not.toContain('\n')
    expect(home.read(claude)).toMatch(/\}\r\n$/)
  })

  test('a file keeps its mode, and the backup is for its owner alone', () => {
    const home = temporaryHome()
    chmodSync(home.write(claude, '{}'), 0o640)
    const connection = connectionOf('claude-code', home)
    connect(connection)
    expect(statSync(home.path(claude)).mode & 0o777).toBe(0o640)
    const [note] = home.files('data/connections').filter((file) => file.endsWith('.json'))
    expect(note).toMatch(/claude-code-user-[0-9a-f]{16}\.json$/)
    expect(statSync(home.path(note!)).mode & 0o777).toBe(0o600)
    undo(connection)
    expect(statSync(home.path(claude)).mode & 0o777).toBe(0o640)
  })

  test('a link stays a link, and what it leads to is changed', () => {
    const home = temporaryHome()
    home.write('dotfiles/claude.json', '{ "model": "x" }\n')
    mkdirSync(home.path('.claude'))
    symlinkSync(home.path('dotfiles/claude.json'), home.path(claude))
    const connection = connectionOf('claude-code', home)
    connect(connection)
    expect(lstatSync(home.path(claude)).isSymbolicLink()).toBe(true)
    expect(parse(home.read('dotfiles/claude.json')).hooks.PreToolUse).toHaveLength(1)
    undo(connection)
    expect(lstatSync(home.path(claude)).isSymbolicLink()).toBe(true)
    expect(home.read('dotfiles/claude.json')).toBe('{ "model": "x" }\n')
  })
})

describe('what others do meanwhile', () => {
  test('later edits survive a disconnect, and undo refuses to lose them', () => {
    const home = temporaryHome()
    home.write(claude, '{\n  "model": "x"\n}\n')
    const connection = connectionOf('claude-code', home)
    connect(connection)
    home.write(claude, home.read(claude).replace('"x"', '"y" /* mine */'))
    expect(() => undo(connection)).toThrow(
      expect.objectContaining({
        code: 'connect.changed',
        message: expect.stringContaining('+  "model": "x"'),
      }),
    )
    disconnect(connection)
    expect(home.read(claude)).toBe('{\n  "model": "y" /* mine */\n}\n')
  })

  test('undo with force puts the old file back all the same', () => {
    const home = temporaryHome()
    home.write(claude, '{}')
    const connection = connectionOf('claude-code', home)
    connect(connection)
    home.write(claude, '{ "mine": 1 }')
    undo(connection, { force: true })
    expect(home.read(claude)).toBe('{}')
  })

  test('a hook that a person added to our group stays', () => {
    const home = temporaryHome()
    const connection = connectionOf('claude-code', home)
    connect(connection)
    const value = JSON.parse(home.read(claude))
    value.hooks.PreToolUse[0].hooks.push({ type: 'command', command: '../../test/connect/mine.sh' })
    home.write(claude, JSON.stringify(value, undefined, 4))
    disconnect(connection)
    expect(JSON.parse(home.read(claude))).toEqual({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: '../../test/connect/mine.sh' }] }] },
    })
  })

  test('connecting again after an edit goes back to the edited file', () => {
    const home = temporaryHome()
    home.write(claude, '{\n  "model": "x"\n}\n')
    connect(connectionOf('claude-code', home))
    home.write(claude, home.read(claude).replace('"x"', '"y"'))
    const other = connectionOf('claude-code', home, { timeoutMs: 30_000 })
    connect(other)
    undo(other)
    expect(home.read(claude)).toBe('{\n  "model": "y"\n}\n')
  })

  test('a file that changes between reading and writing is left alone', () => {
    const home = temporaryHome()
    home.write(claude, '{}')
    const connection = connectionOf('claude-code', home)
    const [target] = connection.targets
    const late = {
      ...target!,
      merge(text: string | undefined) {
        home.write(claude, '{ "theirs": true }')
        return target!.merge(text)
      },
    }
    expect(() => connect({ ...connection, targets: [late] })).toThrow(
      expect.objectContaining({ code: 'connect.changed' }),
    )
    expect(home.read(claude)).toBe('{ "theirs": true }')
    expect(readdirSync(home.path('.claude'))).toEqual(['settings.json'])
  })

  test('what a killed process left is gone after the next time', async () => {
    const home = temporaryHome()
    home.write(claude, '{}')
    const gone = spawn(process.execPath, ['--version'])
    await new Promise((resolve) => gone.on('exit', resolve))
    home.write(`.claude/.settings.json.hookhelm-new-${gone.pid}`, 'half a file')
    home.write('.claude/.settings.json.hookhelm-new-1', 'of a process that runs')
    connect(connectionOf('claude-code', home))
    expect(readdirSync(home.path('.claude')).sort()).toEqual([
      '.settings.json.hookhelm-new-1',
      'settings.json',
    ])
  })

  test('several at once end as if they had come one after the other', async () => {
    const home = temporaryHome()
    home.write(claude, '{\n  "model": "x"\n}\n')
    const lines = [['--timeout', '20'], ['--timeout', '30'], ['--fail-open']]
    const results = await Promise.all(lines.map((more) => home.hookhelm(['connect', 'claude-code', ...more])))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(JSON.parse(home.read(claude)).hooks.PreToolUse).toHaveLength(1)
    expect((await home.hookhelm(['undo', 'claude-code'])).code).toBe(0)
    expect(home.read(claude)).toBe('{\n  "model": "x"\n}\n')
  })
})

describe('nothing is changed', () => {
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['broken JSON', '{ "hooks": {\n  "PreToolUse": [ }', /settings\.json:2:\d+ is not JSON/],
    ['an unfinished file', '{ "hooks": ', /is not JSON/],
    ['two values', '{} {}', /is not JSON/],
    ['no object', '[]', /must hold an object/],
    ['hooks as a list', '{ "hooks": [] }', /:1:12 hooks must be an object/],
    ['an event as a text', '{ "hooks": { "PreToolUse": "x" } }', /hooks\.PreToolUse must be a list/],
    ['a group with a text', '{ "hooks": { "Stop": [{ "hooks": "x" }] } }', /must be a list/],
    ['one key twice', '{ "hooks": {}, "hooks": {} }', /names "hooks" twice/],
    ['endless nesting', '['.repeat(200_000), /nested too deeply|is not JSON/],
  ]
  test.each(refused)('%s', (_, text, message) => {
    const home = temporaryHome()
    home.write(claude, text)
    expect(() => connect(connectionOf('claude-code', home))).toThrow(
      expect.objectContaining({ code: 'connect.config', message: expect.stringMatching(message) }),
    )
    expect(home.read(claude)).toBe(text)
    expect(home.files('data')).toEqual(['data/connections/lock.db'])
  })

  test('bytes that are no text', () => {
    const home = temporaryHome()
    const bytes = Buffer.from([0x7b, 0xff, 0x7d])
    home.write(claude, '')
    writeFileSync(home.path(claude), bytes)
    expect(() => connect(connectionOf('claude-code', home))).toThrow(/is not UTF-8/)
    expect(readFileSync(home.path(claude))).toEqual(bytes)
  })

  test('a file that may not be written', () => {
    const home = temporaryHome()
    chmodSync(home.write(claude, '{}'), 0o444)
    expect(() => connect(connectionOf('claude-code', home))).toThrow(
      expect.objectContaining({ code: 'connect.config', hint: expect.stringContaining('chmod u+w') }),
    )
    expect(home.read(claude)).toBe('{}')
  })

  test('a folder in place of the file, and a link to nowhere', () => {
    const home = temporaryHome()
    mkdirSync(home.path(claude), { recursive: true })
    expect(() => connect(connectionOf('claude-code', home))).toThrow(/is not a regular file/)
    mkdirSync(home.path('.cursor'))
    symlinkSync(home.path('nowhere'), home.path('.cursor/hooks.json'))
    expect(() => connect(connectionOf('cursor', home))).toThrow(/broken link/)
  })

  test('a plugin of somebody else', () => {
    const home = temporaryHome()
    home.write('.config/opencode/plugin/hookhelm.js', 'export const Mine = 1\n')
    expect(() => connect(connectionOf('opencode', home))).toThrow(
      /exists already, and Hookhelm did not write it/,
    )
    expect(home.read('.config/opencode/plugin/hookhelm.js')).toBe('export const Mine = 1\n')
  })

  test('a dry run says what would happen and leaves nothing behind', () => {
    const home = temporaryHome()
    home.write(claude, '{}')
    const [change] = connect(connectionOf('claude-code', home), { dryRun: true })
    expect(change).toMatchObject({ kind: 'changed', diff: expect.stringContaining('+    "PreToolUse": [') })
    expect(home.files()).toEqual([claude])
  })

  test('undo without a backup, or with a damaged one', () => {
    const home = temporaryHome()
    home.write(claude, '{}')
    const connection = connectionOf('claude-code', home)
    expect(() => undo(connection)).toThrow(expect.objectContaining({ code: 'connect.agent' }))
    connect(connection)
    const [note] = home.files('data/connections').filter((file) => file.endsWith('.json'))
    home.write(note!, home.read(note!).replace(/"base64": "[^"]*"/, '"base64": "AAAA"'))
    expect(() => undo(connection)).toThrow(/the backup in it is damaged/)
    expect(JSON.parse(home.read(claude)).hooks).toBeDefined()
  })
})

describe('OpenClaw', () => {
  const file = '.openclaw/openclaw.json'

  test('is told where the plugin lies, that it is on and, where only some are allowed, that it is', () => {
    const home = temporaryHome()
    const text = '{\n  // mine\n  "plugins": { "allow": ["other"], "load": { "paths": ["/a"] } },\n}\n'
    home.write(file, text)
    const connection = connectionOf('openclaw', home)
    connect(connection)
    const folder = home.path('data/plugins/hookhelm-openclaw')
    expect(parse(home.read(file))).toEqual({
      plugins: {
        allow: ['other', 'hookhelm'],
        load: { paths: ['/a', folder] },
        entries: { hookhelm: { enabled: true, hooks: { allowConversationAccess: true } } },
      },
    })
    expect(readdirSync(folder).sort()).toEqual(['index.js', 'openclaw.plugin.json', 'package.json'])
    home.write(file, home.read(file).replace('// mine', '// still mine'))
    disconnect(connection)
    expect(parse(home.read(file))).toEqual(parse(text))
    expect(home.read(file)).toContain('// still mine')
    expect(home.files('data/plugins')).toEqual([])
  })

  test('JSON5 that we cannot read is refused with line and column', () => {
    const home = temporaryHome()
    home.write(file, '{ plugins: { load: {} } }\n')
    expect(() => connect(connectionOf('openclaw', home))).toThrow(/openclaw\.json:1:3 is not JSON/)
  })
})
