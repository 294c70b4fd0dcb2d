import { describe, expect, test } from 'vitest'
import { addContext, block, createHooks, rewrite } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const call = { tool_name: 'Bash', tool_input: {}, tool_response: { text: 'key=sk-1' } }
const never = () => new Promise<never>(() => {})

describe('a transform goes from hook to hook', () => {
  test('each sees what the one before it left', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('model_request', ({ request }) => {
      seen.push(request)
      return rewrite({ a: 1 })
    })
    hooks.on('model_request', async ({ request }) => {
      seen.push(request)
      return rewrite({ ...request, b: 2 })
    })
    const decision = await hooks.dispatch('model_request', { request: {} })
    expect(seen).toEqual([{}, { a: 1 }])
    expect(decision).toMatchObject({ kind: 'allow', input: { a: 1, b: 2 }, original: {} })
  })

  test('a failing hook of any kind keeps the original and the next one goes on', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on('model_request', () => {
      throw new Error('boom')
    })
    hooks.on('model_request', () => 'junk' as never)
    hooks.on('model_request', () => rewrite('not an object' as never))
    hooks.on('model_request', never)
    hooks.on('model_request', ({ request }) => rewrite({ ...request, reached: true }))
    const answer = hooks.dispatch('model_request', { request: { a: 1 } })
    await clock.advance(5_050)
    expect(await answer).toMatchObject({ kind: 'allow', input: { a: 1, reached: true } })
  })

  test('null means nothing to say, as it does in many harnesses', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink })
    hooks.on('model_request', { id: 'h' }, () => null as never)
    expect((await hooks.dispatch('model_request', { request: {} })).kind).toBe('allow')
    expect(seen.dispatches[0]?.executions).toMatchObject([{ hook: 'h', decision: 'allow' }])
  })

  test('a block cannot be applied: it is ignored and listed', async () => {
    const seen = recorder()
    const hooks = createHooks({ log: seen.log })
    hooks.on('model_request', { id: 'h' }, () => block('never'))
    hooks.on('model_request', () => rewrite({ b: 1 }))
    expect(await hooks.dispatch('model_request', { request: {} })).toMatchObject({
      kind: 'allow',
      input: { b: 1 },
      ignored: [{ hook: 'h', code: 'engine.block_ignored', reason: 'never' }],
    })
    expect(seen.lines).toMatchObject([{ name: 'engine.block_ignored', fields: { hook: 'h' } }])
  })

  test('events without an input to rewrite still take context', async () => {
    const hooks = createHooks()
    hooks.on('post_tool_use_failure', () => addContext('try again'))
    hooks.on('post_tool_use_failure', () => rewrite({ a: 1 } as never))
    const decision = await hooks.dispatch('post_tool_use_failure', { tool_name: 'x', tool_input: {} })
    expect(decision).toEqual({ kind: 'allow', context: ['try again'] })
  })
})

describe('post_tool_use awaits only its transformers', () => {
  test('a hook with transform: true replaces what model and transcript see', async () => {
    const hooks = createHooks()
    hooks.on('post_tool_use', { transform: true }, async () => rewrite({ text: 'key=***' }))
    expect(await hooks.dispatch('post_tool_use', call)).toMatchObject({
      input: { text: 'key=***' },
      original: { text: 'key=sk-1' },
    })
  })

  test('the others observe: they delay nothing and replace nothing', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink })
    let finish: (value: unknown) => void = () => {}
    hooks.on('post_tool_use', { id: 'o' }, () => new Promise((resolve) => (finish = resolve)) as never)
    expect(await hooks.dispatch('post_tool_use', call)).toEqual({ kind: 'allow' })
    finish(rewrite({ text: 'gone' }))
    await hooks.drain()
    expect(seen.dispatches).toMatchObject([
      { decision: { kind: 'allow' }, executions: [{ hook: 'o', decision: 'allow' }] },
    ])
  })

  test('an observer that blocks is told to the operator and changes nothing', async () => {
    const seen = recorder()
    const hooks = createHooks({ log: seen.log })
    hooks.on('post_tool_use', { id: 'o' }, () => block('no'))
    expect((await hooks.dispatch('post_tool_use', call)).kind).toBe('allow')
    await hooks.drain()
    expect(seen.lines).toMatchObject([
      { name: 'engine.block_ignored', fields: { event: 'post_tool_use', hook: 'o' } },
    ])
  })

  test('a null answer to redact with changes nothing, and neither does {}', async () => {
    const hooks = createHooks()
    hooks.on('post_tool_use', { transform: true }, () => ({ kind: 'allow', input: null }))
    hooks.on('post_tool_use', { transform: true }, () => ({ kind: 'allow', input: {} }))
    expect(await hooks.dispatch('post_tool_use', call)).toEqual({ kind: 'allow' })
  })
})
