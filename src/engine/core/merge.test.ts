import { expect, test } from 'vitest'
import { concat, first, intersect, join, last, type MergeRule, spread, sticky, strictest } from './merge.ts'

const fold = (rule: MergeRule, ...answers: unknown[]) =>
  answers.reduce((before, next) => rule.merge(before, next), undefined)

test('first keeps the earliest answer; undefined and null are no answers', () => {
  expect(fold(first, undefined, 'a', 'b')).toBe('a')
  expect(fold(first, null, 'b')).toBe('b')
  expect(fold(first, '', 'b')).toBe('')
  expect(fold(first, false, true)).toBe(false)
})

test('last takes the latest answer; undefined and null are no answers', () => {
  expect(fold(last, 'a', 'b')).toBe('b')
  expect(fold(last, 'a', undefined, null)).toBe('a')
  expect(fold(last, 'a', '')).toBe('')
})

test('sticky is true once anyone said true, and silent otherwise', () => {
  expect(fold(sticky, false, true, false)).toBe(true)
  expect(fold(sticky, false, false)).toBeUndefined()
  expect(fold(sticky, 'true', 1)).toBeUndefined()
})

test('concat puts lists behind one another', () => {
  expect(fold(concat, [1], undefined, [2, 3])).toEqual([1, 2, 3])
  expect(fold(concat, [], [])).toBeUndefined()
  expect(fold(concat, 'no list', [1])).toEqual([1])
})

test('join puts a blank line between texts, and an empty text clears', () => {
  expect(fold(join, 'a', 'b', undefined, 'c')).toBe('a\n\nb\n\nc')
  expect(fold(join, 'a', '')).toBe('')
  expect(fold(join, undefined, null)).toBeUndefined()
})

test('intersect only ever narrows', () => {
  expect(fold(intersect, ['a', 'b', 'c'], ['c', 'a', 'z'])).toEqual(['a', 'c'])
  expect(fold(intersect, ['a'], ['b'], ['a'])).toEqual([])
  expect(fold(intersect, undefined, ['a'], null)).toEqual(['a'])
})

test('spread lays objects over one another, later keys win', () => {
  expect(fold(spread, { a: 1, b: 1 }, { b: 2 }, undefined)).toEqual({ a: 1, b: 2 })
  expect(fold(spread, undefined, undefined)).toBeUndefined()
})

test('strictest: block beats ask, ask beats allow, ties go to the earlier', () => {
  const early = { kind: 'ask', by: 'early' }
  const late = { kind: 'ask', by: 'late' }
  expect(fold(strictest, { kind: 'allow' }, early, late)).toBe(early)
  expect(fold(strictest, early, { kind: 'block' }, { kind: 'allow' })).toEqual({ kind: 'block' })
  expect(fold(strictest, undefined, early, undefined)).toBe(early)
})

test('a rule carries its own name', () => {
  const rules = [first, last, sticky, concat, join, intersect, spread, strictest]
  expect(rules.map((rule) => rule.name)).toEqual(
    'first last sticky concat join intersect spread strictest'.split(' '),
  )
})
