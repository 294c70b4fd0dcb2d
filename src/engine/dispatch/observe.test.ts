import { describe, expect, test } from 'vitest'
import { watchUnhandled } from '../../../test/engine/unhandled.fixture.ts'
import { block, createHooks } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const unhandled = watchUnhandled()

describe('an observe event never blocks or slows the agent', () => {
  test('it answers allow while its hooks are still running', async () => {
    const hooks = createHooks()
    let finish: () => void = () => {}
    let done = false
    hooks.on('session_end', async () => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      done = true
    })
    expect(await hooks.dispatch('session_end', {})).toEqual({ kind: 'allow' })
    expect(done).toBe(false)
    finish()
    await hooks.drain()
    expect(done).toBe(true)
  })

  test('all hooks run at once, even if some throw', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    hooks.on('session_end', { id: 'throws' }, () => {
      throw new Error('boom')
    })
    hooks.on('session_end', { id: 'rejects' }, async () => {
      throw new Error('boom')
    })
    hooks.on('session_end', { id: 'fine' }, async () => 'anything')
    expect((await hooks.dispatch('session_end', {})).kind).toBe('allow')
    await hooks.drain()
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'throws', decision: 'error', code: 'handler.error' },
      { hook: 'rejects', decision: 'error', code: 'handler.error' },
      { hook: 'fine', decision: 'allow' },
    ])
    expect(unhandled).toEqual([])
  })

  test('none waits for another', async () => {
    const hooks = createHooks()
    const log: string[] = []
    hooks.on('session_end', async () => {
      log.push('a')
      await null
      log.push('a ends')
    })
    hooks.on('session_end', () => void log.push('b'))
    await hooks.dispatch('session_end', {})
    await hooks.drain()
    expect(log).toEqual(['a', 'b', 'a ends'])
  })

  test('a block is never applied, and the operator is told', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink, log: seen.log })
    hooks.on('session_end', { id: 'h' }, async () => block('no'))
    expect(await hooks.dispatch('session_end', {})).toEqual({ kind: 'allow' })
    await hooks.drain()
    expect(seen.lines).toMatchObject([{ name: 'engine.block_ignored', fields: { hook: 'h' } }])
    expect(seen.dispatches[0]?.executions).toMatchObject([{ hook: 'h', code: 'engine.block_ignored' }])
  })

  test('each hook has its own deadline, which ends only itself', async () => {
    const clock = fakeClock()
    const seen = recorder()
    const hooks = createHooks({ clock, sink: seen.sink })
    const aborted: boolean[] = []
    hooks.on('session_end', { id: 'stuck', timeout_ms: 100 }, (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(true))
      return new Promise(() => {})
    })
    hooks.on('session_end', { id: 'fine' }, async () => {})
    await hooks.dispatch('session_end', {})
    await clock.advance(150)
    await hooks.drain()
    expect(aborted).toEqual([true])
    expect(seen.dispatches[0]?.executions).toMatchObject([
      { hook: 'stuck', decision: 'timeout', code: 'handler.timeout' },
      { hook: 'fine', decision: 'allow' },
    ])
  })

  test('hooks that fail do not make later events fail', async () => {
    const hooks = createHooks({ breaker: false })
    hooks.on('session_end', () => Promise.reject(new Error('boom')))
    for (let i = 0; i < 20; i++) expect(await hooks.dispatch('session_end', {})).toEqual({ kind: 'allow' })
    await hooks.drain()
    expect(unhandled).toEqual([])
  })
})

test('drain waits for what the drained work started', async () => {
  const hooks = createHooks()
  const log: string[] = []
  hooks.on('session_end', async () => {
    await null
    await hooks.dispatch('post_compact', {})
    log.push('first')
  })
  hooks.on('post_compact', async () => {
    for (let i = 0; i < 10; i++) await null
    log.push('second')
  })
  await hooks.dispatch('session_end', {})
  await hooks.drain()
  expect(log.sort()).toEqual(['first', 'second'])
})

test('drain with nothing to wait for ends at once', async () => {
  await createHooks().drain()
})
