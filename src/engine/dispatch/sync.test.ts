import { describe, expect, test } from 'vitest'
import { watchUnhandled } from '../../../test/engine/unhandled.fixture.ts'
import { block, createHooks, type Hooks } from '../../index.ts'
import { recorder } from '../../testing/index.ts'

const message = { role: 'user', content: 'hi' } as never
const unhandled = watchUnhandled()
const persist = (hooks: Hooks) => hooks.dispatchSync('tool_result_persist', { message })
const write = (hooks: Hooks) => hooks.dispatchSync('before_message_write', { message })

/** With a sink the engine takes another way through the same promises. */
describe.each([
  ['without a sink', () => createHooks()],
  ['with a sink', () => createHooks({ sink: recorder().sink })],
  ['with a sink that wants times', () => createHooks({ sink: recorder({ timed: true }).sink })],
])('%s', (_, make) => {
  test('with no hooks, and with hooks that say nothing, the event is allowed', () => {
    const hooks = make()
    expect(persist(hooks)).toEqual({ kind: 'allow' })
    hooks.on('tool_result_persist', () => {})
    expect(persist(hooks)).toEqual({ kind: 'allow' })
  })

  test('a message goes from hook to hook', () => {
    const hooks = make()
    hooks.on('tool_result_persist', ({ message }) => ({ message: { ...message, a: 1 } as never }))
    hooks.on('tool_result_persist', () => {})
    hooks.on('tool_result_persist', ({ message }) => ({ message: { ...message, b: 2 } as never }))
    expect(persist(hooks)).toMatchObject({
      kind: 'allow',
      input: { role: 'user', a: 1, b: 2 },
      original: { role: 'user' },
    })
  })

  test('a gate blocks in its own words or in ours, and stops', () => {
    const own = make()
    own.on('before_message_write', { id: 'h' }, () => ({ block: true }))
    let next = 0
    own.on('before_message_write', () => void next++)
    expect(write(own)).toMatchObject({ kind: 'block', by: 'h' })
    const ours = make()
    ours.on('before_message_write', () => block('secret'))
    expect(write(ours)).toMatchObject({ kind: 'block', reason: 'secret' })
    expect(next).toBe(0)
  })

  test('a returned promise follows on_invalid, and its rejection is nobody’s crash', async () => {
    const hooks = make()
    hooks.on('before_message_write', { id: 'h' }, () => Promise.reject(new Error('x')))
    expect(write(hooks)).toMatchObject({ kind: 'block', code: 'handler.must_be_sync', by: 'h' })
    const open = make()
    open.on('before_message_write', { on_invalid: 'allow' }, () => Promise.resolve(block('x')) as never)
    expect(write(open)).toMatchObject({ kind: 'allow', opened: [{ code: 'handler.must_be_sync' }] })
    const transform = make()
    transform.on('tool_result_persist', () => Promise.resolve())
    transform.on('tool_result_persist', ({ message }) => ({ message: { ...message, b: 2 } as never }))
    expect(persist(transform)).toMatchObject({ input: { b: 2 } })
    await Promise.resolve()
    await hooks.drain()
    expect(unhandled).toEqual([])
  })

  test('a hook that throws closes a gate and is passed by elsewhere', () => {
    const hooks = make()
    const boom = () => {
      throw new Error('boom')
    }
    hooks.on('before_message_write', boom)
    hooks.on('tool_result_persist', boom)
    hooks.on('tool_result_persist', ({ message }) => ({ message: { ...message, b: 2 } as never }))
    expect(write(hooks)).toMatchObject({ kind: 'block', code: 'handler.error' })
    expect(persist(hooks)).toMatchObject({ kind: 'allow', input: { b: 2 } })
  })

  test.each<[string, () => unknown]>([
    ['a throwing then', () => Object.defineProperty({}, 'then', { get: refuse, enumerable: true })],
    ['a throwing field', () => Object.defineProperty({}, 'block', { get: refuse, enumerable: true })],
    ['a proxy that refuses', () => new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse })],
    ['a list', () => []],
    ['an unknown field', () => ({ blocked: true })],
  ])('an answer with %s closes the gate', (_, answer) => {
    const hooks = make()
    hooks.on('before_message_write', answer as never)
    expect(write(hooks)).toMatchObject({ kind: 'block' })
  })

  test('a hook may dispatch synchronously itself', () => {
    const hooks = make()
    const seen: unknown[] = []
    hooks.on('before_message_write', (_, context) => {
      hooks.dispatchSync('tool_result_persist', { message }, { id: 'inner', depth: context.depth + 1 })
      seen.push([context.event, context.id, context.depth])
    })
    hooks.on('tool_result_persist', (_, context) => {
      seen.push([context.event, context.id, context.depth])
    })
    hooks.dispatchSync('before_message_write', { message }, { id: 'outer' })
    expect(seen).toEqual([
      ['tool_result_persist', 'inner', 1],
      ['before_message_write', 'outer', 0],
    ])
  })

  test('bad input is thrown with its code', () => {
    const hooks = make()
    hooks.on('tool_result_persist', () => {})
    expect(() => hooks.dispatchSync('tool_result_persist', { message: 'x' as never })).toThrow(
      expect.objectContaining({ code: 'input.schema', at: 'message' }),
    )
  })
})

test('an async function is refused when it is registered', () => {
  const hooks = createHooks()
  for (const event of ['tool_result_persist', 'before_message_write'] as const)
    expect(() => hooks.on(event, async () => {})).toThrow(
      expect.objectContaining({ code: 'handler.must_be_sync' }),
    )
  expect(hooks.list()).toEqual([])
})

test('an event that may wait cannot be dispatched synchronously', () => {
  const call = { tool_name: 'x', tool_input: {} }
  expect(() => createHooks().dispatchSync('pre_tool_use', call)).toThrow(
    expect.objectContaining({ code: 'engine.not_sync' }),
  )
})

test('a synchronous event can be dispatched with a promise too', async () => {
  const hooks = createHooks()
  hooks.on('before_message_write', () => ({ block: true }))
  expect(await hooks.dispatch('before_message_write', { message })).toMatchObject({ kind: 'block' })
})

test('an unknown event is thrown', () => {
  expect(() =>
    createHooks().dispatchSync('tool_result_persists' as 'tool_result_persist', { message }),
  ).toThrow(expect.objectContaining({ code: 'input.unknown_event' }))
})

function refuse(): never {
  throw new Error('no')
}
