import { describe, expect, test } from 'vitest'
import { compileRules, evaluateHookChainRules, type HookChainEvent, unmetCondition } from './compile-rules.ts'
import type { RuleCondition, TriggeredRule } from './files/rule-schema.ts'

const event: HookChainEvent = { eventName: 'TaskCompleted', outcome: 'failed' }
const rule = (id: string, fields: Partial<TriggeredRule> = {}): TriggeredRule => ({
  id,
  trigger: { event: 'TaskCompleted' },
  ...fields,
})
const matches = (condition: RuleCondition, payload?: Record<string, unknown>) =>
  evaluateHookChainRules([rule('r', { condition })], payload === undefined ? event : { ...event, payload })
    .length === 1

test('CH-22 every enabled rule that matches is returned, in the order of the file', () => {
  const rules = [
    rule('c'),
    rule('off', { enabled: false }),
    rule('a'),
    rule('other', { trigger: { event: 'Stop' } }),
    rule('c'),
  ]
  expect(evaluateHookChainRules(rules, event).map(({ rule: { id } }) => id)).toEqual(['c', 'a', 'c'])
})

test('CH-22 rules that name a tool and rules that name none keep their order', () => {
  const tools = (toolNames: string[]) => ({ condition: { toolNames } })
  const rules = [
    rule('1'),
    rule('2', tools(['Edit', 'Write', 'Edit'])),
    rule('3', tools(['Bash'])),
    rule('4', tools([])),
    rule('5', tools(['Write'])),
    rule('6'),
  ]
  const matched = (payload: Record<string, unknown>) =>
    evaluateHookChainRules(rules, { ...event, payload }).map(({ rule: { id } }) => id)
  expect(matched({ tool_name: 'Write' })).toEqual(['1', '2', '4', '5', '6'])
  expect(matched({ toolName: 'Bash' })).toEqual(['1', '3', '4', '6'])
  expect(matched({ tool_name: 'Read' })).toEqual(['1', '4', '6'])
  expect(matched({})).toEqual(['1', '4', '6'])
})

test('CH-23 the event must have exactly the name, and without an outcome any is accepted', () => {
  const at = (trigger: TriggeredRule['trigger']) =>
    evaluateHookChainRules([rule('r', { trigger })], event).length
  expect(at({ event: 'TaskCompleted' })).toBe(1)
  expect(at({ event: 'taskCompleted' })).toBe(0)
  expect(at({ event: 'TaskCompleted ' })).toBe(0)
  expect(at({ event: 'TaskCompleted', outcome: 'failed' })).toBe(1)
  expect(at({ event: 'TaskCompleted', outcome: 'timeout' })).toBe(0)
  expect(at({ event: 'TaskCompleted', outcomes: ['timeout', 'failed'] })).toBe(1)
  expect(at({ event: 'TaskCompleted', outcomes: ['timeout', 'unknown'] })).toBe(0)
})

describe('conditions', () => {
  test('CH-24 all must hold; an absent or empty one does', () => {
    expect(matches({})).toBe(true)
    expect(matches({ toolNames: [], taskStatuses: [], errorIncludes: [], eventFieldEquals: {} })).toBe(true)
    const both = { toolNames: ['Edit'], errorIncludes: ['denied'] }
    expect(matches(both, { tool_name: 'Edit', error: 'denied' })).toBe(true)
    expect(matches(both, { tool_name: 'Edit', error: 'other' })).toBe(false)
    expect(matches(both, { tool_name: 'Bash', error: 'denied' })).toBe(false)
  })

  test('CH-25 toolNames is exact; the first name that is not empty counts', () => {
    expect(matches({ toolNames: ['Edit', 'Write'] }, { tool_name: 'Write' })).toBe(true)
    expect(matches({ toolNames: ['Edit'] }, { toolName: 'Edit' })).toBe(true)
    expect(matches({ toolNames: ['Edit'] }, { tool_name: '', toolName: 'Edit' })).toBe(true)
    expect(matches({ toolNames: ['Edit'] }, { tool_name: 'Bash', toolName: 'Edit' })).toBe(false)
    expect(matches({ toolNames: ['Edit'] }, { tool_name: 'edit' })).toBe(false)
    expect(matches({ toolNames: ['Edit'] }, {})).toBe(false)
  })

  test('CH-26 taskStatuses looks at task_status, taskStatus and status', () => {
    for (const key of ['task_status', 'taskStatus', 'status'])
      expect(matches({ taskStatuses: ['failed'] }, { [key]: 'failed' })).toBe(true)
    expect(matches({ taskStatuses: ['failed'] }, { task_status: 'done', status: 'failed' })).toBe(false)
    expect(matches({ taskStatuses: ['failed'] }, { status: 1 })).toBe(false)
  })

  test('CH-27 errorIncludes finds a part of the first text of error, reason and message, in any case', () => {
    const condition = { errorIncludes: ['timeout', 'Permission Denied'] }
    expect(matches(condition, { error: 'connection TIMEOUT' })).toBe(true)
    expect(matches(condition, { error: '', reason: 'permission denied by policy' })).toBe(true)
    expect(matches(condition, { error: 5, message: 'timeout' })).toBe(true)
    expect(matches(condition, { error: 'other', message: 'timeout' })).toBe(false)
    expect(matches(condition, {})).toBe(false)
  })

  test('CH-28 eventFieldEquals compares without conversion, along a dot path of own fields', () => {
    const payload = { meta: { source: 'scheduler', n: 1, flag: true }, l: ['first'] }
    const at = (fields: Record<string, string | number | boolean>) =>
      matches({ eventFieldEquals: fields }, payload)
    expect(at({ 'meta.source': 'scheduler', 'meta.n': 1, 'meta.flag': true })).toBe(true)
    expect(at({ 'meta.n': '1' })).toBe(false)
    expect(at({ 'meta..source': 'scheduler' })).toBe(true)
    expect(at({ 'l.0': 'first' })).toBe(true)
    expect(at({ 'meta.none': 'x' })).toBe(false)
    expect(at({ 'meta.source.length': 9 })).toBe(false)
    expect(at({ 'constructor.name': 'Object' })).toBe(false)
  })

  test('CH-29 without a payload, no field is there', () => {
    expect(matches({ toolNames: ['Edit'] })).toBe(false)
    expect(matches({})).toBe(true)
  })
})

test('the first condition that fails is named, with what it wanted and what it found', () => {
  const failing = rule('r', {
    trigger: { event: 'TaskCompleted', outcomes: ['failed'] },
    condition: { toolNames: ['Edit'], eventFieldEquals: { 'meta.source': 'scheduler' } },
  })
  expect(unmetCondition(failing, { ...event, eventName: 'Stop' })).toEqual({
    condition: 'trigger.event',
    wanted: 'TaskCompleted',
    actual: 'Stop',
  })
  expect(unmetCondition(failing, { ...event, outcome: 'success' })).toEqual({
    condition: 'trigger.outcomes',
    wanted: ['failed'],
    actual: 'success',
  })
  expect(unmetCondition(failing, { ...event, payload: { tool_name: 'Bash' } })).toEqual({
    condition: 'condition.toolNames',
    wanted: ['Edit'],
    actual: 'Bash',
  })
  expect(
    unmetCondition(failing, { ...event, payload: { tool_name: 'Edit', meta: { source: 'x' } } }),
  ).toEqual({
    condition: 'condition.eventFieldEquals.meta.source',
    wanted: 'scheduler',
    actual: 'x',
  })
})

test('a rule set looks only at the rules that listen to an event', () => {
  let looked = 0
  const rules = Array.from({ length: 100 }, (_, n) => ({
    ...rule(`r${n}`, { trigger: { event: n === 0 ? 'TaskCompleted' : 'Stop' } }),
    get condition() {
      looked++
      return {}
    },
  }))
  const set = compileRules(rules)
  looked = 0
  expect(set.matching(event)).toHaveLength(1)
  expect(looked).toBe(1)
  expect([set.listens('Stop'), set.listens('PreToolUse')]).toEqual([true, false])
})
