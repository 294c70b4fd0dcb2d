import { describe, expect, test } from 'vitest'
import { block, createHooks } from '../../src/index.ts'
import { fakeClock, recorder } from '../../src/testing/index.ts'
import { watchUnhandled } from '../engine/unhandled.fixture.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const unhandled = watchUnhandled()

function slow(on_timeout: 'allow' | 'block' = 'block') {
  const clock = fakeClock()
  const seen = recorder()
  const hooks = createHooks({ clock, sink: seen.sink, log: seen.log })
  let settle: { resolve(value: unknown): void; reject(thrown: unknown): void } | undefined
  hooks.on('pre_tool_use', { id: 'slow', timeout_ms: 100, on_timeout }, () => {
    return new Promise((resolve, reject) => {
      settle = { resolve, reject }
    }) as never
  })
  const lateLines = () => seen.lines.filter(({ name }) => name === 'engine.late')
  return { clock, seen, hooks, lateLines, settle: () => settle }
}

describe('4.7 #104 a hook that never settles', () => {
  test('is ended at its deadline with handler.timeout, by policy', async () => {
    for (const [policy, kind] of [
      ['block', 'block'],
      ['allow', 'allow'],
    ] as const) {
      const { clock, hooks, seen } = slow(policy)
      const answer = hooks.dispatch('pre_tool_use', bash)
      await clock.advance(150)
      expect(await answer).toMatchObject({ kind })
      expect(seen.dispatches[0]?.executions).toMatchObject([
        { hook: 'slow', decision: 'timeout', code: 'handler.timeout' },
      ])
    }
  })
})

describe('4.7 #105 a hook that answers after the timeout', () => {
  test('by rejecting: no unhandled rejection, logged once', async () => {
    const { clock, hooks, settle, lateLines, seen } = slow()
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    settle()?.reject(new Error('too late'))
    await clock.advance(100)
    expect(await answer).toMatchObject({ code: 'handler.timeout' })
    expect(lateLines()).toMatchObject([{ fields: { hook: 'slow', event: 'pre_tool_use' } }])
    expect(seen.late).toEqual([{ hook: 'slow', decision: 'late', code: 'engine.late' }])
    expect(unhandled).toEqual([])
  })

  test('GC-28 by blocking: the answer stands, the block is dropped', async () => {
    const { clock, hooks, settle, lateLines, seen } = slow('allow')
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    const decision = await answer
    settle()?.resolve(block('too late'))
    await clock.advance(100)
    expect(decision).toMatchObject({ kind: 'allow', opened: [{ hook: 'slow' }] })
    expect(lateLines()).toHaveLength(1)
    expect(seen.dispatches).toHaveLength(1)
  })

  test('while a later hook is being awaited: it answers only for itself', async () => {
    const { clock, hooks, settle, seen } = slow('allow')
    let second: (value: unknown) => void = () => {}
    hooks.on('pre_tool_use', { id: 'second' }, () => new Promise((resolve) => (second = resolve)) as never)
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    settle()?.resolve(block('too late'))
    await clock.advance(10)
    second(block('mine'))
    await clock.advance(10)
    expect(await answer).toMatchObject({ kind: 'block', by: 'second', reason: 'mine' })
    expect(seen.late.map(({ hook }) => hook)).toEqual(['slow'])
  })

  test('is no good answer: the breaker still counts the timeout', async () => {
    const { clock, hooks, settle } = slow('allow')
    for (let i = 0; i < 5; i++) {
      const answer = hooks.dispatch('pre_tool_use', bash)
      await clock.advance(150)
      settle()?.resolve(undefined)
      await clock.advance(10)
      await answer
    }
    expect(hooks.list()[0]).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
  })

  test('and a sink that throws when told so changes nothing', async () => {
    const clock = fakeClock()
    const lines: string[] = []
    const sink = {
      record() {},
      late() {
        throw new Error('sink')
      },
    }
    const hooks = createHooks({ clock, sink, log: (name) => void lines.push(name) })
    let reject: (thrown: unknown) => void = () => {}
    hooks.on('pre_tool_use', { timeout_ms: 100 }, () => new Promise<never>((_, no) => (reject = no)))
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    reject(new Error('late'))
    await clock.advance(10)
    expect(await answer).toMatchObject({ code: 'handler.timeout' })
    expect(unhandled).toEqual([])
    expect(lines).toContain('security.hook.audit_write_failed')
  })
})

describe('a hook that ends because we aborted it is not late', () => {
  const ends: [string, (signal: AbortSignal) => unknown, number][] = [
    ['rejects with the reason of the signal', (signal) => Promise.reject(signal.reason), 0],
    ['rejects with an error of its own', () => Promise.reject(new Error('killed')), 0],
    ['returns nothing', () => undefined, 0],
    ['answers all the same', () => block('too late'), 1],
  ]
  test.each(ends)('one that %s', async (_, end, late) => {
    const clock = fakeClock()
    const seen = recorder()
    const hooks = createHooks({ clock, sink: seen.sink, log: seen.log })
    hooks.on('pre_tool_use', { id: 'h', timeout_ms: 100 }, (_payload, { signal }) => {
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(end(signal)))
      }) as never
    })
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(200)
    expect(await answer).toMatchObject({ code: 'handler.timeout' })
    await clock.advance(100)
    expect(seen.dispatches[0]?.executions).toMatchObject([{ decision: 'timeout' }])
    expect(seen.late).toHaveLength(late)
    expect(seen.lines.filter(({ name }) => name === 'engine.late')).toHaveLength(late)
    expect(unhandled).toEqual([])
  })

  test('a guard state that answers late is no answer of the hook', async () => {
    const clock = fakeClock()
    const seen = recorder()
    let answerGuard: (passes: never) => void = () => {}
    const take = () => new Promise<never>((resolve) => (answerGuard = resolve))
    const hooks = createHooks({ clock, sink: seen.sink, log: seen.log, guards: { take } })
    hooks.on('pre_tool_use', { id: 'h', cooldown_ms: 10 }, () => {})
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(5_100)
    expect(await answer).toMatchObject({ code: 'guard.state' })
    answerGuard([{ pass: true }] as never)
    await clock.advance(100)
    expect(seen.late).toEqual([])
  })
})

/** Something that looks like a promise. */
const thenable = (call: (resolve: Settle, reject: Settle) => unknown) => Object.fromEntries([['then', call]])
type Settle = (value: unknown) => void

describe('promises that do not behave', () => {
  test.each<[string, () => unknown]>([
    ['a thenable that never calls back', () => thenable(() => {})],
    [
      'a thenable that throws after it called back',
      () =>
        thenable((resolve) => {
          resolve(undefined)
          throw new Error('after')
        }),
    ],
    [
      'a thenable that calls back twice',
      () =>
        thenable((resolve, reject) => {
          resolve(undefined)
          resolve(block('twice'))
          reject(new Error('thrice'))
        }),
    ],
    [
      'a promise with a then of its own',
      () =>
        Object.assign(
          Promise.resolve(),
          thenable(() => 'hijacked'),
        ),
    ],
    [
      'a promise whose constructor throws',
      () =>
        Object.defineProperty(Promise.resolve(), 'constructor', {
          get() {
            throw new Error('constructor')
          },
        }),
    ],
  ])('%s neither hangs nor crashes a dispatch', async (_, make) => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on('pre_tool_use', { on_timeout: 'allow', on_error: 'allow', timeout_ms: 100 }, make as never)
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(200)
    expect(await Promise.race([answer, 'no answer'])).toMatchObject({ kind: 'allow' })
    expect(unhandled).toEqual([])
  })
})
