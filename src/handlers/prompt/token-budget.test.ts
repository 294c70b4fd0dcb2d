import { describe, expect, test } from 'vitest'
import { allows, blocks, createPromptTest, decide } from '../../../test/handlers/prompt-hook.fixture.ts'
import { memoryTokenBudget } from '../../../test/memory-token-budget.fixture.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

describe('GC-76 GC-77 the token budget', () => {
  const failing = (part: 'check' | 'deduct') => {
    const inner = memoryTokenBudget({ clock: fakeClock() })
    const fail = (name: string) => {
      if (budget.broken && name === part) throw new Error('the store is away')
    }
    const budget = {
      broken: true,
      inner,
      check: (tenant: string) => fail('check') ?? inner.check(tenant),
      deduct: (tenant: string, tokens: number) => fail('deduct') ?? inner.deduct(tenant, tokens),
    }
    return budget
  }

  test('GC-119 4.6 #95 nothing left: closed, and nobody is asked', async () => {
    const budget = memoryTokenBudget({ total: 240, clock: fakeClock() })
    const { call, fake } = await createPromptTest([allows], { budget })
    await call({ n: 1 })
    await call({ n: 2 })
    expect(budget.remaining('t')).toBe(0)
    expect(await call({ n: 3 })).toMatchObject({
      kind: 'block',
      code: 'prompt.budget',
      reason: expect.stringContaining('tenant hook token budget exceeded'),
    })
    expect(fake.requests).toHaveLength(2)
    expect(await call({ n: 1 })).toEqual({ kind: 'allow' })
    expect(await call({ n: 3 }, { tenant: 'other' })).toEqual({ kind: 'allow' })
  })

  test('4.6 #95 nobody can say what is left: closed, and nobody is asked', async () => {
    const { call, fake, logged } = await createPromptTest([allows], { budget: failing('check') })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.budget' })
    expect(logged('security.hook.budget_precheck_failed')).toMatchObject([{ fields: { tenant: 't' } }])
    expect(fake.requests).toHaveLength(0)
  })

  test('GC-76 what a call used is taken, though it is more than was left', async () => {
    const budget = memoryTokenBudget({ total: 100, clock: fakeClock() })
    const usage = { input: 5_000, output: 100 }
    const { call, facts } = await createPromptTest([{ ...blocks, usage }], { budget })
    expect(await call()).toMatchObject({ kind: 'block', reason: 'dangerous' })
    expect(facts()).toMatchObject({ prompt_tokens: 5_100 })
    expect(budget.remaining('t')).toBe(-5_000)
  })

  test('4.6 #96 what cannot be taken is owed, the decision stands, and the debt is paid later', async () => {
    const budget = failing('deduct')
    const { call, handler, logged } = await createPromptTest([allows], { budget })
    expect(await call({ n: 1 })).toEqual({ kind: 'allow' })
    expect(logged('security.hook.budget_deduct_failed')).toMatchObject([
      { fields: { tenant: 't', tokens: 120 } },
    ])
    expect(handler.ledger.owed()).toEqual({ t: 120 })
    budget.broken = false
    await handler.dispose()
    expect(handler.ledger.owed()).toEqual({})
    expect(budget.inner.remaining('t')).toBe(1_000_000 - 120)
  })

  test('4.6 #96 the next call pays the debt before it asks', async () => {
    const budget = failing('deduct')
    const { call, handler } = await createPromptTest([allows], { budget })
    await call({ n: 1 })
    await call({ n: 2 })
    expect(handler.ledger.owed()).toEqual({ t: 240 })
    budget.broken = false
    await call({ n: 3 })
    expect(handler.ledger.owed()).toEqual({})
    expect(budget.inner.remaining('t')).toBe(1_000_000 - 360)
  })

  test('an unreadable answer costs what it cost; one that nobody counted, about its length', async () => {
    const budget = memoryTokenBudget({ clock: fakeClock() })
    const hook = { config: { model: 'qwen3' } }
    const { call, facts } = await createPromptTest([{ text: 'hm' }, { ...allows, usage: 'missing' }], {
      budget,
      hook,
    })
    await call({ n: 1 })
    expect(budget.remaining('t')).toBe(1_000_000 - 120)
    await call({ n: 2 })
    expect(facts()?.prompt_tokens).toBeGreaterThan(200)
    expect(budget.remaining('t')).toBe(1_000_000 - 120 - Number(facts()?.prompt_tokens))
  })

  test('GC-64 the turn comes before the cache, the cache before the budget, the budget before the model', async () => {
    const order: string[] = []
    const note = <T>(name: string, value: T): T => {
      order.push(name)
      return value
    }
    const { call } = await createPromptTest(() => note('model', decide({ decision: 'allow' })), {
      turns: { take: () => note('turn', [{ pass: true }]) },
      cache: { get: () => note('look', undefined), set: () => note('keep', undefined) },
      budget: { check: () => note('check', true), deduct: () => note('deduct', undefined) },
    })
    await call()
    expect(order).toEqual(['turn', 'look', 'check', 'model', 'deduct', 'keep'])
  })
})

describe('GC-75 the budget of a month', () => {
  test('is a million tokens, and new on the first day of the next one, UTC', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 31, 23, 59, 59))
    const budget = memoryTokenBudget({ clock })
    expect(budget.remaining('t')).toBe(1_000_000)
    budget.deduct('t', 1_000_000)
    expect(budget.check('t')).toBe(false)
    expect(budget.check('other')).toBe(true)
    await clock.advance(1_000)
    expect(budget.check('t')).toBe(true)
    expect(budget.remaining('t')).toBe(1_000_000)
  })

  test('is not new because somebody set the wall clock a month ahead', () => {
    const clock = fakeClock()
    const budget = memoryTokenBudget({ total: 100, clock })
    budget.deduct('t', 100)
    clock.jump(31 * 86_400_000)
    expect(budget.check('t')).toBe(false)
  })

  test('GC-78 warns once when less than a fifth is left', () => {
    const seen = recorder()
    const budget = memoryTokenBudget({ total: 100, clock: fakeClock(), log: seen.log })
    budget.deduct('t', 80)
    expect(seen.lines).toEqual([])
    budget.deduct('t', 1)
    budget.deduct('t', 1)
    expect(seen.lines).toEqual([
      { name: 'prompt.budget_low', fields: { tenant: 't', remaining: 19, total: 100 } },
    ])
  })

  test('GC-79 belongs to a tenant and only shrinks', async () => {
    const budget = memoryTokenBudget({ clock: fakeClock(), total: 0 })
    const refused = expect.objectContaining({ code: 'prompt.budget' })
    expect(() => budget.check('')).toThrow(refused)
    expect(() => budget.deduct('t', -1)).toThrow(refused)
    expect(() => budget.deduct('t', Number.NaN)).toThrow(refused)
    const { call } = await createPromptTest([allows], { budget })
    expect(await call({}, { tenant: undefined })).toEqual({ kind: 'allow' })
  })
})
