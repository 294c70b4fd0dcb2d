import { expect, test } from 'vitest'
import type { DispatchRecord } from '../core/records/sink.ts'
import { createHooks } from './hooks.ts'

const write = { tool_name: 'Write', tool_input: { path: 'a' }, tool_response: {} }

test('observers: skip leaves hooks beside the answer to the caller, who asks which they are', async () => {
  const ran: string[] = []
  const hooks = createHooks()
  hooks.on('post_tool_use', { id: 'seen', matcher: '^Write$' }, () => void ran.push('seen'))
  hooks.on('post_tool_use', { id: 'other', matcher: '^Bash$' }, () => void ran.push('other'))
  hooks.on('post_tool_use', { id: 'when', if_expr: 'tool_input.path == "b"' }, () => void ran.push('when'))
  hooks.on('post_tool_use', { id: 'broken', if_expr: 'tool_input.missing == 1' }, () => {})
  await hooks.dispatch('post_tool_use', write, {}, { observers: 'skip' })
  await hooks.drain()
  expect(ran).toEqual([])
  // A condition that cannot be evaluated is kept: running the hook is what records that.
  expect(hooks.observers('post_tool_use', write).map(({ id }) => id)).toEqual(['seen', 'broken'])
})

test('only: one hook of a chain runs alone', async () => {
  const ran: string[] = []
  const hooks = createHooks()
  for (const id of ['a', 'b']) hooks.on('session_end', { id }, () => void ran.push(id))
  await hooks.dispatch('session_end', {}, {}, { only: 'b', trace: true })
  expect(ran).toEqual(['b'])
  await hooks.dispatch('session_end', {}, {}, { only: 'nobody', trace: true })
  expect(ran).toEqual(['b'])
})

test('a record tells its whole trace when asked, misses and times included', async () => {
  const records: DispatchRecord[] = []
  const hooks = createHooks({ sink: { timed: true, record: (record) => void records.push(record) } })
  hooks.on('pre_tool_use', { id: 'miss', matcher: '^Bash$' }, () => {})
  hooks.on('pre_tool_use', { id: 'hit' }, () => {})
  await hooks.dispatch('pre_tool_use', { tool_name: 'Write', tool_input: {} })
  const [trace] = records.map((record) => record.trace())
  expect(trace?.hooks).toMatchObject([
    { hook: 'miss', matched: false, because: 'matcher ^Bash$ does not match "Write"', executions: [] },
    { hook: 'hit', matched: true, executions: [{ decision: 'allow' }] },
  ])
  expect(trace?.durationMs).toBeGreaterThan(0)
})

test('a hook whose definition is the very same object keeps what its breaker remembers', async () => {
  const trips: string[] = []
  const failing = { type: 'failing', read: () => ({}), run: () => Promise.reject(new Error('no')) }
  const hooks = createHooks({
    handlers: [failing],
    breaker: { threshold: 2 },
    tripped: ({ id = '' }) => void trips.push(id),
  })
  const same = { id: 'same', event: 'pre_tool_use', handler_type: 'failing' }
  const call = { tool_name: 'Write', tool_input: {} }
  hooks.replace('group', [same])
  await hooks.dispatch('pre_tool_use', call)
  hooks.replace('group', [same, { id: 'more', event: 'session_end', handler_type: 'failing' }])
  await hooks.dispatch('pre_tool_use', call)
  expect(trips).toEqual(['same'])
  // Another object means another hook, with a clean slate.
  hooks.replace('group', [{ ...same }])
  await hooks.dispatch('pre_tool_use', call)
  expect(trips).toEqual(['same'])
})
