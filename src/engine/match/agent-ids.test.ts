import { expect, test } from 'vitest'
import { matches, moment, refused } from './match.fixture.ts'

test('ruling 35 agent_ids takes ids and names', () => {
  const hook = { agent_ids: ['9b1d', 'reviewer'] }
  expect(matches(hook, moment({}, { agentId: '9b1d' }))).toBe(true)
  expect(matches(hook, moment({}, { agent: 'reviewer' }))).toBe(true)
  expect(matches(hook, moment({}, { agentId: 'other', agent: 'reviewer' }))).toBe(true)
  expect(matches(hook, moment({}, { agentId: 'other' }))).toBe(false)
  expect(matches(hook, moment({}))).toBe(false)
})

test('ruling 35 an empty list means every agent', () => {
  expect(matches({ agent_ids: [] }, moment({}))).toBe(true)
})

test('agent_ids must be a list of strings', () => {
  expect(refused(JSON.parse('{"agent_ids":"reviewer"}'))).toMatchObject({
    code: 'config.field',
    at: 'agent_ids',
  })
})
