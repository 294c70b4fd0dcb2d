import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { createHooks } from '../dispatch/hooks.ts'

const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const block = () => ({ kind: 'block' as const, reason: 'not now' })

test('a hook is skipped from its instant on, and the trace says why', async () => {
  const clock = fakeClock()
  const hooks = createHooks({ clock })
  const expires_at = new Date(clock.now() + 1_000).toISOString()
  hooks.on('pre_tool_use', { id: 'guest', expires_at }, block)
  expect(await hooks.dispatch('pre_tool_use', call)).toMatchObject({ kind: 'block' })
  await clock.advance(1_000)
  const { kind, trace } = await hooks.dispatch('pre_tool_use', call, {}, { trace: true })
  expect(kind).toBe('allow')
  expect(trace?.hooks[0]?.executions).toMatchObject([
    { decision: 'skipped', code: 'guard.expired', reason: `the hook expired at ${expires_at}` },
  ])
})

test.each(['tomorrow', '2026-13-01', '1794966884237', ''])('%j is no instant', (expires_at) => {
  const hooks = createHooks()
  expect(() => hooks.on('pre_tool_use', { expires_at }, block)).toThrow('expires_at must be an instant')
})

test('a rewrite after a grant takes the grant back: it was for another input', async () => {
  const hooks = createHooks()
  const decisionOf = async () => hooks.dispatch('pre_tool_use', call)
  hooks.on('pre_tool_use', { id: 'asks', priority: 3 }, () => ({ kind: 'ask', reason: 'a person decides' }))
  hooks.on('pre_tool_use', { id: 'grants', priority: 2 }, () => ({ kind: 'allow', grant: true }))
  expect((await decisionOf()).granted).toEqual({ asked_by: ['asks'], granted_by: ['grants'] })
  hooks.on('pre_tool_use', { id: 'rewrites', priority: 1 }, () => ({
    kind: 'allow',
    input: { command: 'rm' },
  }))
  expect((await decisionOf()).granted).toBeUndefined()
})
