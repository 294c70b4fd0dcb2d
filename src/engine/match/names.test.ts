import { expect, test } from 'vitest'
import { call, matches, named, refused } from './match.fixture.ts'

test('CH-25 names are exact and case counts', () => {
  const hook = { match: { names: ['Bash', 'Edit'] } }
  expect(named(hook, 'Edit')).toBe(true)
  expect(named(hook, 'edit')).toBe(false)
  expect(named(hook, 'MultiEdit')).toBe(false)
  expect(named(hook, '')).toBe(false)
})

test('CH-24 an empty list matches everything', () => {
  expect(named({ match: { names: [] } }, 'Bash')).toBe(true)
  expect(named({ match: { names: [] } }, '')).toBe(true)
})

test('an entry with a parenthesis is a Tool(pattern), and one entry suffices', () => {
  const hook = { match: { names: ['Edit', 'Bash(git push*)', 'Bash(rm *)'] } }
  expect(matches(hook, call('Edit'))).toBe(true)
  expect(matches(hook, call('Bash', { command: 'git push' }))).toBe(true)
  expect(matches(hook, call('Bash', { command: 'rm -rf /' }))).toBe(true)
  expect(matches(hook, call('Bash', { command: 'ls' }))).toBe(false)
  expect(matches(hook, call('Read', { command: 'rm x' }))).toBe(false)
})

test('in a list nothing is ambiguous: a pipe or a bracket stands for itself', () => {
  const hook = { match: { names: ['Bash(ls | wc)', 'Bash(echo [a])'] } }
  expect(matches(hook, call('Bash', { command: 'ls | wc' }))).toBe(true)
  expect(matches(hook, call('Bash', { command: 'echo [a]' }))).toBe(true)
  expect(matches(hook, call('Bash', { command: 'echo a' }))).toBe(false)
})

test('an entry that only looks like a Tool(pattern) is refused with its place', () => {
  for (const entry of ['Bash(x', '(x)', 'a b(c)']) {
    expect(refused({ match: { names: ['Edit', entry] } })).toMatchObject({
      code: 'match.syntax',
      at: 'match.names.1',
    })
  }
})

test('names must be a list of strings', () => {
  expect(refused(JSON.parse('{"match":{"names":"Bash"}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.names',
  })
  expect(refused(JSON.parse('{"match":{"names":["Bash",1]}}'))).toMatchObject({
    code: 'config.field',
    at: 'match.names.1',
  })
})
