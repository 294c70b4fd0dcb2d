import { describe, expect, test } from 'vitest'
import { matches, moment, refused } from './match.fixture.ts'

type Fields = Record<string, string | number | boolean | null>
const on = (fields: Fields, payload: unknown): boolean => matches({ match: { fields } }, moment(payload))

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
    expect(refused({ match: { fields: { a: Number.NaN } } })).toMatchObject({
      code: 'config.field',
      at: 'match.fields.a',
    })
    expect(refused(JSON.parse('{"match":{"fields":{"a":{"b":1}}}}'))).toMatchObject({ at: 'match.fields.a' })
    expect(refused(JSON.parse('{"match":{"fields":"a"}}'))).toMatchObject({ at: 'match.fields' })
  })
})
