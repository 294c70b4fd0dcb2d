import { expect, test } from 'vitest'
import { parseJson } from '../safe/json.ts'
import { draftAllowingHook } from './draft-hook.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const approval: ApprovalRow = {
  ...{ approval_id: 'apr_1', tenant_id: 't', event: 'pre_tool_use', event_id: 'e', hook_id: 'h' },
  ...{
    hook_name: 'careful',
    agent: 'codex',
    session_id: 's',
    run_id: null,
    folder: '/srv/shop',
    tool: 'mcp__db.query',
  },
  ...{
    what: 'drop',
    reason: 'r',
    input_hash: 'x',
    caller_id: 't',
    member_id: null,
    requested_by: 'agent',
    approvers_needed: 1,
  },
  ...{ status: 'pending', votes: [], edited: null, created_at: 0, deadline_at: 1, decided_at: null },
  ...{ decided_by: null, used_at: null, granted_until: null },
  input: { sql: 'drop table a', options: { force: true, 'a.b': 1 }, args: ['x'] },
}

test('every argument is compared, in the folder of the call, and further arguments are not allowed', () => {
  const { hook, notes } = draftAllowingHook(approval, NOON)
  expect(hook).toMatchObject({
    ...{ matcher: '^mcp__db\\.query$', scope: 'agent', agent_ids: ['codex'], preapproves: true },
    match: { fields: { 'tool_input.sql': 'drop table a', 'tool_input.options.force': true } },
    if_expr: [
      'cwd == "/srv/shop"',
      'size(tool_input) == 3',
      'size(tool_input["options"]) == 2',
      'tool_input["options"]["a.b"] == 1',
      'tool_input["args"] == ["x"]',
    ].join(' && '),
    expires_at: '2026-01-01T12:00:00.000Z',
  })
  expect(notes).toEqual([])
})

test('what does not fit into one condition is named', () => {
  const input = { text: '\ud800', long: ['x'.repeat(3_000)], broken: ['\ud800'], large: [2 ** 60] }
  const { notes } = draftAllowingHook({ ...approval, input }, NOON)
  expect(notes).toEqual([expect.stringContaining('tool_input.broken, tool_input.large, tool_input.long')])
})

test('a number beyond 2⁵³ is named, because no condition compares its digits', () => {
  const input = parseJson('{"account":9007199254740993,"list":[9007199254740993]}')
  const { hook, notes } = draftAllowingHook({ ...approval, input }, NOON)
  expect(notes).toEqual([expect.stringContaining('tool_input.account, tool_input.list')])
  expect(JSON.stringify(hook)).not.toContain('900719925474099')
})

test('the arguments of an event that has no variable of its own are read from the payload', () => {
  const { hook } = draftAllowingHook(
    { ...approval, event: 'run_start', tool: null, input: { id: 'R1' } },
    NOON,
  )
  expect(hook).toMatchObject({
    match: { fields: { 'parameters.id': 'R1' } },
    if_expr: 'cwd == "/srv/shop" && size(payload["parameters"]) == 1',
  })
})

test('a call without an agent or a folder, and a hook that needs two approvers, are noted', () => {
  const { hook, notes } = draftAllowingHook(
    { ...approval, agent: null, folder: null, input: {}, approvers_needed: 2 },
    NOON,
  )
  expect(hook).toMatchObject({ scope: 'tenant' })
  expect(notes).toHaveLength(3)
})
