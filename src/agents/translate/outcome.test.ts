import { describe, expect, test } from 'vitest'
import type { Decision } from '../../engine/core/decision.ts'
import type { Effect } from '../agent-adapter.ts'
import { deliverDecision } from './outcome.ts'

const gate: readonly Effect[] = ['block', 'ask', 'grant', 'rewrite', 'context']
const asked: Decision = { kind: 'ask', reason: 'really?' }
const changed: Decision = { kind: 'allow', reason: 'safer so', input: { command: 'ls' } }

const to = (decision: Decision, honours: readonly Effect[]) => deliverDecision(decision, honours, 'Robot')

describe('a client that can do everything gets everything', () => {
  test.each<[Decision, object]>([
    [{ kind: 'allow' }, { kind: 'pass', message: 'a hook gave no reason' }],
    [
      { kind: 'allow', grant: true, reason: 'r' },
      { kind: 'grant', message: 'r' },
    ],
    [asked, { kind: 'ask', message: 'really?' }],
    [
      { ...asked, input: { a: 1 } },
      { kind: 'ask', message: 'really?', input: { a: 1 } },
    ],
    [
      { kind: 'block', reason: 'r', message: 'm' },
      { kind: 'block', message: 'm' },
    ],
    [changed, { kind: 'pass', message: 'safer so', input: { command: 'ls' } }],
    [
      { kind: 'allow', context: ['a', 'b'] },
      { kind: 'pass', message: 'a hook gave no reason', context: 'a\nb' },
    ],
  ])('%j', (decision, outcome) => {
    expect(to(decision, gate)).toEqual({ outcome, undelivered: [] })
  })
})

describe('what a client cannot do is blocked where it can block', () => {
  test('a question that it cannot ask', () => {
    expect(to(asked, ['block'])).toEqual({
      outcome: {
        kind: 'block',
        message: "this needs a person's approval, and Robot cannot ask here: really?",
      },
      undelivered: [],
    })
  })

  test('an input that it cannot change', () => {
    expect(to(changed, ['block', 'context'])).toEqual({
      outcome: {
        kind: 'block',
        message: 'a hook changed this, and Robot cannot take the change here: safer so',
      },
      undelivered: [],
    })
  })

  test('a changed input that was to be asked about', () => {
    expect(to({ ...asked, input: {} }, ['block', 'rewrite']).outcome.kind).toBe('block')
  })
})

describe('what a client cannot do and cannot block is said', () => {
  test.each<[string, Decision, readonly Effect[], readonly Effect[]]>([
    ['a block', { kind: 'block', reason: 'r' }, [], ['block']],
    ['a question', asked, ['context'], ['ask']],
    ['a change', changed, ['context'], ['rewrite']],
    ['words', { kind: 'allow', context: ['a'] }, ['block'], ['context']],
    ['a grant', { kind: 'allow', grant: true }, ['block'], ['grant']],
    ['a change with words', { ...changed, context: ['a'] }, [], ['rewrite', 'context']],
  ])('%s', (_, decision, honours, undelivered) => {
    const delivered = to(decision, honours)
    expect(delivered.undelivered).toEqual(undelivered)
    expect(delivered.outcome.kind).toBe('pass')
    expect(delivered.outcome).not.toHaveProperty('input')
  })

  test('and what it can do still gets there', () => {
    expect(to({ ...changed, context: ['a'] }, ['context']).outcome).toMatchObject({ context: 'a' })
  })
})

test.each(['', ' ', '\n\t', '\u0085'])('a message of blanks is none: %j', (message) => {
  expect(to({ kind: 'block', reason: 'r', message }, gate).outcome.message).toBe('r')
  expect(to({ kind: 'block', reason: message }, gate).outcome.message).toBe('a hook gave no reason')
})

test('an input that is handed back as it came is no change', () => {
  const same: Decision = { kind: 'allow', input: { a: 1, b: [2] }, original: { b: [2], a: 1 } }
  expect(to(same, ['block'])).toEqual({
    outcome: { kind: 'pass', message: 'a hook gave no reason' },
    undelivered: [],
  })
  expect(to({ ...same, original: { a: 2 } }, ['block']).outcome.kind).toBe('block')
})
