import { expect, test } from 'vitest'
import { anything, flag, list, number, object, oneOf, optional, record, shape, text } from './check.ts'

test('each check names what it expects', () => {
  expect(text(1)).toEqual({ path: '', expected: 'a string' })
  expect(number('1')).toEqual({ path: '', expected: 'a number' })
  expect(flag(1)).toEqual({ path: '', expected: 'true or false' })
  expect(record([])).toEqual({ path: '', expected: 'an object' })
  expect(object()(null)).toEqual({ path: '', expected: 'an object' })
  expect(list()({})).toEqual({ path: '', expected: 'a list' })
  expect(oneOf('a', 'b')('c')).toEqual({ path: '', expected: 'one of a, b' })
})

test('what fits has no problem', () => {
  const fits = [text('x'), number(1), flag(false), record({}), object()({}), list()([]), oneOf('a')('a')]
  expect(fits.every((problem) => problem === undefined)).toBe(true)
  expect(anything(undefined)).toBeUndefined()
})

test('a shape names the path of its first problem, however deep', () => {
  const check = shape({ a: text, b: shape({ c: optional(number) }) })
  expect(check({ a: 'x', b: {} })).toBeUndefined()
  expect(check({ a: 'x', b: { c: 'no' } })).toEqual({ path: 'b.c', expected: 'a number' })
  expect(check({ a: 'x' })).toEqual({ path: 'b', expected: 'an object' })
  expect(check('x')).toEqual({ path: '', expected: 'an object' })
})

test('optional welcomes what is absent, not null', () => {
  expect(optional(text)(undefined)).toBeUndefined()
  expect(optional(text)(null)).toMatchObject({ expected: 'a string' })
})

test('keys that are not listed are welcome', () => {
  expect(shape({ a: text })({ a: 'x', more: 1 })).toBeUndefined()
})
