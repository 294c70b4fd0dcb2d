import { describe, expect, test } from 'vitest'
import { createHooks, rewrite } from '../../src/index.ts'

const call = () => ({ tool_name: 'Bash', tool_input: { command: 'ls', flags: ['-l'], deep: { a: 1 } } })
type Loose = {
  tool_name?: string
  tool_input: Record<string, unknown> & { flags: string[]; deep: { a?: number } }
}

describe('4.7 #107 a hook cannot change the event behind anybody’s back', () => {
  test.each<[string, (payload: Loose) => unknown]>([
    ['the tool name', (payload) => Object.assign(payload, { tool_name: 'Read' })],
    ['the input', (payload) => Object.assign(payload, { tool_input: {} })],
    ['a value inside', (payload) => Object.assign(payload.tool_input, { command: 'rm' })],
    ['a new key', (payload) => Object.assign(payload.tool_input, { more: 1 })],
    ['a removed key', (payload) => delete payload.tool_name],
    ['a list inside', (payload) => payload.tool_input.flags.push('-rf')],
    ['something deep inside', (payload) => Object.assign(payload.tool_input.deep, { a: 2 })],
    ['its prototype', (payload) => Object.setPrototypeOf(payload, { tool_name: 'Read' })],
  ])('%s: handler.error, the gate closes, the event is unchanged', async (_, change) => {
    const hooks = createHooks()
    const payload = call()
    hooks.on('pre_tool_use', { id: 'h' }, (given) => void change(given as unknown as Loose))
    expect(await hooks.dispatch('pre_tool_use', payload)).toMatchObject({
      kind: 'block',
      code: 'handler.error',
      by: 'h',
    })
    expect(payload).toEqual(call())
  })

  test('with on_error: allow the next hook still sees the event as it was', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('pre_tool_use', { on_error: 'allow' }, (given) => {
      Object.assign(given.tool_input, { command: 'rm' })
    })
    hooks.on('pre_tool_use', (given) => void seen.push(given))
    expect((await hooks.dispatch('pre_tool_use', call())).kind).toBe('allow')
    expect(seen).toEqual([call()])
  })

  test('the patch of another hook is as firm', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ command: 'b', list: [1] }))
    hooks.on('pre_tool_use', { id: 'h' }, ({ tool_input }) => {
      ;(tool_input.list as number[]).push(2)
    })
    expect(await hooks.dispatch('pre_tool_use', call())).toMatchObject({ code: 'handler.error', by: 'h' })
  })

  test('an observer cannot change what the others see', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('session_end', (given) => void Object.assign(given, { reason: 'changed' }))
    hooks.on('session_end', ({ reason }) => void seen.push(reason))
    await hooks.dispatch('session_end', { reason: 'clear' })
    await hooks.drain()
    expect(seen).toEqual(['clear'])
  })

  test('the envelope is frozen as well', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', (_, { envelope }) => void Object.assign(envelope, { tenant: 'other' }))
    const decision = await hooks.dispatch('pre_tool_use', call(), { tenant: 'mine' })
    expect(decision).toMatchObject({ code: 'handler.error' })
  })

  test('on a synchronous event too', () => {
    const hooks = createHooks()
    const message = { role: 'user', content: ['a'] }
    hooks.on('before_message_write', (given) => {
      ;(given.message as typeof message).content.push('b')
    })
    const decision = hooks.dispatchSync('before_message_write', { message: message as never })
    expect(decision).toMatchObject({ kind: 'block', code: 'handler.error' })
    expect(message.content).toEqual(['a'])
  })
})
