import { describe, expect, test } from 'vitest'
import { ask, block, createHooks, rewrite } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }

describe('a shadow hook changes nothing', () => {
  test.each<[string, () => unknown, object]>([
    ['blocks', () => block('no'), { decision: 'block', reason: 'no' }],
    ['asks', async () => ask('sure?'), { decision: 'ask', reason: 'sure?' }],
    ['rewrites', () => rewrite({ command: 'rm' }), { decision: 'allow' }],
    [
      'throws',
      () => {
        throw new Error('boom')
      },
      { decision: 'error', code: 'handler.error' },
    ],
    ['answers junk', () => 'junk', { decision: 'error', code: 'handler.result' }],
  ])('one that %s is recorded and has no effect', async (_, answer, line) => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink })
    const inputs: unknown[] = []
    hooks.on('pre_tool_use', { id: 's', shadow: true, priority: 1 }, answer as never)
    hooks.on('pre_tool_use', ({ tool_input }) => void inputs.push(tool_input))
    expect(await hooks.dispatch('pre_tool_use', bash)).toEqual({ kind: 'allow' })
    await hooks.drain()
    expect(inputs).toEqual([{ command: 'ls' }])
    expect(seen.dispatches[0]?.executions.filter(({ hook }) => hook === 's')).toMatchObject([
      { ...line, shadow: true },
    ])
  })

  test('it never delays the answer, not even by its timeout', async () => {
    const clock = fakeClock()
    const seen = recorder()
    const hooks = createHooks({ clock, sink: seen.sink })
    hooks.on('pre_tool_use', { id: 's', shadow: true, timeout_ms: 100 }, () => new Promise<never>(() => {}))
    expect(await hooks.dispatch('pre_tool_use', bash)).toEqual({ kind: 'allow' })
    expect(seen.dispatches).toEqual([])
    await clock.advance(150)
    await hooks.drain()
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 's', decision: 'timeout', code: 'handler.timeout', shadow: true },
    ])
  })

  test('it runs even behind a block, once', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink })
    let ran = 0
    hooks.on('pre_tool_use', { id: 'real', priority: 1 }, async () => block('no'))
    hooks.on('pre_tool_use', { id: 's', shadow: true }, () => void ran++)
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block', by: 'real' })
    await hooks.drain()
    expect(ran).toBe(1)
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'real', decision: 'block' },
      { hook: 's', decision: 'allow', shadow: true },
    ])
  })

  test('behind a failure that blocked it runs too', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { priority: 1 }, () => 'junk' as never)
    hooks.on('pre_tool_use', { shadow: true }, () => void ran++)
    await hooks.dispatch('pre_tool_use', bash)
    expect(ran).toBe(1)
  })

  test('it looks only at what its matcher fits', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { shadow: true, matcher: 'Bash(rm *)' }, () => void ran++)
    await hooks.dispatch('pre_tool_use', bash)
    expect(ran).toBe(0)
  })

  test('it sees the input as it is at its place', async () => {
    const hooks = createHooks()
    const inputs: unknown[] = []
    hooks.on('pre_tool_use', { priority: 2 }, () => rewrite({ command: 'two' }))
    hooks.on('pre_tool_use', { shadow: true, priority: 1 }, ({ tool_input }) => void inputs.push(tool_input))
    hooks.on('pre_tool_use', () => rewrite({ command: 'three' }))
    await hooks.dispatch('pre_tool_use', bash)
    expect(inputs).toEqual([{ command: 'two' }])
  })

  test('a locked shadow hook does not start a second pass', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { shadow: true, locked: true }, () => void ran++)
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    await hooks.dispatch('pre_tool_use', bash)
    expect(ran).toBe(1)
  })

  test('one that keeps failing is switched off and still closes nothing', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { shadow: true }, () => {
      throw new Error('boom')
    })
    for (let i = 0; i < 7; i++) expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('allow')
    expect(hooks.list()[0]).toMatchObject({ disabled_reason: 'breaker' })
  })

  test('on a claim it claims nothing, on a synchronous event it changes nothing', async () => {
    const hooks = createHooks()
    hooks.on('before_dispatch', { shadow: true }, () => ({ handled: true }))
    expect(await hooks.dispatch('before_dispatch', { content: 'x' })).toEqual({ kind: 'allow' })
    hooks.on('before_message_write', { shadow: true }, () => ({ block: true }))
    expect(hooks.dispatchSync('before_message_write', { message: {} as never })).toEqual({ kind: 'allow' })
  })
})
