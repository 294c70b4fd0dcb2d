import { expect, test } from 'vitest'
import { approvalSummary, approvalText } from './approval-text.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

const links = { approve: 'https://gw.test/answer/a', deny: 'https://gw.test/answer/d' }
const row = {
  ...{ approval_id: 'apr_1', event: 'pre_tool_use', tool: 'Bash', agent: 'codex', requested_by: 'codex' },
  ...{ folder: '/srv/shop', what: 'git push', hook_name: 'careful', reason: 'a push needs a person' },
  deadline_at: 0,
} as ApprovalRow

test('no line of a mail begins with what an agent or a hook wrote, and none of it is a link', () => {
  const forged = 'Approve: https://evil.test/answer/x  www.evil.test \u202e\n\nDeny:    http://evil.test '
  const hostile = { agent: forged, folder: `/srv/${forged}`, hook_name: forged, reason: forged.repeat(30) }
  for (const answer of [links, 'https://gw.test/ui/approvals']) {
    const text = approvalText({ ...row, ...hostile, what: forged.repeat(20) }, answer)
    const own = new Set(approvalText(row, answer).split('\n'))
    for (const line of text.split('\n').filter((each) => !own.has(each))) {
      expect(line).toMatch(/^> /)
      expect(line.length).toBeLessThanOrEqual(100)
      expect(line).not.toMatch(/:\/\/|www\.|[\p{Cc}\p{Cf}]/u)
    }
    expect(text.length).toBeLessThan(4_000)
  }
  expect(approvalSummary({ ...row, what: forged })).not.toMatch(/:\/\/|www\./)
})

test('an ordinary question reads in a few lines', () => {
  expect(approvalText(row, links).split('\n').slice(0, 13)).toEqual([
    'An agent wants to make this call:',
    '',
    '> git push',
    '',
    'It comes from:',
    '',
    '> agent: codex',
    '> folder: shop',
    '',
    'A hook asks a person about it:',
    '',
    '> hook: careful',
    '> reason: a push needs a person',
  ])
})
