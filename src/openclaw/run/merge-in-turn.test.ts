import { describe, expect, test } from 'vitest'
import {
  boom,
  hostWith,
  message,
  messageCtx,
  on,
  prompt,
  toolCtx,
  toolEvent,
} from '../../../test/openclaw/plugins.fixture.ts'

const invalid = { outcome: 'block', reason: 'before_agent_run returned an invalid decision' }

describe('one after the other', () => {
  test('OC-17 a handler starts when the one before it is done', async () => {
    const steps: string[] = []
    const step = (id: string) =>
      on('before_prompt_build', async () => {
        steps.push(`${id} starts`)
        await Promise.resolve()
        steps.push(`${id} ends`)
      })
    await hostWith([step('a'), step('b')]).runner.runBeforePromptBuild(prompt, {})
    expect(steps).toEqual(['a starts', 'a ends', 'b starts', 'b ends'])
  })

  test('OC-17 undefined and null are no answer', async () => {
    const silent = [on('before_prompt_build', () => undefined), on('before_prompt_build', () => null)]
    expect(await hostWith(silent).runner.runBeforePromptBuild(prompt, {})).toBeUndefined()
    const { runner, log } = hostWith([on('before_prompt_build', () => ({ systemPrompt: 's' })), ...silent])
    expect(await runner.runBeforePromptBuild(prompt, {})).toMatchObject({ systemPrompt: 's' })
    expect(log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  test('OC-17 OC-40 an answer that ends the chain leaves the rest uncalled', async () => {
    const called: string[] = []
    const { runner } = hostWith([
      on('message_sending', () => ({ cancel: true }), { priority: 1 }),
      on('message_sending', () => called.push('second')),
    ])
    await runner.runMessageSending(message, messageCtx)
    expect(called).toEqual([])
  })
})

describe('the gate before a run', () => {
  const runWith = (...answers: unknown[]) =>
    hostWith(
      answers.map((answer, index) => on('before_agent_run', () => answer, { pluginId: `p${index}` })),
    ).runner.runBeforeAgentRun(prompt, {})

  test('OC-20 OC-25 the first block wins over a pass, names its plugin and ends the chain', async () => {
    const block = { outcome: 'block', reason: 'r', message: 'm', category: 'c', metadata: { a: 1 } }
    expect(await runWith({ outcome: 'pass' }, block, boom)).toEqual({ decision: block, pluginId: 'p1' })
  })

  test('OC-20 OC-25 of two passes the first is the answer', async () => {
    expect(await runWith({ outcome: 'pass' }, { outcome: 'pass' })).toEqual({
      decision: { outcome: 'pass' },
      pluginId: 'p0',
    })
  })

  test('OC-25 a decision that two plugins share is due to the later one', async () => {
    const pass = { outcome: 'pass' }
    expect(await runWith(pass, pass)).toEqual({ decision: pass, pluginId: 'p1' })
  })

  test('OC-68 a handler that returns nothing has no opinion', async () => {
    expect(await runWith(undefined)).toBeUndefined()
    expect(await runWith(undefined, { outcome: 'pass' })).toMatchObject({ pluginId: 'p1' })
  })

  test.each([
    ['null', null],
    ['a wrong shape', { block: true }],
    ['an ask', { outcome: 'ask', reason: 'r', title: 't', description: 'd' }],
    ['a key too many', { outcome: 'pass', reason: 'r' }],
    ['no reason', { outcome: 'block' }],
    ['an empty reason', { outcome: 'block', reason: ' ' }],
    ['text', 'pass'],
    ['false', false],
  ])('OC-68 %s is a block that ends the chain', async (_, answer) => {
    let isCalled = false
    const { runner } = hostWith([
      on('before_agent_run', () => answer, { pluginId: 'odd', priority: 1 }),
      on('before_agent_run', () => {
        isCalled = true
      }),
    ])
    expect(await runner.runBeforeAgentRun(prompt, {})).toEqual({ decision: invalid, pluginId: 'odd' })
    expect(isCalled).toBe(false)
  })

  test('OC-68 null after a pass is a block too', async () => {
    expect(await runWith({ outcome: 'pass' }, null)).toEqual({ decision: invalid, pluginId: 'p1' })
  })
})

describe('OC-42 before a tool call', () => {
  const ask = { title: 'T', description: 'D' }
  const runWith = (...answers: [pluginId: string, answer: unknown][]) =>
    hostWith(
      answers.map(([pluginId, answer]) => on('before_tool_call', () => answer, { pluginId })),
    ).runner.runBeforeToolCall(toolEvent, toolCtx)

  test('OC-52 the last plugin that sets params wins', async () => {
    expect(await runWith(['a', { params: { n: 1 } }], ['b', { params: { n: 2 } }], ['c', {}])).toMatchObject({
      params: { n: 2 },
    })
  })

  test('OC-53 the first approval request wins and carries the name of its plugin, whatever it wrote', async () => {
    const answer = await runWith(
      ['a', { requireApproval: { ...ask, pluginId: 'someone-else' } }],
      ['b', { requireApproval: { title: 'U', description: 'E' } }],
    )
    expect(answer?.requireApproval).toEqual({ ...ask, pluginId: 'a' })
  })

  test('OC-54 after an approval request other plugins cannot change the params', async () => {
    const answer = await runWith(
      ['a', { params: { n: 1 }, requireApproval: ask }],
      ['b', { params: { n: 2 } }],
    )
    expect(answer?.params).toEqual({ n: 1 })
  })

  test('OC-54 the plugin that asked still can', async () => {
    const answer = await runWith(
      ['a', { params: { n: 1 }, requireApproval: ask }],
      ['b', { params: { n: 2 } }],
      ['a', { params: { n: 3 } }],
    )
    expect(answer?.params).toEqual({ n: 3 })
  })

  test('OC-54 params that nobody had set stay unset', async () => {
    const answer = await runWith(['a', { requireApproval: ask }], ['b', { params: { n: 2 } }])
    expect(answer?.params).toBeUndefined()
  })

  test('OC-55 a later block still blocks, and the request stays in the answer', async () => {
    expect(await runWith(['a', { requireApproval: ask }], ['b', { block: true, blockReason: 'no' }])).toEqual(
      {
        params: undefined,
        block: true,
        blockReason: 'no',
        requireApproval: { ...ask, pluginId: 'a' },
      },
    )
  })

  test('OC-56 block:false decides nothing', async () => {
    expect(await runWith(['a', { block: false }])).toStrictEqual({
      params: undefined,
      block: undefined,
      blockReason: undefined,
      requireApproval: undefined,
    })
  })

  test('OC-56 the first blocker ends the chain with its own reason', async () => {
    const answer = await runWith(
      ['a', {}],
      ['b', { block: true, blockReason: 'first' }],
      ['c', { block: true, blockReason: 'second' }],
    )
    expect(answer).toMatchObject({ block: true, blockReason: 'first' })
  })

  test('OC-57 a reason without a block is kept, the last one', async () => {
    expect(await runWith(['a', { blockReason: 'one' }], ['b', { blockReason: 'two' }])).toEqual({
      blockReason: 'two',
    })
  })
})
