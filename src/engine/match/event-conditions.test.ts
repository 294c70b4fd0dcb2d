import { describe, expect, test } from 'vitest'
import { compileError, eventInput, matches } from '../../../test/engine/match.fixture.ts'

test('ruling 35 agent_ids takes ids and names', () => {
  const hook = { agent_ids: ['9b1d', 'reviewer'] }
  expect(matches(hook, eventInput({}, { agentId: '9b1d' }))).toBe(true)
  expect(matches(hook, eventInput({}, { agent: 'reviewer' }))).toBe(true)
  expect(matches(hook, eventInput({}, { agentId: 'other', agent: 'reviewer' }))).toBe(true)
  expect(matches(hook, eventInput({}, { agentId: 'other' }))).toBe(false)
  expect(matches(hook, eventInput({}))).toBe(false)
})

test('ruling 35 an empty list means every agent', () => {
  expect(matches({ agent_ids: [] }, eventInput({}))).toBe(true)
})

test('agent_ids must be a list of strings', () => {
  expect(compileError(JSON.parse('{"agent_ids":"reviewer"}'))).toMatchObject({
    code: 'config.field',
    at: 'agent_ids',
  })
})

test('CH-23 no outcome, or an empty list, means any outcome', () => {
  expect(matches({}, eventInput({ outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: [] } }, eventInput({}))).toBe(true)
})

test('an outcome is one word or a list of them', () => {
  expect(matches({ match: { outcome: 'failed' } }, eventInput({ outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: ['failed', 'timeout'] } }, eventInput({ outcome: 'timeout' }))).toBe(
    true,
  )
  expect(matches({ match: { outcome: ['failed', 'timeout'] } }, eventInput({ outcome: 'success' }))).toBe(
    false,
  )
})

test('the payload speaks before the envelope, and silence is unknown', () => {
  const hook = { match: { outcome: 'failed' } } as const
  expect(matches(hook, eventInput({ outcome: 'success' }, { outcome: 'failed' }))).toBe(false)
  expect(matches(hook, eventInput({ outcome: 7 }, { outcome: 'failed' }))).toBe(true)
  expect(matches(hook, eventInput(undefined, { outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: 'unknown' } }, eventInput({}))).toBe(true)
})

test('an outcome that does not exist is refused', () => {
  expect(compileError(JSON.parse('{"match":{"outcome":"sucess"}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.outcome',
  })
  expect(compileError(JSON.parse('{"match":{"outcome":["failed","x"]}}'))).toMatchObject({
    at: 'match.outcome.1',
  })
})

type Fields = Record<string, string | number | boolean | null>
const on = (fields: Fields, payload: unknown): boolean => matches({ match: { fields } }, eventInput(payload))

describe('fields', () => {
  const payload = { a: { b: 1 }, l: ['x', { y: true }], none: null, text: '1', zero: 0 }

  test('CH-28 compare strictly: 1 is not "1", 0 is not false, null is not missing', () => {
    expect(on({ 'a.b': 1 }, payload)).toBe(true)
    expect(on({ 'a.b': '1' }, payload)).toBe(false)
    expect(on({ text: 1 }, payload)).toBe(false)
    expect(on({ zero: false }, payload)).toBe(false)
    expect(on({ none: null }, payload)).toBe(true)
    expect(on({ missing: null }, payload)).toBe(false)
  })

  test('CH-28 drop empty segments and take array indices', () => {
    expect(on({ 'a..b': 1 }, payload)).toBe(true)
    expect(on({ '.a.b.': 1 }, payload)).toBe(true)
    expect(on({ 'l.0': 'x' }, payload)).toBe(true)
    expect(on({ 'l.1.y': true }, payload)).toBe(true)
    expect(on({ 'l.9': 'x' }, payload)).toBe(false)
    expect(on({ '': 'x' }, payload)).toBe(false)
  })

  test('CH-28 an empty object matches; all that are given must hold', () => {
    expect(on({}, payload)).toBe(true)
    expect(on({ 'a.b': 1, text: '1' }, payload)).toBe(true)
    expect(on({ 'a.b': 1, text: '2' }, payload)).toBe(false)
  })

  test('CH-29 a missing payload has no fields', () => {
    expect(on({ a: 1 }, undefined)).toBe(false)
    expect(on({ a: 1 }, null)).toBe(false)
    expect(on({ length: 3 }, 'abc')).toBe(false)
  })

  test('4.3 #45 reach own properties only', () => {
    expect(on({ 'constructor.name': 'Object' }, {})).toBe(false)
    expect(on({ '__proto__.polluted': true }, {})).toBe(false)
    expect(on({ 'a.constructor.name': 'Number' }, { a: 1 })).toBe(false)
  })

  test('that can never be equal are refused', () => {
    expect(compileError({ match: { fields: { a: Number.NaN } } })).toMatchObject({
      code: 'config.field',
      at: 'match.fields.a',
    })
    expect(compileError(JSON.parse('{"match":{"fields":{"a":{"b":1}}}}'))).toMatchObject({
      at: 'match.fields.a',
    })
    expect(compileError(JSON.parse('{"match":{"fields":"a"}}'))).toMatchObject({ at: 'match.fields' })
  })
})
