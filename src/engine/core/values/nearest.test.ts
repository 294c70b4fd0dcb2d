import { expect, test } from 'vitest'
import { foldName, nearest } from './nearest.ts'

const names = ['pre_tool_use', 'post_tool_use', 'stop', 'session_start']

test('case and separators do not count', () => {
  for (const name of ['PreToolUse', 'PRE_TOOL_USE', 'pre-tool-use', 'pre.tool.use'])
    expect(foldName(name)).toBe('pretooluse')
})

test('a slip of the keyboard finds its name', () => {
  expect(nearest('pre_tol_use', names)).toBe('pre_tool_use')
  expect(nearest('PostToolUsed', names)).toBe('post_tool_use')
  expect(nearest('sotp', names)).toBe('stop')
})

test('something else altogether finds nothing', () => {
  expect(nearest('banana_split_please', names)).toBeUndefined()
  expect(nearest('', names)).toBeUndefined()
})

test('a very long word is cut before it is compared', () => {
  expect(nearest('x'.repeat(1_000_000), names)).toBeUndefined()
})
