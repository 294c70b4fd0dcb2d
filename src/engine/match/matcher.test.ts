import { expect, test } from 'vitest'
import {
  catchHookError,
  compileError,
  eventInput,
  matches,
  toolCallInput,
} from '../../../test/engine/match.fixture.ts'
import { compileMatcher } from './matcher.ts'

test('CH-24 a hook without conditions matches everything, by name alone', () => {
  const matcher = compileMatcher({}, 'pre_tool_use')
  expect(matcher.parts).toEqual([])
  expect(matcher.byName('')).toBe(true)
  expect(matcher.when).toBeUndefined()
})

test('conditions on the name alone need no look at the payload', () => {
  const matcher = compileMatcher({ matcher: '^B', match: { glob: '*h', names: ['Bash'] } }, 'pre_tool_use')
  expect(matcher.when).toBeUndefined()
  expect(matcher.byName('Bash')).toBe(true)
  expect(matcher.byName('Batch')).toBe(false)
})

test('CH-24 all conditions must hold', () => {
  const hook = {
    matcher: 'Bash',
    agent_ids: ['a1'],
    match: { fields: { 'tool_input.n': 1 }, outcome: 'unknown' },
    if_expr: 'depth == 1',
  } as const
  const full = toolCallInput('Bash', { n: 1 }, { agentId: 'a1', depth: 1 })
  expect(matches(hook, full)).toBe(true)
  expect(matches(hook, { ...full, name: 'Edit' })).toBe(false)
  expect(matches(hook, { ...full, envelope: { agentId: 'a2', depth: 1 } })).toBe(false)
  expect(matches(hook, { ...full, envelope: { agentId: 'a1', depth: 2 } })).toBe(false)
  expect(matches(hook, { ...full, payload: { tool_input: { n: 2 } } })).toBe(false)
})

test('a condition in CEL is not evaluated when a cheaper one has failed', () => {
  const hook = { if_expr: 'payload.missing == 1', match: { fields: { kind: 'a' } } }
  expect(matches(hook, eventInput({ kind: 'b' }))).toBe(false)
  expect(catchHookError(() => matches(hook, eventInput({ kind: 'a' })))).toMatchObject({
    code: 'match.cel_eval',
  })
})

test('a payload that throws when read arrives as a coded error', () => {
  const payload = {
    get kind(): string {
      throw new TypeError('no')
    },
  }
  const hook = { match: { fields: { kind: 'a' } } }
  expect(catchHookError(() => matches(hook, eventInput(payload)))).toMatchObject({ code: 'input.unreadable' })
})

test('a matcher of the wrong type never turns into one that matches everything', () => {
  expect(compileError(JSON.parse('{"matcher":["Bash"]}'))).toMatchObject({
    code: 'config.field',
    at: 'matcher',
  })
  expect(compileError(JSON.parse('{"match":{"glob":1}}'))).toMatchObject({ at: 'match.glob' })
  expect(compileError(JSON.parse('{"if_expr":true}'))).toMatchObject({ at: 'if_expr' })
  expect(compileError(JSON.parse('{"match":"Bash"}'))).toMatchObject({ at: 'match' })
  expect(compileError(JSON.parse('{"match":{"names":""}}'))).toMatchObject({ at: 'match.names' })
  expect(compileError(JSON.parse('{"match":{"tool":"Bash"}}'))).toMatchObject({ at: 'match.tool' })
})

test('an error names the hook, the event and the part', () => {
  const error = compileError({ name: 'no pushes', matcher: '(' })
  expect(error.message).toContain('hook no pushes on pre_tool_use: matcher "("')
  expect(compileError({ matcher: '(' }).message).toContain('a hook on pre_tool_use')
})

test('null in JSON is no condition', () => {
  const hook = JSON.parse(
    '{"matcher":null,"if_expr":null,"agent_ids":null,"match":{"names":null,"fields":null}}',
  )
  expect(compileMatcher(hook, 'pre_tool_use').parts).toEqual([])
})
