import { expect, test } from 'vitest'
import { eventInput, reportMatch, toolCallInput } from '../../../test/engine/match.fixture.ts'
import type { HookConditions } from '../core/hook.ts'
import type { MatchInput } from './match-part.ts'

const explain = reportMatch

test('ruling 37 a match is reported as one', () => {
  expect(explain({ matcher: 'Bash' }, toolCallInput('Bash'))).toEqual({ result: 'matched' })
})

const misses: readonly (readonly [HookConditions, MatchInput, string])[] = [
  [{ matcher: '^Edit$' }, toolCallInput('Bash'), 'matcher ^Edit$ does not match "Bash"'],
  [{ matcher: 'Bash' }, eventInput({}), 'matcher Bash needs a name, and this event has none'],
  [{ match: { glob: 'mcp__*' } }, toolCallInput('Bash'), 'glob mcp__* does not match "Bash"'],
  [{ match: { names: ['Edit', 'Write'] } }, toolCallInput('Bash'), 'names Edit, Write do not include "Bash"'],
  [
    { matcher: 'Bash(git push*)' },
    toolCallInput('Bash', { command: 'ls' }),
    'matcher Bash(git push*) does not match the arguments of this Bash call',
  ],
  [
    { match: { fields: { 'meta.source': 'scheduler' } } },
    eventInput({ meta: { source: 'cron' } }),
    'fields meta.source is "cron", not "scheduler"',
  ],
  [{ match: { fields: { a: 1, b: 2 } } }, eventInput({ a: 1 }), 'fields b is missing, not 2'],
  [{ match: { fields: { a: 1 } } }, eventInput({ a: [1] }), 'fields a is a list, not 1'],
  [
    { match: { outcome: ['failed', 'timeout'] } },
    eventInput({}),
    'outcome is "unknown", not failed, timeout',
  ],
  [{ agent_ids: ['a1'] }, eventInput({}, { agent: 'scout' }), 'agent "scout" is not in agent_ids'],
  [{ agent_ids: ['a1'] }, eventInput({}), 'the event names no agent'],
  [{ if_expr: 'depth > 1' }, eventInput({}), 'if_expr is false'],
]

test.each(misses)('ruling 37 a miss is explained in a sentence: %j', (hook, input, because) => {
  expect(explain(hook, input)).toMatchObject({ result: 'missed', because })
})

test('the first part that fails is named', () => {
  expect(explain({ matcher: 'Edit', if_expr: 'depth > 1' }, toolCallInput('Bash'))).toMatchObject({
    part: 'matcher',
    source: 'Edit',
  })
})

test('4.3 #41 a part that cannot decide is reported with its error', () => {
  expect(explain({ if_expr: 'tool_input.x == 1' }, toolCallInput('Bash'))).toMatchObject({
    result: 'failed',
    part: 'if_expr',
    error: { code: 'match.cel_eval' },
  })
})

test('a payload that throws when read is reported, not thrown', () => {
  const payload = {
    get a(): number {
      throw new TypeError('no')
    },
  }
  expect(explain({ match: { fields: { a: 1 } } }, eventInput(payload))).toMatchObject({
    result: 'failed',
    error: { code: 'input.unreadable' },
  })
})

test('a long value is clipped in the explanation', () => {
  const report = explain({ match: { fields: { a: 'x' } } }, eventInput({ a: 'y'.repeat(5_000) }))
  expect(JSON.stringify(report).length).toBeLessThan(300)
})
