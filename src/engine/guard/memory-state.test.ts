import { expect, test } from 'vitest'
import type { GuardRequest } from '../core/guard-state.ts'
import { memoryGuardState } from './memory-state.ts'

const cooldown = (key: string, windowMs = 100): GuardRequest => ({ kind: 'cooldown', key, windowMs })
const quota = (limit: number): GuardRequest => ({ kind: 'quota', key: 'k', limit, windowMs: 1_000 })
const budget = (cost: number, limit: number): GuardRequest => ({ kind: 'budget', key: 'k', cost, limit })
const streak: GuardRequest = { kind: 'streak', key: 's', limit: 2 }
const passes = [{ pass: true }]

test('a cooldown says how many milliseconds are left, and ends exactly when they have passed', () => {
  const state = memoryGuardState()
  expect(state.take([cooldown('k')], 1_000)).toEqual(passes)
  expect(state.take([cooldown('k')], 1_040)).toEqual([
    { pass: false, code: 'guard.cooldown', skip: 'cooldown: 60 ms left' },
  ])
  expect(state.take([cooldown('k')], 1_100)).toEqual(passes)
})

test('a skipped event does not lengthen the cooldown', () => {
  const state = memoryGuardState()
  state.take([cooldown('k')], 0)
  state.take([cooldown('k')], 90)
  expect(state.take([cooldown('k')], 100)).toEqual(passes)
})

test('a dedup window and a cooldown of the same key do not meet', () => {
  const state = memoryGuardState()
  state.take([cooldown('k')], 0)
  expect(state.take([{ kind: 'dedup', key: 'k', windowMs: 50 }], 0)).toEqual(passes)
  expect(state.take([{ kind: 'dedup', key: 'k', windowMs: 50 }], 20)).toEqual([
    { pass: false, code: 'guard.dedup', skip: 'dedup window: 30 ms left' },
  ])
})

test('a quota lets exactly its number through, and begins anew after its window', () => {
  const state = memoryGuardState()
  expect([1, 2, 3].map((now) => state.take([quota(2)], now))).toMatchObject([
    [{ pass: true }],
    [{ pass: true }],
    [{ pass: false, code: 'guard.quota' }],
  ])
  expect(state.take([quota(2)], 1_001)).toEqual(passes)
})

test('a budget is drawn on by cost and never overdrawn', () => {
  const state = memoryGuardState()
  expect(state.take([budget(3, 5)], 0)).toEqual(passes)
  expect(state.take([budget(3, 5)], 0)).toMatchObject([{ pass: false, code: 'guard.budget' }])
  expect(state.take([budget(2, 5)], 0)).toEqual(passes)
  expect(memoryGuardState().take([budget(6, 5)], 0)).toMatchObject([{ code: 'guard.budget' }])
})

test('a streak ends when it is told so', () => {
  const state = memoryGuardState()
  const take = () => state.take([streak], 0)
  expect([take(), take(), take()]).toMatchObject([
    [{ pass: true }],
    [{ pass: true }],
    [{ pass: false, code: 'guard.streak' }],
  ])
  state.take([{ kind: 'end_streak', key: 's' }], 0)
  expect(take()).toEqual(passes)
})

test('all requests are armed or none is', () => {
  const state = memoryGuardState()
  state.take([quota(1)], 0)
  expect(state.take([cooldown('c'), quota(1)], 0)).toMatchObject([{ pass: true }, { pass: false }])
  expect(state.take([cooldown('c')], 0)).toEqual(passes)
})

test('memory stays bounded, and what ends soonest is forgotten first', () => {
  const state = memoryGuardState(3)
  state.take([cooldown('short', 10)], 0)
  for (const key of ['a', 'b', 'c']) state.take([cooldown(key, 1_000)], 1)
  expect(state.take([cooldown('a')], 2)).toMatchObject([{ pass: false }])
  expect(state.take([cooldown('short')], 2)).toEqual(passes)
})
