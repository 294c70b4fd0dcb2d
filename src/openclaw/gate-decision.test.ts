import { describe, expect, test } from 'vitest'
import {
  BLOCK_MESSAGE_PREFIX,
  type HookDecision,
  type HookDecisionBlock,
  isHookDecision,
  mergeHookDecisions,
  resolveBlockMessage,
} from './index.ts'

const block: HookDecisionBlock = { outcome: 'block', reason: 'policy' }
const pass: HookDecision = { outcome: 'pass' }

describe('what is a decision', () => {
  test.each([
    { outcome: 'pass' },
    { outcome: 'block', reason: 'r' },
    { outcome: 'block', reason: 'r', message: 'm', category: 'c', metadata: { any: [1] } },
  ])('OC-69 %o is one', (value) => {
    expect(isHookDecision(value)).toBe(true)
  })

  test.each([
    [null],
    [undefined],
    ['pass'],
    [{}],
    [{ block: true }],
    [{ outcome: 'ask', reason: 'r' }],
    [{ outcome: 'pass', message: 'm' }],
    [{ outcome: 'block' }],
    [{ outcome: 'block', reason: '' }],
    [{ outcome: 'block', reason: '  ' }],
    [{ outcome: 'block', reason: 7 }],
    [{ outcome: 'block', reason: 'r', message: '' }],
    [{ outcome: 'block', reason: 'r', message: undefined }],
    [{ outcome: 'block', reason: 'r', category: ' ' }],
    [{ outcome: 'block', reason: 'r', metadata: [] }],
    [{ outcome: 'block', reason: 'r', metadata: null }],
    [{ outcome: 'block', reason: 'r', retry: true }],
  ])('OC-69 %o is none', (value) => {
    expect(isHookDecision(value)).toBe(false)
  })
})

describe('what the user reads', () => {
  test('OC-70 the message of the plugin, with its name where it is known', () => {
    const decision = { ...block, message: ' Please rephrase. ' }
    expect(resolveBlockMessage(decision)).toBe('Your message could not be sent: Please rephrase.')
    expect(resolveBlockMessage(decision, { blockedBy: ' guard ' })).toBe(
      'Your message could not be sent: Please rephrase. (blocked by guard)',
    )
  })

  test('OC-70 without a message only that it was blocked, never the reason', () => {
    expect(resolveBlockMessage(block)).toBe(`${BLOCK_MESSAGE_PREFIX}: blocked`)
    expect(resolveBlockMessage(block, { blockedBy: 'guard' })).toBe(
      `${BLOCK_MESSAGE_PREFIX}: blocked by guard`,
    )
    expect(resolveBlockMessage({ ...block, message: ' ' }, { blockedBy: ' ' })).toBe(
      `${BLOCK_MESSAGE_PREFIX}: blocked`,
    )
  })
})

describe('which of two decisions counts', () => {
  test('OC-71 a block over a pass, whichever came first', () => {
    expect(mergeHookDecisions(undefined, pass)).toBe(pass)
    expect(mergeHookDecisions(pass, block)).toBe(block)
    expect(mergeHookDecisions(block, pass)).toBe(block)
  })

  test('OC-71 the first of two that are equally strict', () => {
    expect(mergeHookDecisions(pass, { outcome: 'pass' })).toBe(pass)
    expect(mergeHookDecisions(block, { ...block })).toBe(block)
  })
})
