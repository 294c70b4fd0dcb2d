import { describe, expect, test } from 'vitest'
import { createHooks } from '../../index.ts'
import { catalogue } from './catalogue.ts'

const rows = Object.entries(catalogue)
const lifecycle = [
  'session_start session_end user_prompt_submit pre_tool_use post_tool_use post_tool_use_failure',
  'permission_request notification pre_compact post_compact stop stop_failure subagent_start subagent_stop',
  'task_created task_completed run_start run_finish model_request model_response',
]
  .join(' ')
  .split(' ')

test('GC-24 with no hooks every event is allowed', async () => {
  const hooks = createHooks()
  const calls = { tool_name: 'x', tool_input: {} }
  expect(await hooks.dispatch('pre_tool_use', calls)).toEqual({ kind: 'allow' })
  expect(await hooks.dispatch('user_prompt_submit', { prompt: '' })).toEqual({ kind: 'allow' })
  expect(await hooks.dispatch('stop', {})).toEqual({ kind: 'allow' })
  expect(await hooks.dispatch('session_end', {})).toEqual({ kind: 'allow' })
})

test('every lifecycle event has a row', () => {
  for (const name of lifecycle) expect(catalogue).toHaveProperty(name)
})

test('names are snake case and every row says when it happens', () => {
  for (const [name, row] of rows) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(row.about).toMatch(/\S.*\.$/)
    expect(Object.isFrozen(row)).toBe(true)
  }
})

test('the lifecycle events that can block', () => {
  const gates = lifecycle.filter((name) => rows.find(([key]) => key === name)?.[1].mode === 'gate')
  expect(gates.sort()).toEqual([
    'permission_request',
    'pre_compact',
    'pre_tool_use',
    'run_start',
    'stop',
    'subagent_start',
    'task_completed',
    'user_prompt_submit',
  ])
})

describe('what a failed hook means', () => {
  test('gates are closed, but stop, pre_compact and task_completed stay open', () => {
    const open = rows.filter(([, row]) => row.mode === 'gate' && row.onFailure === 'allow')
    expect(open.map(([name]) => name).sort()).toEqual(['pre_compact', 'stop', 'task_completed'])
  })

  test.each([
    ['stop', {}],
    ['pre_compact', {}],
    ['task_completed', {}],
  ] as const)('%s: a failing hook is passed by, and that is said', async (event, payload) => {
    const hooks = createHooks()
    hooks.on(event, { id: 'throws' }, () => {
      throw new Error('boom')
    })
    hooks.on(event, { id: 'junk' }, () => 'junk' as never)
    expect(await hooks.dispatch(event, payload)).toMatchObject({
      kind: 'allow',
      opened: [
        { hook: 'throws', because: 'error', code: 'handler.error' },
        { hook: 'junk', because: 'invalid', code: 'handler.result' },
      ],
    })
  })

  test.each(['stop', 'pre_compact', 'task_completed'] as const)('%s can still block', async (event) => {
    const hooks = createHooks()
    hooks.on(event, () => ({ kind: 'block', reason: 'go on' }))
    expect(await hooks.dispatch(event, {})).toMatchObject({ kind: 'block', reason: 'go on' })
  })
})

test('only stop is limited in how often it blocks in a row', () => {
  const limited = rows.filter(([, row]) => row.maxBlocksInARow !== undefined)
  expect(limited.map(([name, row]) => [name, row.maxBlocksInARow])).toEqual([['stop', 8]])
})

test('only post_tool_use awaits nobody but its transformers', () => {
  expect(rows.filter(([, row]) => row.awaitsOnlyTransformers).map(([name]) => name)).toEqual([
    'post_tool_use',
  ])
})

test('the hooks of runs have five minutes, all others five seconds or their own time', () => {
  expect(catalogue.run_start.timeoutMs).toBe(300_000)
  expect(catalogue.pre_tool_use.timeoutMs).toBe(5_000)
})

test('session_start adds context and cannot block', async () => {
  const hooks = createHooks()
  hooks.on('session_start', () => ({ kind: 'allow', context: 'be brief' }))
  hooks.on('session_start', { id: 'b' }, () => ({ kind: 'block', reason: 'never' }))
  expect(await hooks.dispatch('session_start', { source: 'startup' })).toMatchObject({
    kind: 'allow',
    context: ['be brief'],
    ignored: [{ hook: 'b', code: 'engine.block_ignored', reason: 'never' }],
  })
})
