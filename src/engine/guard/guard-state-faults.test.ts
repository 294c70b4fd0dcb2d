import { describe, expect, test } from 'vitest'
import { watchUnhandled } from '../../../test/engine/unhandled.fixture.ts'
import { createHooks, type GuardState, type Policy } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const unhandled = watchUnhandled()

function behind(take: () => unknown, on_error: Policy = 'block') {
  const clock = fakeClock()
  const seen = recorder()
  const guards = { take } as unknown as GuardState
  const hooks = createHooks({ clock, guards, sink: seen.sink, log: seen.log })
  let fired = 0
  hooks.on('pre_tool_use', { id: 'h', cooldown_ms: 10, on_error }, () => void fired++)
  return { hooks, clock, seen, fired: () => fired }
}

const throws = () => {
  throw new Error('store down')
}
const rejects = () => Promise.reject(new Error('store down'))
const junk: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['text', 'yes'],
  ['a number', 42],
  ['an object', {}],
  ['no verdicts', []],
  ['a verdict that is null', [null]],
  ['a verdict that says nothing', [{}]],
  ['a refusal without a code', [{ pass: false }]],
]
const faults: [string, () => unknown][] = [
  ['throws', throws],
  ['rejects', rejects],
  ...junk.map(([name, value]): [string, () => unknown] => [`answers ${name}`, () => value]),
  ...junk.map(([name, value]): [string, () => unknown] => [`resolves with ${name}`, async () => value]),
]

describe.each(faults)('a guard state that %s', (_, take) => {
  test('closes the gate with guard.state, and the hook does not run', async () => {
    const { hooks, clock, fired } = behind(take)
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(10_100)
    expect(await Promise.race([answer, 'no answer'])).toMatchObject({
      kind: 'block',
      code: 'guard.state',
      by: 'h',
    })
    expect(fired()).toBe(0)
    expect(unhandled).toEqual([])
  })

  test('opens it with on_error: allow, and says so', async () => {
    const { hooks, clock } = behind(take, 'allow')
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(10_100)
    expect(await Promise.race([answer, 'no answer'])).toMatchObject({
      kind: 'allow',
      opened: [{ hook: 'h', because: 'error', code: 'guard.state' }],
    })
  })
})

test('a guard state that hangs is given up on, and its late answer changes nothing', async () => {
  let answer: (value: unknown) => void = () => {}
  const { hooks, clock, fired } = behind(() => new Promise((resolve) => (answer = resolve)))
  const decision = hooks.dispatch('pre_tool_use', bash)
  await clock.advance(5_050)
  expect(await decision).toMatchObject({ kind: 'block', code: 'guard.state' })
  answer([{ pass: true }])
  await clock.advance(100)
  expect(fired()).toBe(0)
})

test('a guard state that waits on a synchronous event closes it, and its rejection is nobody’s crash', async () => {
  const hooks = createHooks({ guards: { take: rejects } as unknown as GuardState })
  hooks.on('before_message_write', { id: 'h', cooldown_ms: 10 }, () => {})
  const decision = hooks.dispatchSync('before_message_write', { message: {} as never })
  expect(decision).toMatchObject({ kind: 'block', code: 'guard.state' })
  await fakeClock().advance(10)
  expect(unhandled).toEqual([])
})

test('one verdict for two questions is no answer', async () => {
  const hooks = createHooks({ guards: { take: () => [{ pass: true }] } })
  hooks.on('pre_tool_use', { cooldown_ms: 10, max_invocations_per_turn: 1 }, () => {})
  expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block', code: 'guard.state' })
})

test('elsewhere than on a gate the hook is skipped and the event goes on', async () => {
  const seen = recorder()
  const hooks = createHooks({ guards: { take: throws }, sink: seen.sink })
  hooks.on('session_start', { id: 'h', cooldown_ms: 10 }, () => {})
  expect((await hooks.dispatch('session_start', {})).kind).toBe('allow')
  expect(seen.dispatches[0]?.executions).toMatchObject([{ hook: 'h', code: 'guard.state' }])
})
