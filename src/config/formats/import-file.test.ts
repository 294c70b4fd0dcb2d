import { expect, test } from 'vitest'
import { printHookFile } from '../print-hook-file.ts'
import { readHookText } from '../read/read-hook-file.ts'
import { formatNames, formatOf, importFile } from './import-file.ts'
import { imported, refused, yaml } from './imported.fixture.ts'

const command = { type: 'command', command: 'true' }

const files = [
  ['openharness-seed', { hooks: [{ events: ['PRE_TOOL_USE'], command: 'true' }] }],
  ['openharness', { model: 'x', hooks: { pre_tool_use: [command] } }],
  ['claude-code', { permissions: {}, hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command] }] } }],
  ['hook-chains', { enabled: true, rules: [] }],
  ['hook-chains', { hookChains: { rules: [] } }],
  ['blueprints', { name: 'a', hooks: { on_run_start: { agent_name: 'b' } } }],
  ['blueprints', [{ name: 'a' }]],
  ['goclaw', [{ event: 'stop', handler_type: 'http', config: { url: 'https://a.example' } }]],
  ['goclaw', { hooks: [{ event: 'stop', handler_type: 'http', config: { url: 'https://a.example' } }] }],
  ['quality-gates', { quality_gates: [{ event: 'delegation.completed', type: 'command', command: 'true' }] }],
] as const

test.each(files)('%s is recognised by its shape, and what comes out is a hook file', (name, given) => {
  expect(formatOf(given)).toBe(name)
  const { definitions, rules, blueprints, notes } = imported(importFile(given))
  const file = {
    version: 1 as const,
    hooks: definitions,
    ...(rules ? { rules } : {}),
    ...(blueprints ? { blueprints } : {}),
  }
  expect(readHookText(printHookFile(file, notes), 'hooks.yaml')).toEqual({ kind: 'good', file })
})

test('every format has an example here', () => {
  expect(new Set(files.map(([name]) => name))).toEqual(new Set(formatNames))
})

test('a format can be named, and then its problems are shown', () => {
  expect(refused(importFile({ hooks: {} }, 'openharness-seed'))).toMatchObject([
    { code: 'config.field', pointer: '/hooks' },
  ])
})

test.each(['{}', '7', '"text"', 'null'])('%s is none of them', (text) => {
  expect(refused(importFile(yaml(text, 'a.json')))).toMatchObject([
    { code: 'config.field', hint: expect.stringContaining('goclaw') },
  ])
})

test('what cannot be parsed is shown with its place', () => {
  expect(refused(importFile(yaml('hooks:\n  - [', 'a.yaml')))).toMatchObject([
    { code: 'config.syntax', line: 2 },
  ])
})
