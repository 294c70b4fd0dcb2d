import { expect, test } from 'vitest'
import { matches, moment, refused } from './match.fixture.ts'

test('CH-23 no outcome, or an empty list, means any outcome', () => {
  expect(matches({}, moment({ outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: [] } }, moment({}))).toBe(true)
})

test('an outcome is one word or a list of them', () => {
  expect(matches({ match: { outcome: 'failed' } }, moment({ outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: ['failed', 'timeout'] } }, moment({ outcome: 'timeout' }))).toBe(true)
  expect(matches({ match: { outcome: ['failed', 'timeout'] } }, moment({ outcome: 'success' }))).toBe(false)
})

test('the payload speaks before the envelope, and silence is unknown', () => {
  const hook = { match: { outcome: 'failed' } } as const
  expect(matches(hook, moment({ outcome: 'success' }, { outcome: 'failed' }))).toBe(false)
  expect(matches(hook, moment({ outcome: 7 }, { outcome: 'failed' }))).toBe(true)
  expect(matches(hook, moment(undefined, { outcome: 'failed' }))).toBe(true)
  expect(matches({ match: { outcome: 'unknown' } }, moment({}))).toBe(true)
})

test('an outcome that does not exist is refused', () => {
  expect(refused(JSON.parse('{"match":{"outcome":"sucess"}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.outcome',
  })
  expect(refused(JSON.parse('{"match":{"outcome":["failed","x"]}}'))).toMatchObject({ at: 'match.outcome.1' })
})
