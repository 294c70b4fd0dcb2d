import { describe, expect, test } from 'vitest'
import { formatAnswer, formatItem } from './format-answer.ts'

describe('answers as a person reads them', () => {
  test('a list has a head and its columns', () => {
    const text = formatAnswer('tenants.list', { tenants: [{ id: 'a', name: 'acme', created_at: 0 }] })
    expect(text).toMatch(/^name {2}created_at\nacme {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(formatAnswer('tenants.list', { tenants: [] })).toBe('none')
  })

  test('an execution whose answer was not a decision is marked', () => {
    const row = { event: 'pre_tool_use', decision: 'allow', error: null, unreadable: true }
    const [, clean = '', flagged = ''] = formatAnswer('hooks.history', {
      executions: [{ ...row, unreadable: false }, row],
    }).split('\n')
    expect(flagged).toMatch(/ allow ~ .* it answered text that is not a decision$/)
    expect(clean).toMatch(/ allow {2}.* -$/)
    expect(formatItem('executions.tail', row)).toContain('allow ~')
  })

  test('one thing has a line for each field', () => {
    expect(formatAnswer('tenants.get', { tenant: { id: 'a', name: null } })).toBe('id    a\nname  -')
    expect(formatAnswer('hooks.toggle', { hookId: 'h', enabled: false })).toBe('hookId   h\nenabled  false')
  })

  test('a broken audit chain is named, with where it breaks and what to do', () => {
    const broken = { chain: '0193a5b0', seq: 57, why: 'it was changed' }
    const text = formatAnswer('audit.verify', { ok: false, checked: 56, broken })
    expect(text).toContain('NOT INTACT: the audit log was changed')
    expect(text).toMatch(/chain +0193a5b0\n/)
    expect(text).toMatch(/breaks at +row 57: it was changed\n/)
    expect(text).toMatch(/verified before +56 executions\n/)
    expect(text).toContain('Keep a copy of the database')
    expect(text).not.toContain('{')
    expect(formatAnswer('audit.verify', { ok: true, checked: 9 })).toBe(
      'intact: 9 executions verified, none was changed, removed or inserted',
    )
  })

  test('status names what does not do its full work', () => {
    const text = formatAnswer('status', {
      ready: false,
      version: '1.0.0',
      edition: 'lite',
      lines: [{ name: 'store', state: 'bad', text: 'does not answer' }],
      hooks: { total: 2, off: [], tripped: [{ hookId: 'h', event: 'stop', reason: 'failed' }], shadow: [] },
      deadDeliveries: { count: 200, more: true },
      budget: { budget_total: 10, remaining: 4 },
    })
    expect(text.split('\n')).toEqual([
      'hookhelm 1.0.0, lite edition: NOT READY',
      '  bad  store  does not answer',
      '2 hooks',
      '  tripped  h  stop  failed',
      '200 or more dead deliveries',
      '4 of 10 tokens left this month',
    ])
  })

  test('the end of a grant is a time, and a list of members names no tenant', () => {
    const approvals = [{ approval_id: 'apr_1', granted_until: 0 }]
    expect(formatAnswer('approvals.list', { approvals })).toMatch(/ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    const members = [{ id: 'i-d', tenant_id: 't-id', name: 'ada', kind: 'person', created_at: 0 }]
    expect(formatAnswer('members.list', { members })).toMatch(/^name .*\nada +person +- +\d{4}/)
  })

  test('settings say where they come from, an event why it was decided so', () => {
    expect(formatAnswer('settings.get', { settings: { audit: { value: 'strict', from: 'tenant' } } })).toBe(
      'audit  strict  tenant',
    )
    const trace = { event: 'stop', subject: '', hooks: [{ hook: 'h', matched: true, executions: [] }] }
    expect(formatAnswer('events.explain', { decision: { kind: 'block', by: 'h' }, trace })).toContain(
      'BLOCK by h',
    )
  })
})

test('a session is told as it went, with what was not simply allowed', () => {
  const row = (event: string, moment: object, more: object = {}) => ({
    event_id: 'e',
    event,
    kind: 'allow',
    by_hook: null,
    code: null,
    duration_ms: 1,
    created_at: 0,
    moment,
    ...more,
  })
  const text = formatAnswer('sessions.timeline', {
    events: [
      row('session_start', {}),
      row('user_prompt_submit', { turn: 't1' }),
      row(
        'pre_tool_use',
        { turn: 't1', tool: 'Bash' },
        { kind: 'block', by_hook: 'u-u-i-d', by_hook_name: 'no-rm', argument: 'rm -rf /', reason: 'no rm' },
      ),
      row(
        'pre_tool_use',
        { turn: 't1', tool: 'Bash' },
        {
          argument: 'ls',
          changes: [{ hook: 'safe', hook_name: null, field: 'command', before: 'ls', after: 'ls -1' }],
        },
      ),
      row('pre_tool_use', { turn: 't1', tool: 'Read\u001b[2J', lane: 'a1', depth: 1 }),
    ],
    nextCursor: '',
  })
  expect(text.replaceAll(/\d\d:\d\d:\d\d/g, 'T').split('\n')).toEqual([
    '  T session_start   e',
    'turn 1',
    '  T user_prompt_submit   e',
    '  T pre_tool_use Bash: rm -rf / → block by no-rm: no rm   e',
    '  T pre_tool_use Bash: ls   e',
    '    safe changed command: ls → ls -1',
    '    T [a1] pre_tool_use Read\\u{1b}[2J   e',
  ])
  expect(formatAnswer('sessions.timeline', { events: [], nextCursor: '' })).toBe('none')
})
