import { describe, expect, test } from 'vitest'
import { createHooks, HookError } from '../../src/index.ts'
import { fakeClock, recorder } from '../../src/testing/index.ts'
import { watchUnhandled } from '../engine/unhandled.fixture.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const unhandled = watchUnhandled()

/** The answer, or the news that there is none. */
const soon = (answer: Promise<unknown>) =>
  Promise.race([
    answer,
    fakeClock()
      .advance(1)
      .then(() => 'no answer'),
  ])

const refuse = (): never => {
  throw new Error('no')
}
const values: [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['zero', () => 0],
  ['a text', () => 'text'],
  ['a symbol', () => Symbol('s')],
  ['a bigint', () => 1n],
  ['a function', () => () => {}],
  ['an error', () => new Error('boom')],
  ['an error without words', () => new Error('')],
  ['an error with a throwing message', () => Object.defineProperty(new Error(), 'message', { get: refuse })],
  ['an error with a symbol for a name', () => Object.assign(new Error(''), { name: Symbol('n') })],
  [
    'an error with an object for a message',
    () => Object.assign(new Error(), { message: Object.create(null) }),
  ],
  ['a frozen object', () => Object.freeze({ a: 1 })],
  ['an object without a prototype', () => Object.create(null)],
  ['an object with a throwing toString', () => ({ toString: refuse, [Symbol.toPrimitive]: refuse })],
  ['a revoked proxy', revoked],
  [
    'a proxy that refuses everything',
    () => new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse }),
  ],
  ['a promise', () => Promise.resolve('inner')],
  ['a cyclic error', cyclic],
]

describe.each(values)('a hook that throws %s', (_, make) => {
  const ways: [string, () => unknown][] = [
    [
      'at once',
      () => {
        throw make()
      },
    ],
    ['as a rejection', () => Promise.reject(make())],
    [
      'later',
      async () => {
        await null
        throw make()
      },
    ],
  ]

  test.each(ways)('%s: a gate closes with handler.error', async (_, run) => {
    const hooks = createHooks({ sink: recorder().sink })
    hooks.on('pre_tool_use', { id: 'h' }, run as never)
    expect(await soon(hooks.dispatch('pre_tool_use', bash))).toMatchObject({
      kind: 'block',
      code: 'handler.error',
      by: 'h',
      reason: expect.stringMatching(/^h failed \(error\): ./),
    })
    expect(unhandled).toEqual([])
  })

  test.each(ways)('%s: everything else goes on', async (_, run) => {
    const hooks = createHooks({ sink: recorder({ timed: true }).sink })
    hooks.on('pre_tool_use', { id: 'h', on_error: 'allow' }, run as never)
    hooks.on('session_start', run as never)
    hooks.on('session_end', run as never)
    hooks.on('before_dispatch', run as never)
    expect(await soon(hooks.dispatch('pre_tool_use', bash))).toMatchObject({
      kind: 'allow',
      opened: [{ hook: 'h', because: 'error', code: 'handler.error' }],
    })
    expect(await soon(hooks.dispatch('session_start', {}))).toMatchObject({ kind: 'allow' })
    expect(await soon(hooks.dispatch('session_end', {}))).toMatchObject({ kind: 'allow' })
    expect(await soon(hooks.dispatch('before_dispatch', { content: 'x' }))).toMatchObject({ kind: 'allow' })
    await hooks.drain()
    expect(unhandled).toEqual([])
  })

  test('on a synchronous event: the same', () => {
    const hooks = createHooks()
    const run = () => {
      throw make()
    }
    hooks.on('before_message_write', { id: 'h' }, run)
    hooks.on('tool_result_persist', run)
    const message = {} as never
    expect(hooks.dispatchSync('before_message_write', { message })).toMatchObject({ code: 'handler.error' })
    expect(hooks.dispatchSync('tool_result_persist', { message })).toMatchObject({ kind: 'allow' })
  })
})

test('a coded error keeps its code, and one about the answer follows on_invalid', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', { id: 'h', on_invalid: 'allow' }, () => {
    throw new HookError('handler.result', 'unreadable')
  })
  hooks.on('pre_tool_use', { id: 'i', on_invalid: 'allow' }, () => {
    throw new HookError('config.field', 'mine')
  })
  expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({
    kind: 'block',
    code: 'config.field',
    by: 'i',
    opened: [{ hook: 'h', because: 'invalid', code: 'handler.result' }],
  })
})

test('a hook that throws the code of a guard is still a hook that fails', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', { id: 'h' }, () => {
    throw new HookError('guard.quota', 'mine')
  })
  for (let i = 0; i < 5; i++) await hooks.dispatch('pre_tool_use', bash)
  expect(hooks.list()[0]).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function cyclic(): Error {
  const error = new Error('loop')
  error.cause = error
  return error
}
