import { describe, expect, test } from 'vitest'
import type { HookRow } from '../../stored-hooks/hook-tables.ts'
import { explainMisses } from './explain-misses.ts'

const row = (id: string, more: Partial<HookRow> = {}): HookRow => ({
  id,
  tenant_id: 't',
  event: 'pre_tool_use',
  handler_type: 'script',
  scope: 'tenant',
  agent_ids: [],
  config: {},
  priority: 0,
  enabled: true,
  version: 1,
  source: 'user',
  created_by: null,
  created_at: 1,
  updated_at: 1,
  ...more,
})

const ran = { hook: 'ran', matched: true, executions: [] }
const trace = { event: 'pre_tool_use', subject: 'Bash', hooks: [ran], misses: 2 }
const added = (...hooks: HookRow[]) => {
  const explained = explainMisses(trace, [row('ran'), ...hooks], 10) as { hooks: object[] }
  return explained.hooks.slice(1)
}

describe('a recorded trace that only counts the hooks that did not apply', () => {
  test('gets the reason of each from its matcher', () => {
    expect(added(row('w', { matcher: '^Write$', name: 'writes' }))).toEqual([
      {
        hook: 'w',
        name: 'writes',
        matched: false,
        because: 'matcher ^Write$ does not match "Bash"',
        executions: [],
      },
    ])
  })

  test('says that a hook is switched off, and why', () => {
    expect(added(row('off', { enabled: false, disabled_reason: 'breaker' }))).toMatchObject([
      { because: 'disabled: breaker' },
    ])
  })

  test('marks a hook that has changed since, and leaves out one that is newer', () => {
    const changed = row('c', { matcher: '^Write$', updated_at: 11 })
    expect(added(changed, row('n', { created_at: 11, updated_at: 11 }))).toMatchObject([
      { hook: 'c', because: expect.stringContaining('has changed since this event') },
    ])
  })
})

test('a trace that lists all hooks stays as it is', () => {
  const complete = { ...trace, misses: undefined }
  expect(explainMisses(complete, [row('w', { matcher: '^Write$' })], 10)).toBe(complete)
})
