import { describe, expect, test } from 'vitest'
import { ask, block, createHooks, rewrite } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const traced = { trace: true }

test('without being asked for there is no trace', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', () => {})
  expect(await hooks.dispatch('pre_tool_use', bash)).not.toHaveProperty('trace')
})

describe('a trace tells of every hook of the event', () => {
  test('whether it matched, why not, and what came of it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'ran', name: 'Runner' }, () => {})
    hooks.on('pre_tool_use', { id: 'other name', matcher: '^Read$' }, () => {})
    hooks.on(
      'pre_tool_use',
      { id: 'other input', match: { fields: { 'tool_input.command': 'rm' } } },
      () => {},
    )
    hooks.on('pre_tool_use', { id: 'other condition', if_expr: 'depth > 5' }, () => {})
    hooks.on('pre_tool_use', { id: 'blocks' }, () => block('no'))
    hooks.on('pre_tool_use', { id: 'behind' }, () => {})
    hooks.on('pre_tool_use', { id: 'off', enabled: false, disabled_reason: 'too loud' }, () => {})
    hooks.on('stop', { id: 'another event' }, () => {})
    const { trace } = await hooks.dispatch('pre_tool_use', bash, { id: 'e', time: 7 }, traced)
    expect(trace).toMatchObject({ event: 'pre_tool_use', id: 'e', time: 7, subject: 'Bash' })
    expect(trace?.hooks).toMatchObject([
      { hook: 'ran', name: 'Runner', matched: true, executions: [{ decision: 'allow' }] },
      { hook: 'other name', matched: false, executions: [] },
      { hook: 'other input', matched: false, executions: [] },
      { hook: 'other condition', matched: false, because: 'if_expr is false', executions: [] },
      { hook: 'blocks', matched: true, executions: [{ decision: 'block', reason: 'no' }] },
      { hook: 'behind', matched: true, executions: [] },
      { hook: 'off', matched: false, because: 'disabled: too loud', executions: [] },
    ])
    expect(trace?.hooks[1]?.because).toContain('^Read$')
    expect(trace?.hooks[2]?.because).toContain('tool_input.command')
  })

  test('how the decision came about, step by step', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'a' }, () => {})
    hooks.on('pre_tool_use', { id: 'b' }, () => ask('sure?'))
    hooks.on('pre_tool_use', { id: 'c' }, () => ask('really?'))
    hooks.on('pre_tool_use', { id: 'd' }, () => block('no'))
    const { trace } = await hooks.dispatch('pre_tool_use', bash, {}, traced)
    expect(trace?.merges).toEqual([
      { hook: 'b', from: 'allow', to: 'ask' },
      { hook: 'd', from: 'ask', to: 'block' },
    ])
  })

  test('how long each took', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    const wait = (ms: number) => {
      clock.stall(ms)
    }
    hooks.on('pre_tool_use', { id: 'short' }, () => wait(5))
    hooks.on('pre_tool_use', { id: 'long' }, async () => wait(40))
    const { trace } = await hooks.dispatch('pre_tool_use', bash, {}, traced)
    expect(trace?.hooks.map(({ executions }) => executions[0]?.durationMs)).toEqual([5, 40])
    expect(trace?.durationMs).toBe(45)
  })

  test('hooks beside the answer are in it: it waits for them', async () => {
    const hooks = createHooks()
    let finish: () => void = () => {}
    const slow = () => new Promise<void>((resolve) => (finish = resolve))
    hooks.on('pre_tool_use', { id: 's', shadow: true }, slow)
    hooks.on('pre_tool_use', { id: 'b' }, () => block('no'))
    const answer = hooks.dispatch('pre_tool_use', bash, {}, traced)
    finish()
    const { kind, trace } = await answer
    expect(kind).toBe('block')
    expect(trace?.hooks).toMatchObject([
      { hook: 's', executions: [{ decision: 'allow', shadow: true }] },
      { hook: 'b', executions: [{ decision: 'block' }] },
    ])
  })

  test('the observers of an event too', async () => {
    const hooks = createHooks()
    hooks.on('session_end', { id: 'o' }, async () => {})
    hooks.on('session_end', { id: 'm', matcher: 'clear' }, () => {})
    const { trace } = await hooks.dispatch('session_end', { reason: 'logout' }, {}, traced)
    expect(trace?.hooks).toMatchObject([
      { hook: 'o', matched: true, executions: [{ decision: 'allow' }] },
      { hook: 'm', matched: false, executions: [] },
    ])
  })

  test('both runs of a hook that saw the input twice', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'm', locked: true }, () => {})
    hooks.on('pre_tool_use', { id: 'r' }, () => rewrite({ command: 'b' }))
    const { trace, steps } = await hooks.dispatch('pre_tool_use', bash, {}, traced)
    expect(trace?.hooks[0]?.executions).toMatchObject([{}, { recheck: true }])
    expect(steps).toMatchObject([{ hook: 'r' }])
  })

  test('timeouts and what came after them', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on(
      'pre_tool_use',
      { id: 't', timeout_ms: 100, on_timeout: 'allow' },
      () => new Promise<never>(() => {}),
    )
    hooks.on('pre_tool_use', { id: 'n' }, () => {})
    const answer = hooks.dispatch('pre_tool_use', bash, {}, traced)
    await clock.advance(150)
    const { trace } = await answer
    expect(trace?.hooks).toMatchObject([
      { hook: 't', executions: [{ decision: 'timeout', code: 'handler.timeout' }] },
      { hook: 'n', executions: [{ decision: 'allow' }] },
    ])
    expect(trace?.hooks[0]?.executions[0]?.durationMs).toBeGreaterThanOrEqual(100)
  })

  test('what kept everything from running: depth, or an abort', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h' }, () => {})
    const deep = await hooks.dispatch('pre_tool_use', bash, { depth: 4 }, traced)
    expect(deep.trace?.hooks[0]?.executions).toMatchObject([{ decision: 'skipped', code: 'guard.depth' }])
    const signal = AbortSignal.abort()
    const aborted = await hooks.dispatch('pre_tool_use', bash, {}, { trace: true, signal })
    expect(aborted.trace?.hooks[0]?.executions).toMatchObject([{ decision: 'aborted' }])
  })

  test('an event without hooks has an empty one', async () => {
    const { trace } = await createHooks().dispatch('pre_tool_use', bash, {}, traced)
    expect(trace).toMatchObject({ hooks: [], merges: [] })
  })
})

test('a traced dispatch decides as any other, and is recorded once', async () => {
  const seen = recorder()
  const hooks = createHooks({ sink: seen.sink })
  hooks.on('pre_tool_use', () => ask('sure?'))
  const { trace, ...decision } = await hooks.dispatch('pre_tool_use', bash, {}, traced)
  expect(decision).toEqual(await hooks.dispatch('pre_tool_use', bash))
  expect(seen.dispatches).toHaveLength(2)
})
