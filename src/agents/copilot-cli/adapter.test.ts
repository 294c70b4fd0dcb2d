import { describe, expect, test } from 'vitest'
import { payload, rewriting, said, silent } from '../../../test/agents/payloads.fixture.ts'
import { repliesOf } from '../../../test/agents/replies.fixture.ts'
import { copilotCliAdapter } from './adapter.ts'

const context = said({ additionalContext: 'be brief' })
const decided = (permissionDecision: string, permissionDecisionReason: string) =>
  said({ permissionDecision, permissionDecisionReason })
const decisions = {
  grant: decided('allow', 'go on'),
  ask: decided('ask', 'are you sure?'),
  block: decided('deny', 'not here'),
}
const goOn = { block: said({ decision: 'block', reason: 'not here' }) }

describe('Copilot CLI is answered in its own words', () => {
  repliesOf(copilotCliAdapter, silent, {
    preToolUse: {
      replies: decisions,
      rewrite: [{ command: 'true' }, said({ modifiedArgs: { command: 'true' } })],
    },
    'preToolUse.create': {
      replies: decisions,
      rewrite: [
        { file_path: 'b.md', content: 'x' },
        said({ modifiedArgs: { path: 'b.md', file_text: 'x' } }),
      ],
    },
    'preToolUse.patch': {
      replies: decisions,
      rewrite: [
        { command: '*** Begin Patch' },
        decided('deny', 'a hook changed this call in a way that Copilot CLI cannot carry out: use this one'),
      ],
    },
    'PreToolUse.pascal': {
      replies: decisions,
      rewrite: [{ command: 'true' }, said({ modifiedArgs: { command: 'true' } })],
    },
    permissionRequest: {
      replies: {
        grant: said({ behavior: 'allow' }),
        ask: said({ behavior: 'deny', message: 'are you sure?' }),
        block: said({ behavior: 'deny', message: 'not here' }),
      },
    },
    postToolUse: {
      replies: { context },
      rewrite: [
        { resultType: 'success', textResultForLlm: '***' },
        said({ modifiedResult: { resultType: 'success', textResultForLlm: '***' } }),
      ],
    },
    postToolUseFailure: { replies: { context } },
    userPromptSubmitted: {
      replies: { ...goOn, context },
      rewrite: ['say less', said({ modifiedPrompt: 'say less' })],
    },
    sessionStart: { replies: { context } },
    agentStop: { replies: goOn },
    'Stop.pascal': { replies: goOn },
    subagentStart: { replies: { context } },
    notification: { replies: { context } },
  })

  test('an output that a hook made a text of is a good result with that text', () => {
    expect(
      copilotCliAdapter.reply(
        'postToolUse',
        { ...rewriting('***'), context: 'note' },
        payload('copilot-cli', 'postToolUse'),
      ),
    ).toEqual(
      said({
        modifiedResult: { resultType: 'success', textResultForLlm: '***' },
        additionalContext: 'note',
      }),
    )
  })

  test('a prompt of which nothing is left is blocked: an empty one would be ignored', () => {
    for (const nothing of ['', undefined, 7].filter((each) => each !== undefined))
      expect(copilotCliAdapter.reply('userPromptSubmitted', rewriting(nothing), {})).toEqual(
        said({ decision: 'block', reason: 'a hook left nothing of this prompt: use this one' }),
      )
  })

  test('what is typed into an open shell is a command', () => {
    const native = { toolName: 'write_bash', toolArgs: { sessionId: 'a', input: 'rm -rf /' } }
    expect(copilotCliAdapter.read('preToolUse', native).payload).toMatchObject({
      tool_name: 'Bash',
      native_tool_name: 'write_bash',
      tool_input: { command: 'rm -rf /' },
    })
    expect(
      copilotCliAdapter.reply('preToolUse', rewriting({ sessionId: 'a', command: 'ls' }), native),
    ).toEqual(said({ modifiedArgs: { sessionId: 'a', input: 'ls' } }))
  })
})
