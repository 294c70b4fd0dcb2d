import { describe, expect, test } from 'vitest'
import { block, createHooks, type HookOptions } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const never = () => new Promise<never>(() => {})

/** Dispatches and watches at which moment the answer comes. */
function watched(settings: { budgetMs?: number } = {}) {
  const clock = fakeClock()
  const hooks = createHooks({ clock, ...settings })
  const dispatch = () => {
    const begun = clock.elapsed()
    const watch: { decision?: Awaited<ReturnType<typeof answer>>; after?: number } = {}
    const answer = () => hooks.dispatch('pre_tool_use', bash)
    void answer().then((decision) => {
      watch.decision = decision
      watch.after = clock.elapsed() - begun
    })
    return watch
  }
  const stuck = (options: HookOptions) => hooks.on('pre_tool_use', options, never)
  return { clock, hooks, dispatch, stuck }
}

describe('GC-27 each hook has its own deadline', () => {
  test.each([1, 24, 25, 26, 100, 1_000, 5_000])('%i ms: never early, at most 50 ms late', async (ms) => {
    const { clock, dispatch, stuck } = watched()
    stuck({ timeout_ms: ms })
    const watch = dispatch()
    await clock.advance(ms - 1)
    expect(watch.decision).toBeUndefined()
    await clock.advance(51)
    expect(watch.decision).toMatchObject({ kind: 'block', code: 'handler.timeout' })
    expect(watch.after).toBeGreaterThanOrEqual(ms)
    expect(watch.after).toBeLessThanOrEqual(ms + 50)
  })

  test.each([1, 7, 13, 24])('also when it begins %i ms after a tick', async (offset) => {
    const { clock, dispatch, stuck } = watched()
    stuck({ timeout_ms: 100 })
    dispatch()
    await clock.advance(25 + offset)
    const watch = dispatch()
    await clock.advance(150)
    expect(watch.after).toBeGreaterThanOrEqual(100)
    expect(watch.after).toBeLessThanOrEqual(150)
  })

  test('the default is five seconds', async () => {
    const { clock, dispatch, stuck } = watched()
    stuck({})
    const watch = dispatch()
    await clock.advance(4_999)
    expect(watch.decision).toBeUndefined()
    await clock.advance(51)
    expect(watch.decision).toMatchObject({ code: 'handler.timeout' })
  })

  test('a hook that answers in time is not disturbed', async () => {
    const { clock, hooks, dispatch } = watched()
    let answer: () => void = () => {}
    hooks.on('pre_tool_use', { timeout_ms: 100 }, () => new Promise<void>((resolve) => (answer = resolve)))
    const watch = dispatch()
    await clock.advance(90)
    answer()
    await clock.advance(100)
    expect(watch.decision).toEqual({ kind: 'allow' })
  })
})

describe('a stalled event loop steals no time from a hook', () => {
  test('what begins after the stall has its whole timeout', async () => {
    const { clock, dispatch, stuck } = watched()
    stuck({ timeout_ms: 200 })
    dispatch()
    await clock.advance(50)
    clock.stall(5_000)
    const watch = dispatch()
    await clock.advance(199)
    expect(watch.decision).toBeUndefined()
    await clock.advance(51)
    expect(watch.decision).toMatchObject({ code: 'handler.timeout' })
  })

  test('and its whole budget', async () => {
    const { clock, hooks, dispatch, stuck } = watched()
    stuck({ timeout_ms: 200, on_timeout: 'allow' })
    dispatch()
    await clock.advance(300)
    clock.stall(11_000)
    const watch = dispatch()
    await clock.advance(250)
    expect(watch.decision).toMatchObject({ kind: 'allow', opened: [{ code: 'handler.timeout' }] })
    hooks.on('pre_tool_use', { timeout_ms: 300 }, () => block('second'))
    clock.stall(11_000)
    const second = dispatch()
    await clock.advance(250)
    expect(second.decision).toMatchObject({ kind: 'block', reason: 'second' })
  })

  test('what waited through the stall is ended soon after it', async () => {
    const { clock, dispatch, stuck } = watched()
    stuck({ timeout_ms: 200 })
    const watch = dispatch()
    await clock.advance(100)
    clock.stall(1_000)
    await clock.advance(50)
    expect(watch.decision).toMatchObject({ code: 'handler.timeout' })
  })
})

describe('GC-29 after a timeout', () => {
  test('on_timeout: block blocks at once, allow goes on with the next hook', async () => {
    for (const [on_timeout, kind, ran] of [
      ['block', 'block', 0],
      ['allow', 'allow', 1],
    ] as const) {
      const { clock, hooks, dispatch, stuck } = watched()
      let next = 0
      stuck({ timeout_ms: 100, on_timeout })
      hooks.on('pre_tool_use', () => void next++)
      const watch = dispatch()
      await clock.advance(150)
      expect(watch.decision?.kind).toBe(kind)
      expect(next).toBe(ran)
    }
  })

  test('the signal of the late hook is aborted, the next one has a fresh one', async () => {
    const { clock, hooks, dispatch } = watched()
    const signals: AbortSignal[] = []
    hooks.on('pre_tool_use', { timeout_ms: 100, on_timeout: 'allow' }, (_, { signal }) => {
      signals.push(signal)
      return never()
    })
    hooks.on('pre_tool_use', async (_, { signal }) => void signals.push(signal))
    const watch = dispatch()
    await clock.advance(150)
    expect(watch.decision?.kind).toBe('allow')
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false])
  })

  test('a hook that looks at its signal only later finds it aborted', async () => {
    const { clock, hooks, dispatch } = watched()
    let look: () => boolean = () => false
    hooks.on('pre_tool_use', { timeout_ms: 100 }, (_, context) => {
      look = () => context.signal.aborted
      return never()
    })
    dispatch()
    await clock.advance(50)
    expect(look()).toBe(false)
    await clock.advance(100)
    expect(look()).toBe(true)
  })
})

describe('GC-27 GC-30 one budget for the whole dispatch', () => {
  test('ten seconds together, then it blocks even with on_timeout: allow', async () => {
    const { clock, hooks, dispatch, stuck } = watched()
    let reached = 0
    for (let i = 0; i < 3; i++) stuck({ timeout_ms: 4_000, on_timeout: 'allow' })
    hooks.on('pre_tool_use', () => void reached++)
    const watch = dispatch()
    await clock.advance(9_999)
    expect(watch.decision).toBeUndefined()
    await clock.advance(51)
    expect(watch.decision).toMatchObject({ kind: 'block', code: 'engine.budget' })
    expect(reached).toBe(0)
  })

  test('never less than the longest timeout of one hook', async () => {
    const { clock, dispatch, stuck } = watched()
    stuck({ timeout_ms: 30_000 })
    const watch = dispatch()
    await clock.advance(29_999)
    expect(watch.decision).toBeUndefined()
    await clock.advance(51)
    expect(watch.decision).toMatchObject({ code: 'handler.timeout' })
  })

  test('the next dispatch has a budget of its own', async () => {
    const { clock, dispatch, stuck } = watched({ budgetMs: 300 })
    stuck({ timeout_ms: 200, on_timeout: 'allow' })
    for (let i = 0; i < 4; i++) {
      const watch = dispatch()
      await clock.advance(250)
      expect(watch.decision).toMatchObject({ kind: 'allow' })
    }
  })

  test('elsewhere than on a gate a spent budget keeps what there is', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock, budgetMs: 300 })
    hooks.on('model_request', { timeout_ms: 200 }, () => ({ kind: 'allow', input: { a: 1 } }))
    for (let i = 0; i < 3; i++) hooks.on('model_request', { timeout_ms: 200 }, never)
    const answer = hooks.dispatch('model_request', { request: {} })
    await clock.advance(350)
    expect(await Promise.race([answer, 'no answer'])).toMatchObject({ kind: 'allow', input: { a: 1 } })
  })

  test.each([Number.NaN, -1, 'soon'])('a budget of %s is refused or has no effect', async (budgetMs) => {
    const clock = fakeClock()
    try {
      const hooks = createHooks({ clock, budgetMs: budgetMs as number })
      hooks.on('pre_tool_use', { timeout_ms: 100 }, never)
      const answer = hooks.dispatch('pre_tool_use', bash)
      await clock.advance(200)
      expect(await Promise.race([answer, 'no answer'])).toMatchObject({ code: 'handler.timeout' })
    } catch (error) {
      expect(error).toMatchObject({ code: 'config.range' })
    }
  })
})

test('a hook is told how long it may take', async () => {
  const told: number[] = []
  const hooks = createHooks()
  hooks.on('pre_tool_use', (_, { timeoutMs }) => void told.push(timeoutMs))
  hooks.on('pre_tool_use', { timeout_ms: 250 }, (_, { timeoutMs }) => void told.push(timeoutMs))
  await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
  expect(told).toEqual([5_000, 250])
})
