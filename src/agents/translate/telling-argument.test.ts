import { expect, test } from 'vitest'
import { tellingArgument } from './telling-argument.ts'

const call = (tool_name: string, tool_input: unknown) =>
  tellingArgument('pre_tool_use', { tool_name, tool_input })

test.each([
  ['Bash', { description: 'lists', command: 'ls -l' }, 'ls -l'],
  ['Read', { limit: 2, file_path: '/a.ts' }, '/a.ts'],
  ['Edit', { command: '*** Begin Patch', file_path: 'a', file_paths: ['a', 'b'] }, 'a, b'],
  ['Grep', { path: 'src', pattern: 'TODO' }, 'TODO'],
  ['WebFetch', { prompt: 'sum up', url: 'https://a.example' }, 'https://a.example'],
  ['Agent', { prompt: 'look at it', description: 'Review' }, 'Review'],
  ['mcp__db__run', { timeout: 5, query: 'select 1' }, 'select 1'],
  ['mcp__x__y', { count: 3, where: 'here' }, 'here'],
  ['mcp__x__y', { count: 3 }, '3'],
  ['constructor', { constructor: 'x' }, 'x'],
])('%s %j is about %j', (tool, input, argument) => {
  expect(call(tool, input)).toBe(argument)
})

test('an event without a tool is about its own field', () => {
  expect(tellingArgument('user_prompt_submit', { prompt: 'do it' })).toBe('do it')
  expect(tellingArgument('session_start', { source: 'resume' })).toBe('resume')
  expect(tellingArgument('stop', { stop_hook_active: true })).toBeUndefined()
})

test('a call that tells nothing has none', () => {
  expect(call('Bash', {})).toBeUndefined()
  expect(call('Bash', { command: '  ' })).toBeUndefined()
  expect(call('Bash', 'text')).toBeUndefined()
  expect(call('toString', { nested: { a: 1 } })).toBeUndefined()
})
