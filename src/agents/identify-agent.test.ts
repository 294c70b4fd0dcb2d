import { describe, expect, test } from 'vitest'
import { eventOf, outcomes, payload, payloadNames } from '../../test/agents/payloads.fixture.ts'
import type { AgentAdapter } from './agent-adapter.ts'
import { claudeCodeAdapter } from './claude-code/adapter.ts'
import { identifyAgent } from './identify-agent.ts'
import { agentAdapters } from './table.ts'

const identify = (event: string, native: Parameters<typeof identifyAgent>[2]) =>
  identifyAgent(claudeCodeAdapter, event, native)

const outputOf = (agent: AgentAdapter, event: string, native: Parameters<typeof identifyAgent>[2]) => {
  const { exit, stdout } = agent.reply(event, outcomes.block, native)
  expect(exit).toBe(0)
  return JSON.parse(String(stdout))
}

describe('an entry of Claude Code’s settings', () => {
  test.each(payloadNames('claude-code'))('%s of Claude Code itself is its own', (name) => {
    const native = payload('claude-code', name)
    expect(identify(eventOf(name), native)).toEqual({ agent: claudeCodeAdapter, event: eventOf(name) })
  })

  test.each(payloadNames('copilot-cli'))('%s of Copilot CLI is read as Copilot CLI’s', (name) => {
    const { agent } = identify(eventOf(name), payload('copilot-cli', name))
    expect(agent.name).toBe('copilot-cli')
  })

  test('a tool call of Copilot CLI gets the names that hooks know, and a refusal that it honours', () => {
    const native = payload('copilot-cli', 'PreToolUse.pascal')
    const { agent, event } = identify('PreToolUse', native)
    expect(agent.read(event, native).payload).toMatchObject({
      tool_name: 'Bash',
      tool_input: { command: 'echo hi > ran.txt; echo hi' },
    })
    const refused = { permissionDecision: 'deny', permissionDecisionReason: 'not here' }
    expect(outputOf(agent, event, native)).toEqual({
      ...refused,
      hookSpecificOutput: { hookEventName: 'PreToolUse', ...refused },
    })
    expect(agent.reply(event, outcomes.pass, native)).toEqual({ exit: 0, stdout: '', stderr: '' })
  })

  test('a prompt and a permission of Copilot CLI are refused in its own format', () => {
    const prompt = payload('copilot-cli', 'UserPromptSubmit.pascal')
    expect(outputOf(identify('UserPromptSubmit', prompt).agent, 'UserPromptSubmit', prompt)).toEqual({
      decision: 'block',
      reason: 'not here',
    })
    const permission = payload('copilot-cli', 'permissionRequest')
    expect(
      outputOf(identify('PermissionRequest', permission).agent, 'PermissionRequest', permission),
    ).toMatchObject({ behavior: 'deny', message: 'not here' })
  })

  test('a tool call of Cursor is read as Cursor’s, and its refusal holds the fields of both', () => {
    const native = payload('cursor', 'preToolUse')
    const { agent, event } = identify('PreToolUse', native)
    expect([agent.name, event]).toEqual(['cursor', 'preToolUse'])
    expect(agent.read(event, native).payload).toMatchObject({ tool_name: 'Bash' })
    expect(outputOf(agent, event, native)).toMatchObject({
      permission: 'deny',
      agent_message: 'not here',
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })
})

test('only the settings of Claude Code are shared', () => {
  const native = payload('copilot-cli', 'PreToolUse.pascal')
  for (const connected of agentAdapters.filter(({ name }) => name !== 'claude-code'))
    expect(identifyAgent(connected, 'x', native)).toEqual({ agent: connected, event: 'x' })
})
