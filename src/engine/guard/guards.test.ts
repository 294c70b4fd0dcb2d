import { describe, expect, test } from 'vitest'
import { createHooks, type GuardRequest, type HookOptions, memoryGuardState } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = (command = 'ls') => ({ tool_name: 'Bash', tool_input: { command } })
const local = memoryGuardState

/** The same promises with a guard state that answers at once and with one that takes its time. */
const stores = {
  'in memory': () => local(),
  'far away': () => {
    const state = local()
    return { take: async (requests: readonly GuardRequest[], now: number) => state.take(requests, now) }
  },
}

describe.each(Object.entries(stores))('with a guard state %s', (_, makeState) => {
  function guarded(options: HookOptions) {
    const clock = fakeClock()
    const seen = recorder()
    const hooks = createHooks({ clock, sink: seen.sink, log: seen.log, guards: makeState() })
    let fired = 0
    hooks.on('pre_tool_use', { id: 'h', ...options }, () => {
      fired++
    })
    const last = () => seen.dispatches.at(-1)?.executions
    return { hooks, clock, last, fired: () => fired }
  }

  test('4.8 #113 a hook that cools down is skipped with the milliseconds left, and the gate stays open', async () => {
    const { hooks, clock, last, fired } = guarded({ cooldown_ms: 100 })
    await hooks.dispatch('pre_tool_use', bash())
    expect(last()).toMatchObject([{ hook: 'h', decision: 'allow' }])
    await clock.advance(40)
    expect((await hooks.dispatch('pre_tool_use', bash('other'))).kind).toBe('allow')
    expect(last()).toMatchObject([
      { hook: 'h', decision: 'skipped', code: 'guard.cooldown', reason: 'cooldown: 60 ms left' },
    ])
    await clock.advance(60)
    await hooks.dispatch('pre_tool_use', bash())
    expect(fired()).toBe(2)
  })

  test('4.8 #113 an identical event within the window is handled once, whatever the order of its keys', async () => {
    const { hooks, clock, last, fired } = guarded({ dedup_window_ms: 1_000 })
    const call = (tool_input: Record<string, unknown>) =>
      hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input })
    await call({ a: 1, b: 2 })
    await call({ b: 2, a: 1 })
    expect(last()).toMatchObject([{ decision: 'skipped', code: 'guard.dedup' }])
    await call({ a: 1, b: 3 })
    expect(fired()).toBe(2)
    await clock.advance(1_000)
    await call({ a: 1, b: 2 })
    expect(fired()).toBe(3)
  })

  test.each([-3_600_000, 31_536_000_000])(
    'setting the wall clock by %d ms neither shortens nor lengthens a cooldown',
    async (jump) => {
      const { hooks, clock, last, fired } = guarded({ cooldown_ms: 100 })
      await hooks.dispatch('pre_tool_use', bash())
      clock.jump(jump)
      await clock.advance(40)
      await hooks.dispatch('pre_tool_use', bash())
      expect(last()).toMatchObject([{ decision: 'skipped', reason: 'cooldown: 60 ms left' }])
      await clock.advance(60)
      await hooks.dispatch('pre_tool_use', bash())
      expect(fired()).toBe(2)
    },
  )

  test('another session may repeat an event', async () => {
    const { hooks, fired } = guarded({ dedup_window_ms: 1_000 })
    await hooks.dispatch('pre_tool_use', bash(), { session: 'one' })
    await hooks.dispatch('pre_tool_use', bash(), { session: 'two' })
    expect(fired()).toBe(2)
  })

  test('a spent quota closes the gate, turn by turn', async () => {
    const { hooks, fired } = guarded({ max_invocations_per_turn: 2 })
    const call = (turn: string) => hooks.dispatch('pre_tool_use', bash(), { turn })
    expect([(await call('1')).kind, (await call('1')).kind]).toEqual(['allow', 'allow'])
    expect(await call('1')).toMatchObject({ kind: 'block', code: 'guard.quota', by: 'h' })
    expect((await call('2')).kind).toBe('allow')
    expect(fired()).toBe(3)
  })

  test('a spent budget closes the gate, and on_error: allow opens it and says so', async () => {
    const budget = { name: 'tokens', cost: 3, limit: 5 }
    const closed = guarded({ budget })
    await closed.hooks.dispatch('pre_tool_use', bash())
    expect(await closed.hooks.dispatch('pre_tool_use', bash())).toMatchObject({
      kind: 'block',
      code: 'guard.budget',
    })
    const open = guarded({ budget, on_error: 'allow' })
    await open.hooks.dispatch('pre_tool_use', bash())
    expect(await open.hooks.dispatch('pre_tool_use', bash())).toMatchObject({
      kind: 'allow',
      opened: [{ hook: 'h', because: 'error', code: 'guard.budget' }],
    })
    expect(open.fired()).toBe(1)
  })

  test('hooks of one tenant share a budget by its name', async () => {
    const { hooks } = guarded({ budget: { name: 'tokens', limit: 2 } })
    hooks.on('user_prompt_submit', { budget: { name: 'tokens', limit: 2 } }, () => {})
    await hooks.dispatch('pre_tool_use', bash())
    await hooks.dispatch('user_prompt_submit', { prompt: 'x' })
    expect(await hooks.dispatch('pre_tool_use', bash())).toMatchObject({ code: 'guard.budget' })
  })

  test('a spent quota is no failure of the hook: it is not switched off for it', async () => {
    const { hooks } = guarded({ max_invocations_per_turn: 1 })
    for (let i = 0; i < 10; i++) await hooks.dispatch('pre_tool_use', bash(), { turn: '1' })
    expect(hooks.list()[0]?.enabled).toBeUndefined()
    expect((await hooks.dispatch('pre_tool_use', bash(), { turn: '2' })).kind).toBe('allow')
  })

  test.each<[string, HookOptions]>([
    ['cooldown', { cooldown_ms: 1_000 }],
    ['dedup', { dedup_window_ms: 1_000 }],
    ['quota', { max_invocations_per_turn: 1 }],
    ['budget', { budget: { name: 'b', limit: 1 } }],
  ])('two tenants never meet in a %s', async (_, options) => {
    const { hooks, fired } = guarded(options)
    for (const tenant of ['a', 'b', 'a', 'b']) await hooks.dispatch('pre_tool_use', bash(), { tenant })
    expect(fired()).toBe(2)
  })
})

test('no name of a tenant and a hook runs into that of another', async () => {
  const hooks = createHooks()
  const fired: string[] = []
  hooks.on('pre_tool_use', { id: 'b|c', cooldown_ms: 1_000 }, () => void fired.push('first'))
  hooks.on('pre_tool_use', { id: 'c', cooldown_ms: 1_000 }, () => void fired.push('second'))
  await hooks.dispatch('pre_tool_use', bash(), { tenant: 'a' })
  await hooks.dispatch('pre_tool_use', bash(), { tenant: 'a|b' })
  expect(fired).toEqual(['first', 'second', 'first', 'second'])
})

test('a hook without guard fields never touches the guard state', async () => {
  let asked = 0
  const take = () => {
    asked++
    return []
  }
  const hooks = createHooks({ guards: { take } })
  hooks.on('pre_tool_use', () => {})
  await hooks.dispatch('pre_tool_use', bash())
  expect(asked).toBe(0)
})

test('all guards of a hook are asked in one call', async () => {
  const calls: string[][] = []
  const take = (requests: readonly GuardRequest[]) => {
    calls.push(requests.map(({ kind }) => kind))
    return requests.map(() => ({ pass: true }) as const)
  }
  const hooks = createHooks({ guards: { take } })
  const budget = { name: 'b', limit: 1 }
  const options = { cooldown_ms: 1, dedup_window_ms: 1, max_invocations_per_turn: 1, budget }
  hooks.on('pre_tool_use', options, () => {})
  await hooks.dispatch('pre_tool_use', bash())
  expect(calls).toEqual([['cooldown', 'dedup', 'quota', 'budget']])
})

test('elsewhere than on a gate a spent quota means only that the hook does not run', async () => {
  const seen = recorder()
  const hooks = createHooks({ sink: seen.sink })
  let fired = 0
  hooks.on('session_start', { id: 'h', max_invocations_per_turn: 1 }, () => void fired++)
  for (let i = 0; i < 2; i++) expect((await hooks.dispatch('session_start', {})).kind).toBe('allow')
  expect(fired).toBe(1)
  expect(seen.dispatches[1]?.executions).toMatchObject([{ hook: 'h', code: 'guard.quota' }])
})
