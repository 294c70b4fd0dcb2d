import { describe, expect, test } from 'vitest'
import { payload, refused, rewriting, said, silent } from '../../../test/agents/payloads.fixture.ts'
import { repliesOf } from '../../../test/agents/replies.fixture.ts'
import { claudeCodeAdapter } from './adapter.ts'

const specific = (hookEventName: string, output: object) =>
  said({ hookSpecificOutput: { hookEventName, ...output } })
const context = (hookEventName: string) => specific(hookEventName, { additionalContext: 'be brief' })
const pre = (permissionDecision: string, permissionDecisionReason: string) =>
  specific('PreToolUse', { permissionDecision, permissionDecisionReason })
const permission = (decision: object) => specific('PermissionRequest', { decision })

describe('Claude Code is answered in its own words', () => {
  repliesOf(claudeCodeAdapter, silent, {
    PreToolUse: {
      replies: {
        grant: pre('allow', 'go on'),
        ask: pre('ask', 'are you sure?'),
        block: pre('deny', 'not here'),
        context: context('PreToolUse'),
      },
      rewrite: [{ command: 'true' }, specific('PreToolUse', { updatedInput: { command: 'true' } })],
    },
    PermissionRequest: {
      replies: {
        grant: permission({ behavior: 'allow' }),
        block: permission({ behavior: 'deny', message: 'not here' }),
      },
      rewrite: [{ command: 'true' }, permission({ behavior: 'allow', updatedInput: { command: 'true' } })],
    },
    PostToolUse: {
      replies: { context: context('PostToolUse') },
      rewrite: [
        { stdout: '***', stderr: '' },
        specific('PostToolUse', { updatedToolOutput: { stdout: '***', stderr: '' } }),
      ],
    },
    PostToolUseFailure: { replies: { context: context('PostToolUseFailure') } },
    UserPromptSubmit: {
      replies: {
        block: said({ decision: 'block', reason: 'not here' }),
        context: context('UserPromptSubmit'),
      },
    },
    SessionStart: { replies: { context: context('SessionStart') } },
    SubagentStart: { replies: { context: context('SubagentStart') } },
    Stop: { replies: { block: said({ decision: 'block', reason: 'not here' }) } },
    PreCompact: { replies: { block: refused('not here') } },
  })

  test('a task that may not be completed yet', () => {
    expect(claudeCodeAdapter.reply('TaskCompleted', { kind: 'block', message: 'tests fail' }, {})).toEqual(
      refused('tests fail'),
    )
  })

  test('a text in place of an output becomes an output of that shape, and hides all its texts', () => {
    const native = payload('claude-code', 'PostToolUse')
    expect(claudeCodeAdapter.reply('PostToolUse', rewriting('***'), native)).toEqual(
      specific('PostToolUse', {
        updatedToolOutput: {
          stdout: '***',
          stderr: '',
          interrupted: false,
          isImage: false,
          noOutputExpected: false,
        },
      }),
    )
  })

  test('a rewrite, words and a question go together', () => {
    const outcome = { kind: 'ask', message: 'sure?', input: { command: 'ls' }, context: 'note' } as const
    expect(claudeCodeAdapter.reply('PreToolUse', outcome, {})).toEqual(
      specific('PreToolUse', {
        permissionDecision: 'ask',
        permissionDecisionReason: 'sure?',
        updatedInput: { command: 'ls' },
        additionalContext: 'note',
      }),
    )
  })
})
