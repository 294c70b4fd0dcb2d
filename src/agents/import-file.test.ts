import { expect, test } from 'vitest'
import { imported, refused, yaml } from '../config/formats/imported.fixture.ts'
import { printHookFile } from '../config/print-hook-file.ts'
import { readHookText } from '../config/read/read-hook-file.ts'
import { detectFormat, importFile, importFormats } from './import-file.ts'

const command = { type: 'command', command: 'true' }

const files = [
  ['openharness-seed', { hooks: [{ events: ['PRE_TOOL_USE'], command: 'true' }] }],
  ['openharness', { model: 'x', hooks: { pre_tool_use: [command] } }],
  ['claude-code', { permissions: {}, hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command] }] } }],
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

test('every format has an example here, but for the agents whose files look like those of Claude Code', async () => {
  const others = ['codex', 'gemini-cli', 'copilot-cli', 'cursor']
  expect(new Set([...files.map(([name]) => name), ...others])).toEqual(new Set(importFormats))
})

test.each([
  ['hook-chains', { enabled: true, rules: [] }, 'recovery rules'],
  ['hook-chains', { hookChains: { rules: [] } }, 'recovery rules'],
  ['blueprints', { name: 'a', hooks: { on_run_start: { agent_name: 'b' } } }, 'blueprints'],
  ['blueprints', [{ name: 'a' }], 'blueprints'],
])('%s is recognised and refused, and the message names its content', async (name, given, content) => {
  expect(detectFormat(given)).toBe(name)
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
