import { describe, expect, test } from 'vitest'
import type { HookDefinition } from '../engine/hook-definition.ts'
import type { AgentAdapter } from './agent-adapter.ts'
import { agentWarnings, defaultEvents } from './capability-warnings.ts'
import { claudeCodeAdapter } from './claude-code/adapter.ts'
import { codexAdapter } from './codex/adapter.ts'
import { copilotCliAdapter } from './copilot-cli/adapter.ts'
import { cursorAdapter } from './cursor/adapter.ts'
import { geminiCliAdapter } from './gemini-cli/adapter.ts'

const hook = (event: string, more: Partial<HookDefinition> = {}): HookDefinition => ({
  id: 'h',
  event,
  handler_type: 'command',
  ...more,
})
const messages = (hooks: readonly HookDefinition[], ...agents: readonly AgentAdapter[]) =>
  agentWarnings(
    hooks,
    agents.map((agent) => ({ agent, events: defaultEvents(agent) })),
  ).map(({ message }) => message)

describe('a hook is warned about', () => {
  test('when its event comes from none of the agents', () => {
    expect(messages([hook('task_completed')], codexAdapter, copilotCliAdapter)).toEqual([
      'task_completed never comes from Codex, Copilot CLI',
    ])
    expect(messages([hook('task_completed')], codexAdapter, claudeCodeAdapter)).toEqual([])
  })

  test('when its event comes only on demand', () => {
    expect(messages([hook('model_request')], geminiCliAdapter)).toEqual([
      'model_request never comes from Gemini CLI; Gemini CLI has BeforeModel, which is connected only on request',
    ])
    const everything = [{ agent: geminiCliAdapter, events: Object.keys(geminiCliAdapter.events) }]
    expect(agentWarnings([hook('model_request')], everything)).toEqual([])
  })

  test('when it is a gate that an agent does not stop at', () => {
    expect(
      agentWarnings(
        [hook('stop'), hook('SubagentStart')],
        [{ agent: codexAdapter, events: ['SubagentStart', 'Stop'] }],
      ),
    ).toEqual([
      {
        index: 1,
        hook: 'h',
        event: 'subagent_start',
        agent: 'codex',
        message: 'Codex cannot be stopped at SubagentStart (to block a sub-agent, block the tool `Agent`)',
      },
    ])
  })

  test('when it changes output that an agent does not let change', () => {
    const changing = hook('post_tool_use', { transform: true })
    expect(
      messages([changing], claudeCodeAdapter, codexAdapter, geminiCliAdapter, copilotCliAdapter),
    ).toEqual([])
    expect(messages([changing], cursorAdapter)).toEqual([
      'Cursor cannot take changed output at postToolUse (only output of MCP servers could be changed, so none is)',
    ])
    expect(messages([hook('post_tool_use')], cursorAdapter)).toEqual([])
  })

  test('once, that a changed input is a granted one', () => {
    const hooks = [hook('stop'), hook('pre_tool_use'), hook('PreToolUse')]
    expect(messages(hooks, codexAdapter)).toEqual([
      'when a hook changes the input at PreToolUse, Codex also takes the call as granted',
    ])
    expect(messages(hooks, claudeCodeAdapter)).toEqual([])
  })

  test('once per agent, that its matchers miss tools without a common name', () => {
    const shell = hook('pre_tool_use', { matcher: '^Bash$' })
    const topic = hook('pre_tool_use', { match: { names: ['update_topic'] } })
    const [missed = '', ...more] = messages([shell, topic], geminiCliAdapter)
    expect(more).toEqual([])
    expect(missed).toMatch(
      /^no matcher reaches these tools of Gemini CLI, which have no common name: complete_task, /,
    )
    expect(missed).not.toMatch(/update_topic|invoke_agent/)
    expect(messages([shell, hook('pre_tool_use')], geminiCliAdapter)).toEqual([])
    expect(messages([shell], claudeCodeAdapter)).toEqual([])
    expect(messages([hook('stop')], geminiCliAdapter)).toEqual([])
  })
})

describe('a hook is not warned about', () => {
  test.each([
    ['that is off', { enabled: false }],
    ['that only watches', { shadow: true }],
    ['for other agents', { agent_ids: ['claude-code'] }],
    ['for agents that only the gateway knows', { agent_ids: ['00000000-0000-4000-8000-000000000001'] }],
  ])('%s', (_, more) => {
    expect(messages([hook('subagent_start', more), hook('setup', more)], codexAdapter)).toEqual([])
  })

  test('when nothing is connected', () => {
    expect(messages([hook('setup')])).toEqual([])
  })

  test('when the payload tells that it is its event', () => {
    expect(messages([hook('post_tool_use_failure')], geminiCliAdapter)).toEqual([])
  })

  test('whose event nobody knows: that is a problem of the file', () => {
    expect(messages([hook('nonsense')], codexAdapter)).toEqual([])
  })
})

test('what is really connected counts', () => {
  expect(agentWarnings([hook('pre_tool_use')], [{ agent: codexAdapter, events: ['Stop'] }])).toMatchObject([
    {
      message:
        'pre_tool_use never comes from Codex; Codex has PreToolUse, which is connected only on request',
    },
  ])
})
