import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAccepted } from '../../../test/agents/codex-schema.fixture.ts'
import {
  anyText,
  eventOf,
  payload,
  payloadNames,
  refused,
  rewriting,
  said,
  silent,
} from '../../../test/agents/payloads.fixture.ts'
import { repliesOf } from '../../../test/agents/replies.fixture.ts'
import type { ClientOutcome } from '../agent-adapter.ts'
import { codexAdapter } from './adapter.ts'

const specific = (hookEventName: string, output: object) =>
  said({ hookSpecificOutput: { hookEventName, ...output } })
const context = (hookEventName: string) => specific(hookEventName, { additionalContext: 'be brief' })
const permission = (decision: object) => specific('PermissionRequest', { decision })
const blocked = said({ decision: 'block', reason: 'not here' })
const patch = '*** Begin Patch\n*** Add File: other.txt\n+hi\n*** End Patch\n'

describe('Codex is answered in its own words', () => {
  repliesOf(codexAdapter, silent, {
    PreToolUse: {
      replies: {
        ask: refused('are you sure?'),
        block: refused('not here'),
        context: context('PreToolUse'),
      },
      rewrite: [
        { command: 'true' },
        specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: 'true' } }),
      ],
    },
    'PreToolUse.patch': {
      replies: {
        ask: refused('are you sure?'),
        block: refused('not here'),
        context: context('PreToolUse'),
      },
      rewrite: [
        { command: patch },
        specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: patch } }),
      ],
    },
    PermissionRequest: {
      replies: {
        grant: permission({ behavior: 'allow' }),
        ask: permission({ behavior: 'deny', message: 'are you sure?' }),
        block: permission({ behavior: 'deny', message: 'not here' }),
      },
    },
    PostToolUse: {
      replies: { context: context('PostToolUse') },
      rewrite: ['***', said({ decision: 'block', reason: '***' })],
    },
    UserPromptSubmit: { replies: { block: blocked, context: context('UserPromptSubmit') } },
    SessionStart: { replies: { context: context('SessionStart') } },
    SubagentStart: { replies: { context: context('SubagentStart') } },
    Stop: { replies: { block: blocked } },
    PreCompact: { replies: { block: said({ continue: false, stopReason: 'not here' }) } },
  })

  test('changed output of a server is its text, and words for the model stand beside it', () => {
    const outcome = {
      ...rewriting({ content: [{ type: 'text', text: 'a' }, { text: 'b' }] }),
      context: 'note',
    }
    expect(codexAdapter.reply('PostToolUse', outcome, payload('codex', 'PostToolUse'))).toEqual(
      said({
        decision: 'block',
        reason: 'a\nb',
        hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'note' },
      }),
    )
  })

  test('arguments of a sub-agent go back in its own spelling', () => {
    const native = { tool_name: 'spawn_agent', tool_input: { message: 'do it', agent_type: 'default' } }
    expect(codexAdapter.read('PreToolUse', native).payload).toMatchObject({
      tool_name: 'Agent',
      tool_input: { prompt: 'do it', subagent_type: 'default' },
    })
    expect(
      codexAdapter.reply('PreToolUse', rewriting({ prompt: 'less', subagent_type: 'default' }), native),
    ).toEqual(
      specific('PreToolUse', {
        permissionDecision: 'allow',
        updatedInput: { message: 'less', agent_type: 'default' },
      }),
    )
  })
})

describe('a patch is changed by its text or not at all', () => {
  const native = payload('codex', 'PreToolUse.patch')
  const seen = codexAdapter.read('PreToolUse', native).payload.tool_input as Record<string, unknown>
  const cannot = refused('a hook changed this call in a way that Codex cannot carry out: use this one')

  test('the paths that a hook hands back as it saw them are no change', () => {
    expect(codexAdapter.reply('PreToolUse', rewriting({ ...seen, command: patch }), native)).toEqual(
      specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: patch } }),
    )
  })

  test('nor are those of the new text', () => {
    const changed = { command: patch, file_path: 'other.txt', file_paths: ['other.txt'] }
    expect(codexAdapter.reply('PreToolUse', rewriting(changed), native)).toMatchObject({ exit: 0 })
  })

  test.each([
    ['another path', { ...seen, file_path: 'elsewhere.txt' }],
    ['no text', { file_path: 'new.txt' }],
    ['arguments of another tool', { file_path: 'new.txt', old_string: 'a', new_string: 'b' }],
    ['a text that is none', { command: 7 }],
    ['no arguments', 'x'],
  ])('%s blocks', (_, changed) => {
    expect(codexAdapter.reply('PreToolUse', rewriting(changed), native)).toEqual(cannot)
  })
})

describe('no answer holds what its strict schema refuses', () => {
  const text = fc.oneof(anyText, fc.constantFrom('', ' ', '\u0085', '\n\t', '{"a":1}'))
  const outcome: fc.Arbitrary<ClientOutcome> = fc
    .record(
      {
        kind: fc.constantFrom('pass', 'grant', 'ask', 'block'),
        message: anyText.map((words) => `x${words}`),
        input: fc.oneof(text, fc.dictionary(fc.string(), fc.jsonValue()), fc.record({ command: text })),
        context: text,
      },
      { requiredKeys: ['kind', 'message'] },
    )
    .map((some) => some as ClientOutcome)

  test.each(payloadNames('codex'))('%s', (name) => {
    const event = eventOf(name)
    const native = payload('codex', name)
    fc.assert(
      fc.property(outcome, (some) => {
        const { exit, stdout, stderr } = codexAdapter.reply(event, some, native) as {
          exit: number
          stdout: string
          stderr: string
        }
        if (exit === 2) return stdout === '' && stderr.trim() !== '' && !stderr.trimEnd().includes('\n')
        return exit === 0 && stderr === '' && isAccepted(event, stdout)
      }),
    )
  })

  test.each([
    ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }],
    ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } }],
    ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: {} } }],
    ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }],
    ['PreToolUse', { continue: false }],
    ['PreToolUse', { more: 1 }],
    ['PermissionRequest', { decision: 'block', reason: 'x' }],
    ['PostToolUse', { decision: 'block', reason: ' ' }],
    ['PostToolUse', { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'x' } }],
    ['Stop', { decision: 'block' }],
    ['PreCompact', { decision: 'block', reason: 'x' }],
  ])('and the schema is one: %s %j', (event, output) => {
    expect(isAccepted(event, JSON.stringify(output))).toBe(false)
  })
})
