import { describe, expect, test } from 'vitest'
import { allows, blocks, createPromptTest } from '../../../test/handlers/prompt-hook.fixture.ts'
import { fakeClock } from '../../testing/index.ts'
import { memoryDecisionCache } from './decision-cache.ts'

const quota = { kind: 'block', code: 'guard.quota' }

describe('GC-65 a turn', () => {
  test('GC-119 4.6 #97 the sixth call in a turn is closed without asking', async () => {
    const { call, fake } = await createPromptTest([allows])
    for (let n = 0; n < 5; n++) expect(await call({ n })).toEqual({ kind: 'allow' })
    expect(await call({ n: 5 })).toMatchObject({
      ...quota,
      reason: expect.stringContaining('hook invocation per-turn cap reached'),
    })
    expect(fake.requests).toHaveLength(5)
    expect(await call({ n: 5 }, { turn: '2' })).toEqual({ kind: 'allow' })
    expect(await call({ n: 5 }, { session: 'other' })).toEqual({ kind: 'allow' })
    expect(await call({ n: 5 }, { tenant: 'other' })).toEqual({ kind: 'allow' })
  })

  test('is one for all prompt hooks, and cached answers count', async () => {
    const { call, hooks, fake, base } = await createPromptTest([allows], {
      hook: { config: { max_invocations_per_turn: 3 } },
    })
    hooks.add({ ...base, id: 'second', config: { prompt_template: 'Another.', max_invocations_per_turn: 3 } })
    expect(await call()).toEqual({ kind: 'allow' })
    expect(await call()).toMatchObject({ ...quota, by: 'second' })
    expect(fake.requests).toHaveLength(2)
  })

  test('that the host does not name is not counted', async () => {
    const { call } = await createPromptTest([allows], { hook: { config: { max_invocations_per_turn: 1 } } })
    for (let n = 0; n < 3; n++) expect(await call({ n }, { turn: undefined })).toEqual({ kind: 'allow' })
  })

  test('is forgotten after an hour', async () => {
    const { call, clock } = await createPromptTest([allows], {
      hook: { config: { max_invocations_per_turn: 1 } },
    })
    await call()
    expect(await call()).toMatchObject(quota)
    await clock.advance(3_600_001)
    expect(await call()).toEqual({ kind: 'allow' })
  })

  test('that cannot be counted is closed', async () => {
    const turns = {
      take: () => {
        throw new Error('the store is away')
      },
    }
    const { call, fake } = await createPromptTest([allows], { turns })
    expect(await call()).toMatchObject({ kind: 'block', code: 'guard.state' })
    expect(fake.requests).toHaveLength(0)
  })
})

describe('GC-66 a decision', () => {
  const many = { hook: { config: { max_invocations_per_turn: 1000 } } }

  test('holds for a minute, allow and block alike', async () => {
    const { call, clock, fake, facts } = await createPromptTest([blocks, allows], many)
    expect(await call({ a: 1, b: 2 })).toMatchObject({ kind: 'block', reason: 'dangerous' })
    await clock.advance(59_999)
    expect(await call({ b: 2, a: 1 })).toMatchObject({ kind: 'block', reason: 'dangerous' })
    expect(facts()).toMatchObject({ cached: true })
    expect(fake.requests).toHaveLength(1)
    await clock.advance(2)
    expect(await call({ a: 1, b: 2 })).toEqual({ kind: 'allow' })
  })

  test('is of one tenant, one tool and one input', async () => {
    const { call, hooks, fake } = await createPromptTest([allows], { hook: { ...many.hook, matcher: '.' } })
    await call({ n: 1 })
    await call({ n: 2 })
    await call({ n: 1 }, { tenant: 'other' })
    await hooks.dispatch('pre_tool_use', { tool_name: 'Write', tool_input: { n: 1 } }, { tenant: 't' })
    expect(fake.requests).toHaveLength(4)
  })

  test('does not outlive the version of the hook that made it', async () => {
    const { call, hooks, undo, fake, base } = await createPromptTest([allows, blocks], many)
    await call()
    undo()
    hooks.add({ ...base, config: { prompt_template: 'Refuse all.' } })
    expect(await call()).toMatchObject({ kind: 'block' })
    expect(fake.requests).toHaveLength(2)
  })

  test('is only kept when it was one', async () => {
    const { call, fake } = await createPromptTest([{ text: 'hm' }, { status: 500 }, allows], many)
    expect(await call()).toMatchObject({ code: 'prompt.parse' })
    expect(await call()).toMatchObject({ code: 'prompt.provider' })
    expect(await call()).toEqual({ kind: 'allow' })
    expect(fake.requests).toHaveLength(3)
  })

  test('is one of a thousand', () => {
    const cache = memoryDecisionCache(fakeClock())
    const decided = { result: { kind: 'allow', reason: 'x' }, injected: false } as const
    for (let n = 0; n <= 1_000; n++) cache.set(String(n), decided)
    expect(cache.get('0')).toBeUndefined()
    expect(cache.get('1')).toBe(decided)
    expect(cache.get('1000')).toBe(decided)
  })
})
