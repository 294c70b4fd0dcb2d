import { describe, expect, test } from 'vitest'
import { imported, refused, yaml } from '../../test/hook-files/imported.fixture.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { printHookFile } from '../hook-files/print-hook-file.ts'
import { readHookText } from '../hook-files/read/read-hook-file.ts'
import { detectFormat, importFile, importFormats } from './import-file.ts'

const command = { type: 'command', command: 'true' }

const files = [
  ['openharness-seed', { hooks: [{ events: ['PRE_TOOL_USE'], command: 'true' }] }],
  ['openharness', { model: 'x', hooks: { pre_tool_use: [command] } }],
  ['claude-code', { permissions: {}, hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command] }] } }],
  ['codex', { hooks: { PreToolUse: [{ hooks: [{ ...command, commandWindows: 'x' }] }] } }],
  ['gemini-cli', { hooks: { BeforeTool: [{ matcher: 'x', hooks: [{ ...command, timeout: 5_000 }] }] } }],
  ['copilot-cli', { version: 1, hooks: { preToolUse: [{ type: 'command', bash: 'true', timeoutSec: 5 }] } }],
  ['cursor', { version: 1, hooks: { beforeShellExecution: [{ command: 'true' }] } }],
  ['goclaw', [{ event: 'stop', handler_type: 'http', config: { url: 'https://a.example' } }]],
  ['goclaw', { hooks: [{ event: 'stop', handler_type: 'http', config: { url: 'https://a.example' } }] }],
  ['quality-gates', { quality_gates: [{ event: 'delegation.completed', type: 'command', command: 'true' }] }],
] as const

test.each(files)('%s is recognised by its shape, and what comes out is a hook file', async (name, given) => {
  expect(detectFormat(given)).toBe(name)
  const { definitions, notes } = await imported(importFile(given))
  const file = { version: 1 as const, hooks: definitions }
  expect(readHookText(printHookFile(file, notes), 'hooks.yaml')).toEqual({ kind: 'good', file })
})

test('every format has an example here', async () => {
  expect(new Set(files.map(([name]) => name))).toEqual(new Set(importFormats))
})

describe('a file that fits two formats', () => {
  const group = (timeout: number) => [{ hooks: [{ ...command, timeout }] }]

  test.each([
    ['Claude Code and Codex', { PreToolUse: group(5) }, ['claude-code', 'codex']],
    ['Claude Code and Gemini CLI', { Notification: group(5_000) }, ['claude-code', 'gemini-cli']],
    ['three of them', { SessionStart: group(5_000) }, ['claude-code', 'codex', 'gemini-cli']],
    ['OpenHarness and Cursor', { stop: [command] }, ['openharness', 'cursor']],
    ['Copilot CLI and Cursor', { preToolUse: [command] }, ['copilot-cli', 'cursor']],
  ])('%s is refused, and the message names both and the flag', async (_, hooks, names) => {
    const [problem] = await refused(importFile({ hooks }))
    for (const name of names) expect(problem?.message).toContain(name)
    for (const name of names) expect(problem?.hint).toContain(`--from ${name}`)
  })

  test.each([
    ['/p/.claude/settings.json', 'claude-code'],
    ['/p/.codex/hooks.json', 'codex'],
    ['/p/.gemini/settings.json', 'gemini-cli'],
  ])('%s: its folder decides', (path, name) => {
    expect(detectFormat({ hooks: { SessionStart: group(5) } }, path)).toBe(name)
  })

  test('both Claude Code and Gemini CLI have a settings.json, so that name decides nothing between them', () => {
    expect(detectFormat({ hooks: { SessionStart: group(5_000) } }, '/p/settings.json')).toBeInstanceOf(
      HookError,
    )
    expect(detectFormat({ hooks: { PreToolUse: group(5) } }, '/p/settings.json')).toBe('claude-code')
  })

  test('the folder never decides against the content', () => {
    const hooks = { BeforeTool: group(5_000) }
    expect(detectFormat({ hooks }, '/p/.claude/settings.json')).toBe('gemini-cli')
  })
})

test('a file that fits none is refused with what was looked for', async () => {
  const [problem] = await refused(importFile({ hooks: { PreTolUse: [{ hooks: [command] }] } }))
  expect(problem?.message).toContain('claude-code: none of its events is there')
  expect(problem?.hint).toContain('--from')
})

test('a hook file of Hookhelm is no import', async () => {
  const hooks = [{ event: 'stop', handler_type: 'command', config: { command: 'true' } }]
  expect(await refused(importFile({ version: 1, hooks }))).toMatchObject([
    { message: expect.stringContaining('hook file of Hookhelm already') },
  ])
})

test.each([
  [{ enabled: true, rules: [] }, 'recovery rules'],
  [{ hookChains: { rules: [] } }, 'recovery rules'],
  [{ name: 'a', hooks: { on_run_start: { agent_name: 'b' } } }, 'blueprints'],
  [[{ name: 'a' }], 'blueprints'],
])('%j is recognised and refused, and the message names its content', async (given, content) => {
  expect(await refused(importFile(given))).toMatchObject([
    { code: 'config.field', message: expect.stringContaining(content) },
  ])
})

test('a format can be named, and then its problems are shown', async () => {
  expect(await refused(importFile({ hooks: {} }, 'openharness-seed'))).toMatchObject([
    { code: 'config.field', pointer: '/hooks' },
  ])
})

test.each(['{}', '7', '"text"', 'null'])('%s is none of them', async (text) => {
  expect(await refused(importFile(yaml(text, 'a.json')))).toMatchObject([
    { code: 'config.field', hint: expect.stringContaining('goclaw') },
  ])
})

test('what cannot be parsed is shown with its place', async () => {
  expect(await refused(importFile(yaml('hooks:\n  - [', 'a.yaml')))).toMatchObject([
    { code: 'config.syntax', line: 2 },
  ])
})
