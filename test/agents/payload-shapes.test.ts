import { describe, expect, test } from 'vitest'
import type { NativePayload } from '../../src/agents/agent-adapter.ts'
import { agentProfiles, findAdapter, findPayloadShape } from '../../src/agents/table.ts'
import { lookUp } from '../../src/agents/translate/tool-names.ts'
import type { Envelope } from '../../src/engine/core/context.ts'
import { eventOf, payload, payloadNames as recordedNames } from './payloads.fixture.ts'

const time = Date.parse('2026-01-01T00:00:00.000Z')
const commandAgents = ['claude-code', 'codex', 'gemini-cli', 'copilot-cli', 'cursor']

/** Fields that only the agent itself knows. Hooks of other agents' events see an empty value there. */
const onlyTheAgentKnows = [
  ...['transcript_path', 'transcriptPath', 'agent_transcript_path', 'user_email', 'cursor_version', 'model'],
  ...[
    'effort',
    'permission_mode',
    'prompt_id',
    'custom_instructions',
    'parentAgentId',
    'parent_conversation_id',
  ],
]

/** The start line of an MCP server, likewise. */
const serverFields: Readonly<Record<string, readonly string[]>> = {
  'gemini-cli BeforeTool.mcp': ['mcp_context'],
  'cursor beforeMCPExecution': ['command'],
}

function shapeOf(agent: string, name: string, keepsRaw: boolean) {
  const native = payload(agent, name)
  const event = eventOf(name)
  const adapter = findAdapter(agent)!
  const reading = adapter.read(event, native)
  const ours = reading.event ?? lookUp(adapter.events, event)?.event
  if (ours === undefined) return undefined
  const { raw, ...known } = reading.envelope
  const envelope: Envelope = keepsRaw ? { ...known, host: agent, raw } : { ...known, host: 'another-agent' }
  const context = { event: ours, time, envelope }
  return { native, shaped: findPayloadShape(agent)!.shape(reading.payload, context, event) }
}

const without = (fields: NativePayload, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))

describe.each(commandAgents)('%s', (agent) => {
  const names = recordedNames(agent).filter((name) => shapeOf(agent, name, true) !== undefined)

  test.each(names)('%s: its own event comes out as the agent sent it', (name) => {
    const { native, shaped } = shapeOf(agent, name, true)!
    expect(shaped.payload).toMatchObject(native)
  })

  test.each(names)('%s: a hook reads the same fields if another agent caused the event', (name) => {
    const { native, shaped } = shapeOf(agent, name, false)!
    const unknowable = [...onlyTheAgentKnows, ...(serverFields[`${agent} ${name}`] ?? [])]
    expect(shaped.payload).toMatchObject(without(native, unknowable))
  })
})

test('every agent has a form', () => {
  expect(agentProfiles.filter(({ payloadShape }) => payloadShape === undefined)).toEqual([])
})

const call = (tool_name: string, tool_input: object) => ({ tool_name, tool_input })
const context = (event: string) => ({
  event,
  time,
  envelope: { host: 'claude-code', session: 's', cwd: '/p/sub', project: '/p', toolCall: 't' },
})
const shape = (agent: string, payload: object, event = 'pre_tool_use', native?: string) =>
  findPayloadShape(agent)!.shape(payload, context(event), native)

describe('a call of Claude Code in the form of', () => {
  const rm = call('Bash', { command: 'rm -rf /' })
  const write = call('Write', { file_path: '/p/.env', content: 'A=1' })

  test.each([
    ['gemini-cli', undefined, { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' }],
    ['codex', undefined, { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: rm.tool_input }],
    ['copilot-cli', undefined, { toolName: 'bash', toolArgs: rm.tool_input, sessionId: 's', cwd: '/p/sub' }],
    ['copilot-cli', 'PreToolUse', { hook_event_name: 'PreToolUse', tool_name: 'Bash', session_id: 's' }],
    ['cursor', undefined, { hook_event_name: 'preToolUse', tool_name: 'Shell', tool_input: rm.tool_input }],
    ['cursor', 'beforeShellExecution', { command: 'rm -rf /', cwd: '/p/sub', workspace_roots: ['/p'] }],
    ['opencode', undefined, { input: { tool: 'bash', callID: 't' }, output: { args: rm.tool_input } }],
    ['openclaw', undefined, { event: { toolName: 'exec', params: rm.tool_input }, ctx: { sessionId: 's' } }],
  ])('%s %s: a shell command', (agent, native, fields) => {
    expect(shape(agent, rm, 'pre_tool_use', native).payload).toMatchObject(fields)
  })

  test.each([
    ['gemini-cli', 'tool_input', { file_path: '/p/.env', absolute_path: '/p/.env', content: 'A=1' }],
    ['cursor', 'tool_input', { file_path: '/p/.env', path: '/p/.env', content: 'A=1', contents: 'A=1' }],
    ['copilot-cli', 'toolArgs', { path: '/p/.env', file_text: 'A=1' }],
    ['codex', 'tool_input', { command: '*** Begin Patch\n*** Add File: /p/.env\n+A=1\n*** End Patch\n' }],
  ])('%s: a written file, under every spelling that its versions use', (agent, key, input) => {
    expect(shape(agent, write).payload[key]).toMatchObject(input)
  })

  test('cursor: its own tool call in the form of an older event, whichever spelling the call has', () => {
    const native = { ...payload('cursor', 'preToolUse'), tool_name: 'Read', tool_input: { path: '/p/.env' } }
    const reading = findAdapter('cursor')!.read('preToolUse', native)
    const envelope = { ...reading.envelope, host: 'cursor' }
    const shaped = findPayloadShape('cursor')!.shape(
      reading.payload,
      { event: 'pre_tool_use', time, envelope },
      'beforeReadFile',
    )
    expect(shaped.payload).toMatchObject({ hook_event_name: 'beforeReadFile', file_path: '/p/.env' })
  })

  test('cursor: the content of a file that is read', () => {
    const read = call('Read', { file_path: 'package.json' })
    const envelope = { ...context('pre_tool_use').envelope, cwd: process.cwd() }
    const { payload } = findPayloadShape('cursor')!.shape(
      read,
      { ...context('pre_tool_use'), envelope },
      'beforeReadFile',
    )
    expect(payload).toMatchObject({ file_path: 'package.json', content: expect.stringContaining('hookhelm') })
  })

  test.each([
    ['claude-code', ['CLAUDE_PROJECT_DIR']],
    ['gemini-cli', ['GEMINI_PROJECT_DIR', 'CLAUDE_PROJECT_DIR']],
    ['copilot-cli', ['COPILOT_PROJECT_DIR', 'CLAUDE_PROJECT_DIR']],
    ['cursor', ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR']],
  ])('%s: its variables name the folder where the session began', (agent, names) => {
    const { env } = shape(agent, rm)
    for (const name of names) expect(env[name]).toBe('/p')
  })

  test.each([
    [
      'cursor',
      { path: '/p/b', file_path: '/p/.env', contents: 'A=1' },
      { file_path: '/p/b', content: 'A=1' },
    ],
    ['gemini-cli', { absolute_path: '/p/b', content: 'A=2' }, { file_path: '/p/b', content: 'A=2' }],
    ['copilot-cli', { path: '/p/b', file_text: 'x' }, { file_path: '/p/b', content: 'x' }],
  ])('%s: arguments that a hook changed get our names', (agent, changed, ours) => {
    expect(shape(agent, write).readInput(changed)).toEqual(ours)
  })
})
