import { describe, expect, test } from 'vitest'
import { prepareConfig } from '../../../test/handlers/handlers.fixture.ts'
import { imported, refused } from '../../../test/hook-files/imported.fixture.ts'
import type { ImportSource } from '../../hook-files/formats/import-format.ts'
import { importFile } from '../import-file.ts'

const importClaudeCode = (given: ImportSource) => importFile(given, 'claude-code')

/** As plugins write it, for Claude Code to fill in. */
const pluginRoot = ['$', '{CLAUDE_PLUGIN_ROOT}'].join('')
const command = { type: 'command', command: './check.sh' }
const from = (hooks: object, rest: object = {}) => imported(importClaudeCode({ hooks, ...rest }))
const one = (matcher: string | undefined, hook: object, event = 'PreToolUse') =>
  from({ [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [hook] }] })

test('a command keeps its timeout in milliseconds and fails open, as it does there', async () => {
  const { definitions, notes } = await one('Bash', { ...command, timeout: 1.5 })
  expect(definitions).toEqual([
    {
      event: 'PreToolUse',
      handler_type: 'command',
      match: { names: ['Bash'] },
      timeout_ms: 1_500,
      on_error: 'allow',
      on_timeout: 'allow',
      on_invalid: 'allow',
      answer: 'lenient',
      config: { command: './check.sh', payload: 'claude-code' },
    },
  ])
  expect(notes).toEqual([])
  expect(prepareConfig(definitions[0]!)).toMatchObject({ format: 'hookhelm' })
})

describe('matchers', () => {
  test.each([
    [undefined, {}],
    ['', {}],
    ['*', {}],
    ['Bash', { match: { names: ['Bash'] } }],
    ['Edit|Write', { match: { names: ['Edit', 'Write'] } }],
    ['Edit, Write', { match: { names: ['Edit', 'Write'] } }],
    ['mcp__memory__.*', { matcher: 'mcp__memory__.*' }],
    ['^Notebook', { matcher: '^Notebook' }],
    ['Bash(git)', { matcher: '(?:Bash(git))' }],
  ])('%j', async (matcher, condition) => {
    const { match, matcher: regex } = (await one(matcher, command)).definitions[0]!
    expect({ ...(match ? { match } : {}), ...(regex === undefined ? {} : { matcher: regex }) }).toEqual(
      condition,
    )
  })

  test.each([
    ['', 'Bash(git *)', { match: { names: ['Bash(git *)'] } }],
    ['Bash|Edit', 'Bash(git *)', { match: { names: ['Bash(git *)'] } }],
    ['^B', 'Bash(git *)', { matcher: '^B', match: { names: ['Bash(git *)'] } }],
    ['', 'Bash', { match: { names: ['Bash'] } }],
  ])('%j with if %j', async (matcher, rule, condition) => {
    expect((await one(matcher, { ...command, if: rule })).definitions[0]).toMatchObject(condition)
  })

  test('that can never hold switch the hook off, and the import says so', async () => {
    const { definitions, notes } = await one('Edit', { ...command, if: 'Bash(git *)' })
    expect(definitions).toMatchObject([{ enabled: false }])
    expect(notes).toEqual([expect.stringContaining('never hold together')])
  })

  test('that RE2 cannot read are refused where they stand', async () => {
    expect(
      await refused(
        importClaudeCode({ hooks: { PreToolUse: [{ matcher: '^(?!Bash)', hooks: [command] }] } }),
      ),
    ).toMatchObject([{ code: 'match.unsupported', pointer: '/hooks/PreToolUse/0/hooks/0' }])
  })
})

describe('handlers', () => {
  test('arguments become a program without a shell', async () => {
    const { definitions } = await one(undefined, { ...command, command: '/x', args: ['a b'] })
    expect(definitions[0]?.config).toMatchObject({ exec: ['/x', 'a b'] })
  })

  test('the folder of a plugin is filled in if the file is in the plugin', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ ...command, command: `${pluginRoot}/x` }] }] }
    const given = { text: JSON.stringify({ hooks }), path: '/plugins/a/hooks/hooks.json' }
    expect((await imported(importClaudeCode(given))).definitions).toMatchObject([
      { config: { command: '/plugins/a/x' } },
    ])
  })

  test('a guard in an unknown folder of a plugin would never run, so it is refused', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ ...command, command: `${pluginRoot}/x` }] }] }
    expect(await refused(importClaudeCode({ hooks }))).toMatchObject([
      { message: expect.stringContaining('CLAUDE_PLUGIN_ROOT'), pointer: '/hooks/PreToolUse/0/hooks/0' },
    ])
  })

  test('http, prompt and agent hooks have the default timeouts of their kind', async () => {
    const { definitions, notes } = await from({
      UserPromptSubmit: [{ hooks: [command] }],
      PostToolUse: [
        {
          hooks: [
            { type: 'http', url: 'https://a.example', headers: { A: '$KEY' }, allowedEnvVars: ['KEY'] },
            { type: 'prompt', prompt: 'ok? $ARGUMENTS' },
            { type: 'agent', prompt: 'look', model: 'haiku' },
          ],
        },
      ],
    })
    expect(definitions.map(({ handler_type, timeout_ms }) => [handler_type, timeout_ms])).toEqual([
      ['command', 30_000],
      ['http', 600_000],
      ['prompt', 30_000],
      ['agent', 60_000],
    ])
    expect(prepareConfig(definitions[2]!)).toMatchObject({
      format: 'openharness',
      canBlock: true,
    })
    expect(notes).toEqual([expect.stringMatching(/^line 1 \/hooks\/PostToolUse\/0\/hooks\/0\/headers: /)])
  })

  test('onFailure: block closes', async () => {
    expect((await one('', { ...command, onFailure: 'block' })).definitions).toMatchObject([
      { on_error: 'block', on_timeout: 'block', on_invalid: 'block', answer: 'strict' },
    ])
  })

  test('every field without an equivalent gets a note with its place', async () => {
    const { definitions, notes } = await from(
      {
        PreToolUse: [
          {
            comment: 'x',
            hooks: [{ ...command, once: true, statusMessage: 'x', async: true, colour: 'red' }],
          },
        ],
      },
      { permissions: { deny: ['Bash'] } },
    )
    expect(definitions).toMatchObject([{ shadow: true }])
    expect(notes).toEqual([
      expect.stringMatching(/\/hooks\/0\/once: .* runs every time/),
      expect.stringMatching(/\/hooks\/0\/statusMessage: /),
      expect.stringMatching(/\/hooks\/0\/async: .* shadow/),
      expect.stringMatching(/\/PreToolUse\/0\/comment: /),
      expect.stringMatching(/\/hooks\/0\/colour: /),
      expect.stringMatching(/ \/permissions: /),
    ])
  })

  test.each([
    ['a tool of an MCP server', { type: 'mcp_tool', server: 's', tool: 't' }],
    ['a command for PowerShell', { ...command, shell: 'powershell' }],
    ['a command for Windows', { ...command, command: 'powershell.exe -File check.ps1' }],
    [
      'an http hook whose headers need variables',
      { type: 'http', url: 'https://a.example', headers: { A: '$KEY' } },
    ],
  ])('%s: a guard that would not guard is refused, and elsewhere it gets a note', async (_, hook) => {
    expect(await refused(importClaudeCode({ hooks: { PreToolUse: [{ hooks: [hook] }] } }))).toMatchObject([
      {
        pointer: '/hooks/PreToolUse/0/hooks/0',
        message: expect.stringContaining('nothing guards pre_tool_use'),
      },
    ])
    expect((await from({ SessionEnd: [{ hooks: [hook] }] })).notes).toHaveLength(1)
  })

  test('a matcher that Claude Code ignores does not switch the hook off', async () => {
    const { definitions, notes } = await one('Bash', command, 'Stop')
    expect(definitions[0]).not.toHaveProperty('match')
    expect(notes).toEqual([expect.stringContaining('/hooks/Stop/0/matcher: ')])
  })

  test('a hook after a tool call is awaited, so that the model reads its answer', async () => {
    expect((await one('Edit', command, 'PostToolUse')).definitions).toMatchObject([{ transform: true }])
  })

  test('disableAllHooks switches all of them off', async () => {
    const { definitions, notes } = await from({ Stop: [{ hooks: [command] }] }, { disableAllHooks: true })
    expect(definitions).toMatchObject([{ enabled: false }])
    expect(notes).toEqual([expect.stringContaining('disableAllHooks')])
  })
})

test('OH-60 the structured form of a plugin of OpenHarness is the same form', async () => {
  const { definitions } = await imported(
    importClaudeCode({
      hooks: { PreToolUse: [{ matcher: 'bash', hooks: [{ type: 'command', command: '/p/a', timeout: 5 }] }] },
    }),
  )
  expect(definitions).toMatchObject([
    { timeout_ms: 5_000, config: { command: '/p/a' }, match: { names: ['bash'] } },
  ])
})

test('an unknown event is refused', async () => {
  expect(await refused(importClaudeCode({ hooks: { PreTolUse: [{ hooks: [command] }] } }))).toMatchObject([
    { code: 'input.unknown_event' },
  ])
})
