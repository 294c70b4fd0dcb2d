import { describe, expect, test } from 'vitest'
import { createHooks } from '../../index.ts'
import { recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const exceeded = 'security.hook.loop_depth_exceeded'

describe('GC-34 a chain of dispatches stops', () => {
  test('depths 0 to 3 pass', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', () => void ran++)
    for (const depth of [0, 1, 2, 3])
      expect((await hooks.dispatch('pre_tool_use', bash, { depth })).kind).toBe('allow')
    expect(ran).toBe(4)
  })

  test('a gate with hooks blocks beyond, runs nothing, and tells the operator', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    let ran = 0
    hooks.on('pre_tool_use', { id: 'h' }, () => void ran++)
    const decision = await hooks.dispatch('pre_tool_use', bash, { depth: 4 })
    expect(decision).toMatchObject({ kind: 'block', code: 'guard.depth' })
    expect(ran).toBe(0)
    expect(seen.lines).toMatchObject([
      { name: exceeded, fields: { event: 'pre_tool_use', depth: 4, max: 3 } },
    ])
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'h', decision: 'skipped', code: 'guard.depth' },
    ])
  })

  test('GC-35 without any hook a deep event is allowed, and nobody is alarmed', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    hooks.on('pre_tool_use', { matcher: '^Read$' }, () => {})
    for (const event of ['pre_tool_use', 'post_tool_use_failure'] as const)
      expect(await hooks.dispatch(event, bash, { depth: 9 })).toEqual({ kind: 'allow' })
    expect(seen.lines).toEqual([])
    expect(seen.dispatches.map(({ executions }) => executions)).toEqual([[], []])
  })

  test('a shadow hook alone closes nothing', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { shadow: true }, () => {})
    expect((await hooks.dispatch('pre_tool_use', bash, { depth: 4 })).kind).toBe('allow')
  })

  test.each(['session_start', 'session_end'] as const)('%s skips with a recorded reason', async (event) => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    let ran = 0
    hooks.on(event, { id: 'h' }, () => void ran++)
    expect((await hooks.dispatch(event, {}, { depth: 4 })).kind).toBe('allow')
    await hooks.drain()
    expect(ran).toBe(0)
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'h', decision: 'skipped', code: 'guard.depth', reason: 'depth 4 is over the limit of 3' },
    ])
    expect(seen.lines.map(({ name }) => name)).toContain(exceeded)
  })

  test('a synchronous gate blocks too', () => {
    const hooks = createHooks()
    hooks.on('before_message_write', () => {})
    const decision = hooks.dispatchSync('before_message_write', { message: {} as never }, { depth: 4 })
    expect(decision).toMatchObject({ kind: 'block', code: 'guard.depth' })
  })

  test('the limit can be chosen', async () => {
    const hooks = createHooks({ maxDepth: 0 })
    hooks.on('pre_tool_use', () => {})
    expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('allow')
    expect((await hooks.dispatch('pre_tool_use', bash, { depth: 1 })).kind).toBe('block')
  })

  test('a depth that is no number cannot slip below the limit', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {})
    for (const depth of [Number.NaN, 'deep', {}])
      await expect(async () =>
        hooks.dispatch('pre_tool_use', bash, { depth: depth as number }),
      ).rejects.toMatchObject({ code: 'input.schema' })
  })

  test('a hook that causes the event it listens to ends at the limit', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', async (_, context) => {
      ran++
      const inner = await hooks.dispatch('pre_tool_use', bash, { depth: context.depth + 1 })
      if (inner.kind === 'block') return { kind: 'block', reason: inner.reason ?? 'blocked' }
    })
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block' })
    expect(ran).toBe(4)
  })
})
