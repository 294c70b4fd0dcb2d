import { describe, expect, test } from 'vitest'
import {
  allow,
  block,
  createHooks,
  type EventRows,
  type HookOptions,
  type HooksOptions,
} from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'
import { countFailure, defaultBreaker } from './breaker.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** A hook whose answers are scripted: it does the next thing of the list, then the last one for ever. */
function scripted(
  script: (() => unknown)[],
  options: HookOptions = {},
  settings: HooksOptions<EventRows> = {},
) {
  const clock = fakeClock()
  const seen = recorder()
  const hooks = createHooks({ clock, sink: seen.sink, log: seen.log, ...settings })
  let calls = 0
  hooks.on('pre_tool_use', { id: 'h', ...options }, () => {
    const step = script[Math.min(calls++, script.length - 1)]
    return step?.() as never
  })
  const dispatch = async (times = 1) => {
    let decision = await hooks.dispatch('pre_tool_use', bash)
    for (let i = 1; i < times; i++) decision = await hooks.dispatch('pre_tool_use', bash)
    return decision
  }
  const state = () => hooks.list().find((hook) => hook.id === 'h')
  const trips = () => seen.lines.filter(({ name }) => name === 'security.hook.circuit_breaker')
  return { hooks, clock, seen, dispatch, state, trips, calls: () => calls }
}

const boom = () => {
  throw new Error('boom')
}
const junk = () => 'junk'
const fine = () => undefined
const no = () => block('no')

describe('five failures in a row within a minute switch a hook off', () => {
  test('it is off, with the reason, and the operator is told once', async () => {
    const { dispatch, state, trips } = scripted([boom, junk, boom, junk, boom])
    await dispatch(4)
    expect(state()?.enabled).toBeUndefined()
    await dispatch(3)
    expect(state()).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
    expect(trips()).toHaveLength(1)
    expect(trips()[0]?.fields).toMatchObject({ hook_id: 'h', threshold: 5, window_ms: 60_000 })
  })

  test('it is off even if the wall clock is set ahead between the failures', async () => {
    const { dispatch, state, clock } = scripted([boom])
    for (let failure = 0; failure < 5; failure++) {
      await dispatch()
      clock.jump(3_600_000)
    }
    expect(state()).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
  })

  test('a gate that is closed on errors keeps blocking without running it', async () => {
    const { dispatch, calls, seen } = scripted([boom])
    await dispatch(5)
    expect(await dispatch()).toMatchObject({ kind: 'block', code: 'guard.breaker', by: 'h' })
    expect(calls()).toBe(5)
    expect(seen.dispatches.at(-1)?.executions).toMatchObject([{ hook: 'h', code: 'guard.breaker' }])
  })

  test('a gate that is open on errors skips it', async () => {
    const { dispatch, calls, seen } = scripted([boom], { on_error: 'allow' })
    await dispatch(5)
    expect((await dispatch()).kind).toBe('allow')
    expect(calls()).toBe(5)
    expect(seen.dispatches.at(-1)?.executions).toMatchObject([
      { hook: 'h', decision: 'skipped', code: 'guard.breaker' },
    ])
  })

  test('a tripped gate lets pass what its matcher does not concern', async () => {
    const { hooks, dispatch } = scripted([boom], { matcher: '^Bash$' })
    await dispatch(5)
    const read = await hooks.dispatch('pre_tool_use', { tool_name: 'Read', tool_input: {} })
    expect(read.kind).toBe('allow')
  })

  test('observers are switched off too, and never block', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    hooks.on('session_end', { id: 'o' }, boom)
    for (let i = 0; i < 6; i++) expect((await hooks.dispatch('session_end', {})).kind).toBe('allow')
    await hooks.drain()
    expect(hooks.list()[0]).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
    expect(seen.dispatches.at(-1)?.executions).toMatchObject([{ decision: 'skipped', code: 'guard.breaker' }])
  })
})

describe('a tripped hook keeps the policy of the failures that tripped it', () => {
  const never = () => new Promise(() => {})
  const kinds = [
    ['error', boom, 'on_error'],
    ['timeout', never, 'on_timeout'],
    ['invalid', junk, 'on_invalid'],
  ] as const
  const all = (policy: 'allow' | 'block') => ({ on_error: policy, on_timeout: policy, on_invalid: policy })

  /** Lets the hook fail five times and returns the sixth decision. */
  async function afterTrip(script: (() => unknown)[], options: HookOptions) {
    const made = scripted(script, { timeout_ms: 100, ...options })
    for (let i = 0; i < 5; i++) {
      const answer = made.dispatch()
      await made.clock.advance(200)
      await answer
    }
    return { ...made, decision: await made.dispatch() }
  }

  test.each(kinds)('%s: it blocks although the two other policies allow', async (because, fail, field) => {
    const { decision, state, calls } = await afterTrip([fail], { ...all('allow'), [field]: 'block' })
    expect(decision).toMatchObject({ kind: 'block', code: 'guard.breaker', by: 'h' })
    expect(state()).toMatchObject({ enabled: false, disabled_reason: 'breaker', tripped_by: because })
    expect(calls()).toBe(5)
  })

  test('it took no time, because its handler was not called', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on('pre_tool_use', { id: 'h' }, boom)
    await clock.advance(60_000)
    const decide = () =>
      hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} }, {}, { trace: true })
    for (let i = 0; i < 5; i++) await decide()
    const { trace } = await decide()
    expect(trace?.hooks[0]?.executions).toMatchObject([{ code: 'guard.breaker', durationMs: 0 }])
  })

  test.each(kinds)('%s: it opens although the two others block, and is listed', async (...kind) => {
    const [because, fail, field] = kind
    const { decision, seen } = await afterTrip([fail], { ...all('block'), [field]: 'allow' })
    expect(decision).toEqual({ kind: 'allow', opened: [{ hook: 'h', because, code: 'guard.breaker' }] })
    expect(seen.dispatches.at(-1)?.executions).toMatchObject([
      { hook: 'h', decision: 'skipped', code: 'guard.breaker' },
    ])
  })

  test('of several kinds in a row one that blocks counts, wherever it stands', async () => {
    for (const script of [
      [never, boom, boom, boom, boom],
      [boom, boom, boom, boom, never],
    ]) {
      const { decision, state } = await afterTrip(script, { on_error: 'allow', on_timeout: 'block' })
      expect(decision).toMatchObject({ kind: 'block', code: 'guard.breaker' })
      expect(state()).toMatchObject({ tripped_by: 'timeout' })
    }
  })

  test('a good answer forgets the kind of the failures before it', async () => {
    const { dispatch, state } = scripted([junk, fine, boom], { on_invalid: 'block', on_error: 'allow' })
    await dispatch(7)
    expect(state()).toMatchObject({ tripped_by: 'error' })
  })

  test('a definition that was stored as tripped does the same, without a kind as for an error', async () => {
    for (const [tripped_by, kind] of [
      ['timeout', 'block'],
      ['error', 'allow'],
      [undefined, 'allow'],
    ] as const) {
      const hooks = createHooks()
      const off = { enabled: false, disabled_reason: 'breaker', ...(tripped_by && { tripped_by }) }
      hooks.on('pre_tool_use', { id: 'h', on_error: 'allow', ...off }, fine)
      expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe(kind)
    }
  })

  test('the caller that stores it gets the kind', async () => {
    const stored: unknown[] = []
    const { dispatch } = scripted([junk], {}, { tripped: (hook) => stored.push(hook) })
    await dispatch(5)
    const off = { id: 'h', enabled: false, disabled_reason: 'breaker', tripped_by: 'invalid' }
    expect(stored).toEqual([expect.objectContaining(off)])
  })

  test('elsewhere than on a gate nothing opens, because nothing could close', async () => {
    const hooks = createHooks()
    hooks.on('session_start', boom)
    for (let i = 0; i < 6; i++) expect(await hooks.dispatch('session_start', {})).toEqual({ kind: 'allow' })
  })
})

describe('it does not trip', () => {
  test('when a good answer comes in between, be it nothing or a block', async () => {
    for (const good of [fine, no, () => allow()]) {
      const { dispatch, state } = scripted([boom, boom, boom, boom, good, boom, boom, boom, boom, good])
      await dispatch(10)
      expect(state()?.enabled).toBeUndefined()
    }
  })

  test('when the minute rolls, only what lies outside of it is forgotten', () => {
    const health = { failures: 0, times: [] }
    const at = [0, 50, 55, 58, 61, 62].map((second) => countFailure(health, second * 1_000, defaultBreaker))
    expect(at).toEqual([false, false, false, false, false, true])
  })

  test('when the wall clock is set back between failures of different minutes', async () => {
    const { dispatch, state, clock } = scripted([boom])
    for (let failure = 0; failure < 6; failure++) {
      await dispatch()
      await clock.advance(61_000)
      clock.jump(-61_000)
    }
    expect(state()?.enabled).toBeUndefined()
  })

  test('for a guard that blocks again and again', async () => {
    const { dispatch, state } = scripted([no])
    await dispatch(20)
    expect(state()?.enabled).toBeUndefined()
  })

  test('when it is switched off in the settings', async () => {
    const { dispatch, state } = scripted([boom], {}, { breaker: false })
    await dispatch(20)
    expect(state()?.enabled).toBeUndefined()
  })

  test('on a synchronous event when a good answer comes in between', () => {
    const hooks = createHooks()
    let calls = 0
    hooks.on('tool_result_persist', () => {
      if (++calls % 5 !== 0) throw new Error('boom')
    })
    for (let i = 0; i < 20; i++) hooks.dispatchSync('tool_result_persist', { message: {} as never })
    expect(hooks.list()[0]?.enabled).toBeUndefined()
  })
})

describe('settings', () => {
  test('counts: [block, timeout] counts blocks, and no errors', async () => {
    const counts = ['block', 'timeout'] as const
    const blocking = scripted([no], {}, { breaker: { counts } })
    await blocking.dispatch(5)
    expect(blocking.state()).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
    const failing = scripted([boom], {}, { breaker: { counts } })
    await failing.dispatch(20)
    expect(failing.state()?.enabled).toBeUndefined()
  })

  test('threshold and window can be chosen', async () => {
    const { dispatch, state } = scripted([boom], {}, { breaker: { threshold: 2 } })
    await dispatch(2)
    expect(state()).toMatchObject({ enabled: false })
  })
})

describe('a person decides', () => {
  test('switched on again, it starts with a clean slate', async () => {
    const { hooks, dispatch, state } = scripted([boom, boom, boom, boom, boom, fine, boom])
    await dispatch(5)
    hooks.toggle('h', true)
    expect(state()).toMatchObject({ enabled: true })
    expect(state()?.disabled_reason).toBeUndefined()
    expect(state()?.tripped_by).toBeUndefined()
    expect((await dispatch()).kind).toBe('allow')
    await dispatch(4)
    expect(state()?.enabled).toBe(true)
  })

  test('switched off, it is plainly off and blocks nothing', async () => {
    const { hooks, dispatch, state, calls } = scripted([boom])
    await dispatch(5)
    hooks.toggle('h', false)
    expect((await dispatch()).kind).toBe('allow')
    expect(state()).toMatchObject({ enabled: false })
    expect(state()?.disabled_reason).toBeUndefined()
    expect(calls()).toBe(5)
  })

  test('a hook that is not there cannot be switched', () => {
    expect(() => createHooks().toggle('nobody', true)).toThrow(
      expect.objectContaining({ code: 'config.unknown_hook' }),
    )
  })
})
