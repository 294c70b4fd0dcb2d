import { expect, test } from 'vitest'
import type { Envelope } from '../../engine/core/context.ts'
import { block, rewrite } from '../../engine/core/decision.ts'
import type { DispatchRecord } from '../../engine/core/records/sink.ts'
import { createHooks, type Hooks } from '../../engine/dispatch/hooks.ts'
import type { EventRecord } from '../audit-tables.ts'
import { summaryRow } from '../views/summary-row.ts'
import { toEventRecord } from './event-record.ts'

/** What the record of one dispatch holds, through the real engine. */
async function recordOf(
  register: (hooks: Hooks) => void,
  { command = 'ls', envelope = {} }: { command?: string; envelope?: Envelope } = {},
): Promise<EventRecord> {
  const records: DispatchRecord[] = []
  const hooks = createHooks({ sink: { timed: true, record: (dispatch) => records.push(dispatch) } })
  register(hooks)
  await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command } }, envelope)
  await hooks.drain()
  const [record] = records
  if (record === undefined) throw new TypeError('the dispatch was not recorded')
  return toEventRecord(record, { tenant: 't', text: undefined, attempt: 1, find: () => undefined })
}

test('a block names the hook, its reason, the tool and the command', async () => {
  const { summary } = await recordOf(
    (hooks) => hooks.on('pre_tool_use', { id: 'h1', name: 'no-force' }, () => block('Push without --force.')),
    {
      command: 'git push --force',
      envelope: { agent: 'claude-code', cwd: '/home/me/shop-api', lane: 'l', session: 's' },
    },
  )
  expect(summary).toEqual({
    agent: 'claude-code',
    folder: '/home/me/shop-api',
    lane: 'l',
    tool: 'Bash',
    what: 'git push --force',
    by_hook: 'h1',
    hook_name: 'no-force',
    reason: 'Push without --force.',
  })
})

test('a plain allow says nothing but what it was', async () => {
  expect((await recordOf(() => {})).summary).toEqual({ tool: 'Bash', what: 'ls' })
})

test('a rewrite names the last hook that changed the input, and counts for that hook', async () => {
  const { summary, executions, by_hook } = await recordOf((hooks) => {
    hooks.on('pre_tool_use', { id: 'h1', name: 'add-timeout' }, () => rewrite({ command: 'timeout 60 ls' }))
    hooks.on('pre_tool_use', { id: 'h2' }, () => undefined)
  })
  expect(summary).toMatchObject({ rewritten: true, by_hook: 'h1', hook_name: 'add-timeout' })
  expect(by_hook).toBeNull()
  expect(executions.map(({ hook_id, tally }) => [hook_id, tally?.rewrote])).toEqual([
    ['h1', true],
    ['h2', false],
  ])
})

test('a failure that a policy lets pass is told with its policy and its hook, and so is the number of failures', async () => {
  const { summary } = await recordOf((hooks) => {
    hooks.on('pre_tool_use', { id: 'h1', name: 'flaky', on_error: 'allow' }, () => {
      throw new Error('down')
    })
  })
  expect(summary).toMatchObject({ opened: expect.stringMatching(/^on_error: allow of flaky \(/), failed: 1 })
})

test('shadow hooks count if they would have made the decision stricter', async () => {
  const { summary } = await recordOf((hooks) => {
    hooks.on('pre_tool_use', { id: 's1', shadow: true }, () => block('no'))
    hooks.on('pre_tool_use', { id: 's2', shadow: true }, () => undefined)
    hooks.on('pre_tool_use', { id: 's3', shadow: true }, () => {
      throw new Error('down')
    })
  })
  expect(summary).toEqual({ tool: 'Bash', what: 'ls', shadow: 1 })
})

test('a hook that runs again on the final input is one match', async () => {
  const { executions } = await recordOf((hooks) => {
    hooks.on('pre_tool_use', { id: 'h1', recheck: true }, () => undefined)
    hooks.on('pre_tool_use', { id: 'h2' }, () => rewrite({ command: 'pwd' }))
  })
  const own = executions.filter(({ hook_id }) => hook_id === 'h1')
  expect(own.map(({ tally }) => tally?.repeated)).toEqual([false, true])
})

test('probes of the doctor are marked', async () => {
  const { summary } = await recordOf(() => {}, { envelope: { session: 'hookhelm-doctor-1' } })
  expect(summary).toMatchObject({ probe: true })
})

test('4.12 no secret of the command reaches the row in clear', async () => {
  const secret = `sk-ant-api03-${'Ab1'.repeat(30)}`
  const record = await recordOf((hooks) => hooks.on('pre_tool_use', () => block(`not with ${secret}`)), {
    command: `export KEY=${secret} && run`,
  })
  expect(JSON.stringify(summaryRow(record))).not.toContain(secret)
  expect(summaryRow(record).what).toContain('run')
})
