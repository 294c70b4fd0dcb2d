import { expect, test } from 'vitest'
import type { Methods } from '../../gateway/methods.ts'
import { describeApproval, inputLines } from './watch-approvals.ts'

const approval: Methods['approvals.list']['result']['approvals'][number] = {
  ...{ approval_id: 'apr_1', status: 'pending', event: 'pre_tool_use', event_id: 'e', hook_id: 'h' },
  ...{ hook_name: 'careful', agent: 'codex', session_id: 's', run_id: null, folder: '/srv', tool: 'Bash' },
  ...{ what: 'ls', reason: 'r', input: { command: 'ls' }, input_hash: 'x', edited: null, can_edit: true },
  ...{
    identical: 1,
    requested_by: 'agent',
    approvers_needed: 1,
    votes: [],
    created_at: 0,
    deadline_at: 1,
    decided_at: null,
  },
  ...{ decided_by: null, used_at: null, granted_until: null, messages: [] },
}

test('escape sequences, direction marks and invisible characters of a call do not reach the terminal', () => {
  const hostile = '\u001b[2Ja\u202eb\u200bc\u2028d\u{e0041}e\u009b31m\r\n'
  const shown = [
    describeApproval({ ...approval, what: hostile, agent: hostile, folder: hostile, reason: hostile }),
    ...inputLines({ ...approval, input: { [hostile]: hostile }, hook_name: hostile, session_id: hostile }),
  ].join('')
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(shown).toContain('a\\u{202e}b\\u{200b}c')
})

test('arguments that do not fit are counted, and an edit is shown in place of what it replaces', () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`argument ${n}`, n]))
  expect(inputLines({ ...approval, input: many }).join('\n')).toContain('… 32 more lines')
  const edited = inputLines({ ...approval, edited: { command: 'pwd' } }).join('\n')
  expect(edited).toContain('edited:')
  expect(edited).toContain('pwd')
})
