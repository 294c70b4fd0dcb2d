import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createHooks, memoryGuardState, rewrite } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }

function aborting() {
  const clock = fakeClock()
  const seen = recorder()
  const hooks = createHooks({ clock, sink: seen.sink, log: seen.log })
  const controller = new AbortController()
  const { signal } = controller
  return { clock, seen, hooks, controller, signal }
}

describe('4.7 #111 a signal that is already aborted', () => {
  test('nothing runs, every hook is recorded as aborted, the gate closes', async () => {
    const { hooks, seen } = aborting()
    let ran = 0
    for (const id of ['a', 'b']) hooks.on('pre_tool_use', { id }, () => void ran++)
    const decision = await hooks.dispatch('pre_tool_use', bash, {}, { signal: AbortSignal.abort() })
    expect(decision).toMatchObject({ kind: 'block', code: 'engine.aborted' })
    expect(ran).toBe(0)
    expect(seen.dispatches).toHaveLength(1)
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'a', decision: 'aborted', code: 'engine.aborted' },
      { hook: 'b', decision: 'aborted', code: 'engine.aborted' },
    ])
  })

  test('elsewhere nothing runs either, and nothing is blocked', async () => {
    const { hooks, seen } = aborting()
    let ran = 0
    hooks.on('session_end', { id: 'h' }, () => void ran++)
    hooks.on('session_start', { id: 'i' }, () => void ran++)
    const signal = AbortSignal.abort()
    expect((await hooks.dispatch('session_end', {}, {}, { signal })).kind).toBe('allow')
    expect((await hooks.dispatch('session_start', {}, {}, { signal })).kind).toBe('allow')
    await hooks.drain()
    expect(ran).toBe(0)
    expect(seen.dispatches.flatMap(({ executions }) => executions)).toMatchObject([
      { hook: 'h', decision: 'aborted' },
      { hook: 'i', decision: 'aborted' },
    ])
  })
})

describe('an abort while a hook is awaited', () => {
  test('answers at once, closes the gate and aborts the signal of the hook', async () => {
    const { clock, hooks, seen, controller, signal } = aborting()
    let aborted = false
    let next = 0
    hooks.on('pre_tool_use', { id: 'first' }, async () => {})
    hooks.on('pre_tool_use', { id: 'slow' }, (_, context) => {
      context.signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise<never>(() => {})
    })
    hooks.on('pre_tool_use', { id: 'next' }, () => void next++)
    const answer = hooks.dispatch('pre_tool_use', bash, {}, { signal })
    await clock.advance(10)
    controller.abort()
    expect(await answer).toMatchObject({ kind: 'block', code: 'engine.aborted', by: 'slow' })
    expect(aborted).toBe(true)
    expect(next).toBe(0)
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'first', decision: 'allow' },
      { hook: 'slow', decision: 'aborted', code: 'engine.aborted' },
    ])
  })

  test('a transform keeps what it has', async () => {
    const { clock, hooks, controller, signal } = aborting()
    hooks.on('model_request', () => rewrite({ a: 1 }))
    hooks.on('model_request', () => new Promise<never>(() => {}))
    const answer = hooks.dispatch('model_request', { request: {} }, {}, { signal })
    await clock.advance(10)
    controller.abort()
    expect(await answer).toMatchObject({ kind: 'allow', input: { a: 1 } })
  })

  test('also after an earlier hook ran into its deadline', async () => {
    const { clock, hooks, controller, signal } = aborting()
    const stuck = () => new Promise<never>(() => {})
    hooks.on('pre_tool_use', { timeout_ms: 50, on_timeout: 'allow' }, stuck)
    hooks.on('pre_tool_use', { id: 'second' }, stuck)
    const answer = hooks.dispatch('pre_tool_use', bash, {}, { signal })
    await clock.advance(150)
    controller.abort()
    expect(await Promise.race([answer, clock.advance(1)])).toMatchObject({
      code: 'engine.aborted',
      by: 'second',
    })
  })

  test('an abort after the answer changes nothing', async () => {
    const { clock, hooks, seen, controller, signal } = aborting()
    hooks.on('pre_tool_use', async () => {})
    expect((await hooks.dispatch('pre_tool_use', bash, {}, { signal })).kind).toBe('allow')
    controller.abort()
    await clock.advance(10)
    expect(seen.dispatches).toHaveLength(1)
  })
})

describe('a hook that aborts the dispatch it runs in', () => {
  test.each<[string, (abort: () => void) => unknown]>([
    ['at once', (abort) => abort()],
    [
      'and then answers',
      (abort) => {
        abort()
        return { kind: 'allow' }
      },
    ],
    ['and then waits', async (abort) => abort()],
    [
      'and then throws',
      (abort) => {
        abort()
        throw new Error('boom')
      },
    ],
  ])('%s: no later hook runs, and one record is written', async (_, run) => {
    const { clock, hooks, seen, controller, signal } = aborting()
    let next = 0
    hooks.on('pre_tool_use', { id: 'h' }, () => run(() => controller.abort()) as never)
    hooks.on('pre_tool_use', { id: 'next' }, () => void next++)
    const answer = hooks.dispatch('pre_tool_use', bash, {}, { signal })
    await clock.advance(50)
    expect(await answer).toMatchObject({ kind: 'block', code: 'engine.aborted' })
    expect(next).toBe(0)
    expect(seen.dispatches).toHaveLength(1)
  })
})

test('a signal that serves many dispatches gathers no listeners', async () => {
  const { clock, hooks, signal } = aborting()
  hooks.on('pre_tool_use', async () => {})
  hooks.on('pre_tool_use', { timeout_ms: 50, on_timeout: 'allow' }, () => new Promise<never>(() => {}))
  for (let i = 0; i < 20; i++) {
    const answer = hooks.dispatch('pre_tool_use', bash, {}, { signal })
    await clock.advance(100)
    await answer
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('no later hook runs while a far-away guard state counts the blocks of an aborted stop', async () => {
  const near = memoryGuardState()
  const hooks = createHooks({ guards: { take: async (requests, now) => near.take(requests, now) } })
  const controller = new AbortController()
  let next = 0
  hooks.on('stop', () => controller.abort())
  hooks.on('stop', () => void next++)
  const decision = await hooks.dispatch('stop', {}, { session: 's' }, { signal: controller.signal })
  expect(decision).toMatchObject({ kind: 'block', code: 'engine.aborted' })
  expect(next).toBe(0)
})
