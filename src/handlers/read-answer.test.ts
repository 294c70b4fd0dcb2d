import { describe, expect, test } from 'vitest'
import type { BaseHook } from '../engine/core/hook.ts'
import { readAnswer } from './read-answer.ts'

const never = new AbortController().signal

function reading(
  text: string,
  options: Partial<BaseHook> = {},
  sent?: string,
  reported: Record<string, unknown> = {},
) {
  const { event = 'pre_tool_use' } = options
  const report = (facts: Readonly<Record<string, unknown>>) => void Object.assign(reported, facts)
  const payload = { tool_name: 'Bash', tool_input: { command: 'ls', keep: 1 } }
  const answer = readAnswer(
    text,
    {
      payload,
      hook: { id: 'h', event, handler_type: 'command', ...options },
      context: {
        event,
        id: 'e',
        time: 0,
        depth: 0,
        timeoutMs: 5_000,
        envelope: {},
        original: payload,
        signal: never,
        report,
      },
    },
    sent === undefined ? {} : { sent },
  )
  return { answer, reported }
}

const specific = (fields: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } })

describe('a known answer', () => {
  test.each<[string, object, unknown]>([
    ['GC-46 GoClaw block', { decision: 'block', reason: 'no' }, { kind: 'block', reason: 'no' }],
    ['GoClaw ask', { decision: 'ask', reason: 'sure?' }, { kind: 'ask', reason: 'sure?' }],
    [
      'the seed’s sample allow',
      { decision: 'allow', additionalContext: 'note', updatedInput: {}, continue: true },
      { kind: 'allow', context: ['note'] },
    ],
    ['GC-46 continue: false', { continue: false }, { kind: 'block', reason: 'blocked by h' }],
    [
      'continue: false beats allow',
      { decision: 'allow', continue: false, reason: 'r' },
      { kind: 'block', reason: 'r' },
    ],
    [
      'Claude Code deny',
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'x' }),
      { kind: 'block', reason: 'x' },
    ],
    [
      'Claude Code ask',
      specific({ permissionDecision: 'ask', permissionDecisionReason: 'x' }),
      { kind: 'ask', reason: 'x' },
    ],
    [
      'Claude Code defer',
      specific({ permissionDecision: 'defer' }),
      { kind: 'ask', reason: 'asked for by h' },
    ],
    ['Claude Code allow grants nothing', specific({ permissionDecision: 'allow' }), { kind: 'allow' }],
    ['approve grants nothing', { decision: 'approve' }, { kind: 'allow' }],
    ['grant: true grants', { decision: 'allow', grant: true }, { kind: 'allow', grant: true }],
    [
      'Claude Code permission request',
      specific({ decision: { behavior: 'deny', message: 'm' } }),
      { kind: 'block', reason: 'm' },
    ],
    [
      'Claude Code rewrite',
      specific({ updatedInput: { command: 'pwd' } }),
      { kind: 'allow', input: { command: 'pwd' } },
    ],
    ['Gemini deny', { decision: 'deny', reason: 'g' }, { kind: 'block', reason: 'g' }],
    [
      'Gemini rewrite is laid over',
      specific({ tool_input: { command: 'pwd' } }),
      { kind: 'allow', input: { command: 'pwd', keep: 1 } },
    ],
    [
      'Cursor deny',
      { permission: 'deny', user_message: 'u', agent_message: 'a' },
      { kind: 'block', reason: 'u', message: 'a' },
    ],
    ['Cursor rewrite', { permission: 'allow', updated_input: { a: 1 } }, { kind: 'allow', input: { a: 1 } }],
    [
      'Copilot deny',
      { permissionDecision: 'deny', permissionDecisionReason: 'c' },
      { kind: 'block', reason: 'c' },
    ],
    ['Copilot rewrite', { modifiedArgs: { a: 1 } }, { kind: 'allow', input: { a: 1 } }],
    ['our own', { kind: 'ask', reason: 'r', context: 'c' }, { kind: 'ask', reason: 'r', context: 'c' }],
    ['our own block without a reason', { kind: 'block' }, { kind: 'block', reason: 'blocked by h' }],
    ['our own, {} changes nothing', { kind: 'allow', input: {} }, { kind: 'allow' }],
    ['a message alone', { systemMessage: 'hello' }, { kind: 'allow' }],
    [
      'a block stands beside a word nobody knows',
      { decision: 'block', permission: 'maybe' },
      { kind: 'block', reason: 'blocked by h' },
    ],
  ])('%s', (_, given, expected) => {
    const { answer, reported } = reading(JSON.stringify(given))
    expect(answer).toEqual(expected)
    expect(reported).toEqual({})
  })

  test('what the tool answered is rewritten after the call, and only then', () => {
    const text = JSON.stringify(specific({ updatedToolOutput: 'clean', updatedInput: { a: 1 } }))
    expect(reading(text, { event: 'post_tool_use' }).answer).toEqual({ kind: 'allow', input: 'clean' })
    expect(reading(text).answer).toEqual({ kind: 'allow', input: { a: 1 } })
  })

  test('continue: false lets an agent stop that is about to, and blocks everything else', () => {
    const text = '{"continue":false,"decision":"block","reason":"r"}'
    expect(reading(text, { event: 'stop' }).answer).toBeUndefined()
    expect(reading('{"decision":"block","reason":"r"}', { event: 'stop' }).answer).toMatchObject({
      kind: 'block',
    })
    expect(reading(text, { event: 'pre_compact' }).answer).toMatchObject({ kind: 'block' })
  })

  test('a prompt is rewritten as text', () => {
    const event = 'user_prompt_submit'
    expect(reading('{"updatedInput":{"prompt":"p"}}', { event }).answer).toEqual({
      kind: 'allow',
      input: 'p',
    })
    expect(reading('{"modifiedPrompt":"p"}', { event }).answer).toEqual({ kind: 'allow', input: 'p' })
  })

  test('a long reason is one line for the record and whole for the model', () => {
    const reason = `first\n${'x'.repeat(400)}`
    const { answer } = reading(JSON.stringify({ decision: 'block', reason }))
    expect(answer).toEqual({ kind: 'block', reason: `first ${'x'.repeat(250)}`, message: reason })
  })
})

describe('an answer without a decision', () => {
  test.each(['', ' \n', '{}'])('%j allows and is not flagged', (text) => {
    expect(reading(text)).toEqual({ answer: undefined, reported: {} })
  })

  test.each(['all is well', 'checked 12 files, 0 problems', 'DEBUG done in 3ms'])(
    'GC-46 text without any sign of an answer allows, flagged: %j',
    (text) => {
      expect(reading(text)).toEqual({ answer: undefined, reported: { unreadable: true, printed: text } })
    },
  )

  test('an unchanged echo of the event allows, whatever the event contains', () => {
    const sent = '{"event":"pre_tool_use","decision":"block"}'
    for (const echo of [`${sent}\n`, JSON.stringify(JSON.parse(sent), undefined, 2)])
      expect(reading(echo, {}, sent)).toEqual({ answer: undefined, reported: {} })
    expect(
      reading('{"event":"pre_tool_use","decision":"block","reason":"r"}', {}, sent).answer,
    ).toMatchObject({ kind: 'block' })
  })
})

/** Each looks like an attempt to answer. */
const attempts = [
  '{"decision":',
  '{"decision":"block"',
  "{'decision':'block'}",
  'checking…\n{"decision":"block"}',
  'done {"decision":"allow"}',
  'decision: block',
  '{"decison":"block"}',
  '{"verdict":"no"}',
  '{"decision":null}',
  '{"decision":""}',
  '{"decision":"maybe"}',
  '{"reason":"r"}',
  'block',
  'DENY.',
  'Ask',
  'allow',
  'approve',
  '"block"',
  'null',
  '42',
  '[1]',
  '<html><body>Log in</body></html>',
  '<!DOCTYPE html>',
]

/** What hooks print in place of an answer when they refuse, fail or are misunderstood. */
const noAnswers = [
  'Blocked by policy: do not run this',
  'DENY: production',
  'no',
  'Error: cannot reach policy server',
  'Traceback (most recent call last):\n  File "guard.py", line 3, in <module>\nKeyError: \'x\'',
  '\u0000\u0001\ufffd\ufffd',
  '\ufefftext after a byte order mark',
]

describe('answer: exact', () => {
  test.each([...noAnswers, ...attempts, '{}\n{}', '{"decision":"allow"}\nran 3 checks'])(
    'takes %j for an invalid answer, whose beginning is recorded',
    (text) => {
      const reported: Record<string, unknown> = {}
      expect(() => reading(text, { answer: 'exact' }, undefined, reported)).toThrow(
        expect.objectContaining({ code: 'handler.result' }),
      )
      expect(reported).toEqual({ printed: expect.any(String) })
    },
  )

  test.each(noAnswers)('the author of a hook that printed %j learns what to do', (text) => {
    expect(() => reading(text, { answer: 'exact' })).toThrow(/print JSON.*stderr.*`answer: strict`/)
  })

  test('applies an answer, and takes nothing, blanks, a byte order mark and {} for no objection', () => {
    for (const text of ['', ' \n\t ', '\ufeff', '{}', ' {}\n', '\ufeff{}'])
      expect(reading(text, { answer: 'exact' })).toEqual({ answer: undefined, reported: {} })
    const block = '{"decision":"block","reason":"no"}'
    expect(reading(block, { answer: 'exact' }).answer).toMatchObject({ kind: 'block', reason: 'no' })
  })

  test('the echo of the event allows, indented and with its keys in another order', () => {
    const sent = { tool_name: 'Bash', tool_input: { command: 'ls', keep: [1, { a: 1, b: 2 }] } }
    const turned = { tool_input: { keep: [1, { b: 2, a: 1 }], command: 'ls' }, tool_name: 'Bash' }
    for (const text of [JSON.stringify(sent), JSON.stringify(turned, undefined, 2)])
      expect(reading(text, { answer: 'exact' }, JSON.stringify(sent))).toEqual({
        answer: undefined,
        reported: {},
      })
    const other = JSON.stringify({ ...sent, tool_name: 'Read' })
    expect(() => reading(other, { answer: 'exact' }, JSON.stringify(sent))).toThrow()
  })

  test('the record keeps 200 characters and no secret', () => {
    const { reported } = reading(`token=ghp_${'a'.repeat(36)} 🚫${'ä'.repeat(900)}`)
    expect([...String(reported.printed)]).toHaveLength(200)
    expect(reported.printed).not.toContain('ghp_')
  })
})

describe('an attempt to answer that cannot be read', () => {
  test.each(attempts)('%j is an invalid answer', (text) => {
    expect(() => reading(text)).toThrow(expect.objectContaining({ code: 'handler.result' }))
  })

  test.each(attempts)('answer: lenient takes %j for a log, flagged', (text) => {
    expect(reading(text, { answer: 'lenient' })).toEqual({
      answer: undefined,
      reported: { unreadable: true, printed: text.replace('\n', ' ') },
    })
  })

  test('answer: lenient applies a valid answer', () => {
    expect(reading('{"decision":"block","reason":"r"}', { answer: 'lenient' }).answer).toMatchObject({
      kind: 'block',
    })
  })

  test.each(['{"decision":"block"}', 'block', 'text'])('answer: ignore does not read %j', (text) => {
    expect(reading(text, { answer: 'ignore' })).toEqual({ answer: undefined, reported: {} })
  })
})

describe('an answer with a decision that cannot be understood is invalid', () => {
  test.each([
    '{"decision":"maybe"}',
    '{"decision":true}',
    '{"decision":"toString"}',
    '{"continue":"no"}',
    '{"permission":{}}',
    '{"hookSpecificOutput":{"permissionDecision":"sure"}}',
    '{"decision":"allow","permission":"perhaps"}',
    '{"decision":"block","decision":"allow"}',
    '{"decision":"allow","__proto__":{"decision":"block"}}',
    `{"decision":"allow","x":${'['.repeat(100)}${']'.repeat(100)}}`,
  ])('M13 %s', (text) => {
    expect(() => reading(text)).toThrow(expect.objectContaining({ code: 'handler.result' }))
  })
})
