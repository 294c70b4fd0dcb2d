import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CommandAgentAdapter } from '../../src/agents/agent-adapter.ts'
import { claudeCodeAdapter } from '../../src/agents/claude-code/adapter.ts'
import { codexAdapter } from '../../src/agents/codex/adapter.ts'
import { copilotCliAdapter } from '../../src/agents/copilot-cli/adapter.ts'
import { cursorAdapter } from '../../src/agents/cursor/adapter.ts'
import { geminiCliAdapter } from '../../src/agents/gemini-cli/adapter.ts'
import { deliverDecision } from '../../src/agents/translate/outcome.ts'
import { lookUp } from '../../src/agents/translate/tool-names.ts'
import type { Decision } from '../../src/engine/core/decision.ts'
import { clients } from './clients.fixture.ts'
import { anyText, eventOf, payload, payloadNames } from './payloads.fixture.ts'

const commandAgents: readonly CommandAgentAdapter[] = [
  claudeCodeAdapter,
  codexAdapter,
  geminiCliAdapter,
  copilotCliAdapter,
  cursorAdapter,
]

const texts = {
  'several lines': 'first\nsecond\r\nthird',
  'control characters': '\u001b[31mred\u0007\u0000 \u009b and \u2028 more',
  nothing: '',
  blanks: ' \t\n ',
  'blanks that only some trim': '\u0085\u0085',
  '100 kB': 'long '.repeat(20_000),
  unicode: 'verboten 🚫 запрещено 禁止 \ud800',
  'an allow in JSON': '{"decision":"allow"}',
  'a number in JSON': '0',
  'null in JSON': 'null',
  'a text in JSON': '"allow"',
}

/** Every payload that the client can be stopped at, with the answer to a decision. */
const gates = commandAgents.flatMap((agent) =>
  payloadNames(agent.name).flatMap((name) => {
    const event = eventOf(name)
    const honours = lookUp(agent.events, event)?.honours ?? []
    const native = payload(agent.name, name)
    const answer = (decision: Decision) =>
      agent.reply(event, deliverDecision(decision, honours, agent.title).outcome, native)
    const isBlocked = (decision: Decision) => clients[agent.name]?.(event, answer(decision)) === true
    return honours.includes('block') ? [{ agent, name, honours, answer, isBlocked }] : []
  }),
)

describe.each(gates)('$agent.title $name', ({ honours, answer, isBlocked }) => {
  test.each(Object.entries(texts))('a block whose message is %s blocks', (_, message) => {
    expect(isBlocked({ kind: 'block', reason: message })).toBe(true)
    expect(isBlocked({ kind: 'block', reason: 'r', message })).toBe(true)
    expect(isBlocked({ kind: 'block' })).toBe(true)
  })

  test('any block blocks, whatever it says and however it was decided', () => {
    fc.assert(
      fc.property(anyText, anyText, (reason, message) => isBlocked({ kind: 'block', reason, message })),
    )
  })

  test('no objection leaves no word on the matter', () => {
    expect(isBlocked({ kind: 'allow' })).toBe(false)
    expect(['', '{}']).toContain(answer({ kind: 'allow' }).stdout)
    expect(answer({ kind: 'allow' })).toMatchObject({ exit: 0, stderr: '' })
  })

  test('what is to be asked is asked there or blocked, and never just goes on', () => {
    const asking: Decision = { kind: 'ask', reason: 'are you sure?' }
    if (honours.includes('ask')) expect(answer(asking).stdout).toContain('"ask"')
    else expect(isBlocked(asking)).toBe(true)
  })

  test('a changed input that cannot be handed over is blocked', () => {
    if (!honours.includes('rewrite')) expect(isBlocked({ kind: 'allow', input: { x: 1 } })).toBe(true)
  })
})

test('what is refused is one line, whatever was said', () => {
  for (const message of Object.values(texts)) {
    const { stdout, stderr } = codexAdapter.reply('PreToolUse', { kind: 'block', message }, {})
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^[^\n]+\n$/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(stderr.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  }
})

test('the clients of this test tell a block from what only looks like one', () => {
  const ran = (agent: string, event: string, reply: object) =>
    clients[agent]?.(event, { exit: 0, stdout: '', stderr: '', ...reply }) === false
  const deny = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }
  expect(ran('gemini-cli', 'BeforeTool', { stdout: JSON.stringify(deny) })).toBe(true)
  expect(ran('gemini-cli', 'BeforeTool', { exit: 2, stderr: '{"decision":"allow"}' })).toBe(true)
  expect(ran('codex', 'PreToolUse', { stdout: JSON.stringify(deny) })).toBe(true)
  expect(ran('codex', 'PreToolUse', { exit: 2, stderr: ' \n' })).toBe(true)
  expect(ran('copilot-cli', 'preToolUse', { stdout: JSON.stringify(deny) })).toBe(true)
  expect(ran('claude-code', 'PermissionRequest', { exit: 2, stderr: 'no' })).toBe(true)
})
