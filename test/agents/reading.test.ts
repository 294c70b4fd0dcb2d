import { describe, expect, test } from 'vitest'
import type { AgentAdapter } from '../../src/agents/agent.ts'
import { claudeCode } from '../../src/agents/claude-code/adapter.ts'
import { codex } from '../../src/agents/codex/adapter.ts'
import { copilotCli } from '../../src/agents/copilot-cli/adapter.ts'
import { cursor } from '../../src/agents/cursor/adapter.ts'
import { geminiCli } from '../../src/agents/gemini-cli/adapter.ts'
import { own } from '../../src/agents/native/own.ts'
import { catalogue } from '../../src/engine/events/catalogue.ts'
import { eventOf, payload, payloadNames } from './payloads.fixture.ts'

const session = '00000000-0000-4000-8000-000000000001'
const turn = '00000000-0000-4000-8000-000000000002'
const cwd = '/home/user/project'
const hi = 'echo hi > ran.txt; echo hi'

function read(agent: AgentAdapter, name: string) {
  const event = eventOf(name)
  const native = payload(agent.name, name)
  const reading = agent.read(event, native)
  return { ...reading, native, event: reading.event ?? own(agent.events, event)?.event }
}

/** What each recorded payload is, in our words. */
const known: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  'claude-code': {
    MessageDisplay: 'message_display',
    PermissionRequest: 'permission_request',
    PostCompact: 'post_compact',
    PostToolBatch: 'post_tool_batch',
    PostToolUse: 'post_tool_use',
    'PostToolUse.in-subagent': 'post_tool_use',
    PostToolUseFailure: 'post_tool_use_failure',
    PreCompact: 'pre_compact',
    PreToolUse: 'pre_tool_use',
    'PreToolUse.in-subagent': 'pre_tool_use',
    SessionEnd: 'session_end',
    SessionStart: 'session_start',
    'SessionStart.compact': 'session_start',
    'SessionStart.resume': 'session_start',
    Stop: 'stop',
    SubagentStart: 'subagent_start',
    SubagentStop: 'subagent_stop',
    UserPromptSubmit: 'user_prompt_submit',
  },
  codex: {
    PermissionRequest: 'permission_request',
    PostCompact: 'post_compact',
    PostToolUse: 'post_tool_use',
    'PostToolUse.in-subagent': 'post_tool_use',
    PreCompact: 'pre_compact',
    PreToolUse: 'pre_tool_use',
    'PreToolUse.in-subagent': 'pre_tool_use',
    'PreToolUse.patch': 'pre_tool_use',
    SessionEnd: 'session_end',
    SessionStart: 'session_start',
    'SessionStart.compact': 'session_start',
    Stop: 'stop',
    SubagentStart: 'subagent_start',
    SubagentStop: 'subagent_stop',
    UserPromptSubmit: 'user_prompt_submit',
  },
  'gemini-cli': {
    AfterAgent: 'stop',
    AfterModel: 'model_response',
    AfterTool: 'post_tool_use',
    'AfterTool.error': 'post_tool_use_failure',
    BeforeAgent: 'user_prompt_submit',
    BeforeModel: 'model_request',
    BeforeTool: 'pre_tool_use',
    'BeforeTool.mcp': 'pre_tool_use',
    BeforeToolSelection: undefined,
    Notification: 'notification',
    PreCompress: 'pre_compact',
    SessionEnd: 'session_end',
    SessionStart: 'session_start',
  },
  'copilot-cli': {
    'PreToolUse.pascal': 'pre_tool_use',
    'SessionEnd.pascal': 'session_end',
    'SessionStart.pascal': 'session_start',
    'Stop.pascal': 'stop',
    'UserPromptSubmit.pascal': 'user_prompt_submit',
    agentStop: 'stop',
    errorOccurred: 'stop_failure',
    notification: 'notification',
    permissionRequest: 'permission_request',
    postToolUse: 'post_tool_use',
    postToolUseFailure: 'post_tool_use_failure',
    preCompact: 'pre_compact',
    preToolUse: 'pre_tool_use',
    'preToolUse.create': 'pre_tool_use',
    'preToolUse.patch': 'pre_tool_use',
    sessionEnd: 'session_end',
    sessionStart: 'session_start',
    subagentStart: 'subagent_start',
    subagentStop: 'subagent_stop',
    userPromptSubmitted: 'user_prompt_submit',
    userPromptTransformed: undefined,
  },
  cursor: {
    afterAgentResponse: undefined,
    afterAgentThought: undefined,
    afterFileEdit: 'file_changed',
    afterMCPExecution: 'post_tool_use',
    afterShellExecution: 'post_tool_use',
    afterTabFileEdit: 'file_changed',
    beforeMCPExecution: 'pre_tool_use',
    beforeReadFile: 'pre_tool_use',
    beforeShellExecution: 'pre_tool_use',
    beforeSubmitPrompt: 'user_prompt_submit',
    beforeTabFileRead: 'pre_tool_use',
    postToolUse: 'post_tool_use',
    postToolUseFailure: 'post_tool_use_failure',
    preCompact: 'pre_compact',
    preToolUse: 'pre_tool_use',
    'preToolUse.mcp': 'pre_tool_use',
    'preToolUse.write': 'pre_tool_use',
    sessionEnd: 'session_end',
    sessionStart: 'session_start',
    stop: 'stop',
    subagentStart: 'subagent_start',
    subagentStop: 'subagent_stop',
    workspaceOpen: undefined,
  },
}

describe.each([claudeCode, codex, geminiCli, copilotCli, cursor])('$title', (agent) => {
  const expected = known[agent.name] ?? {}

  test('every payload we have is told apart here', () => {
    expect(payloadNames(agent.name)).toEqual(Object.keys(expected).sort())
  })

  test.each(Object.entries(expected))('%s is %s, as its row wants it', (name, event) => {
    const reading = read(agent, name)
    expect(reading.event).toBe(event)
    if (reading.event !== undefined) expect(catalogue[reading.event].payload(reading.payload)).toBeUndefined()
  })

  test.each(Object.keys(expected))('%s keeps its session, its folder and itself', (name) => {
    const { envelope, native, parentSession } = read(agent, name)
    expect(envelope).toMatchObject({ session, cwd })
    expect(envelope.raw).toBe(native)
    expect(parentSession).toBe(name === 'postToolUseFailure' && agent === copilotCli ? turn : undefined)
  })

  test.each(Object.keys(expected))('%s says nothing twice and nothing empty', (name) => {
    const { payload: fields } = read(agent, name)
    for (const key of ['session_id', 'sessionId', 'cwd', 'transcript_path', 'transcriptPath'])
      expect(fields).not.toHaveProperty(key)
    expect(Object.values(fields)).not.toContain(null)
    expect(Object.values(fields)).not.toContain(undefined)
  })

  test.each(['toString', 'constructor', '__proto__', 'Unheard'])(
    'an event named %s is no surprise',
    (name) => {
      const { envelope } = agent.read(name, { ...payload(agent.name, payloadNames(agent.name)[0] ?? '') })
      expect(envelope).toMatchObject({ session })
      expect(agent.reply(name, { kind: 'block', message: 'no' }, {})).toMatchObject({ exit: 0, stderr: '' })
    },
  )
})

describe('turn, tool call and lane', () => {
  test.each([
    [claudeCode, 'PreToolUse', { turn, toolCall: 'toolu_0001' }],
    [claudeCode, 'PreToolUse.in-subagent', { turn, toolCall: 'toolu_0001', lane: 'a000000000000001' }],
    [claudeCode, 'SubagentStart', { turn }],
    [claudeCode, 'SubagentStop', { turn }],
    [codex, 'PreToolUse', { turn, toolCall: 'call_0001' }],
    [
      codex,
      'PostToolUse.in-subagent',
      { turn, toolCall: 'call_0001', lane: '00000000-0000-4000-8000-000000000003' },
    ],
    [codex, 'SubagentStart', { turn }],
    [codex, 'SubagentStop', { turn }],
    [codex, 'SessionStart', {}],
    [geminiCli, 'BeforeTool', {}],
    [copilotCli, 'preToolUse', {}],
    [copilotCli, 'subagentStart', {}],
    [copilotCli, 'postToolUseFailure', {}],
    [cursor, 'preToolUse', { turn, toolCall: 'call_0001' }],
    [cursor, 'subagentStart', { turn, toolCall: 'call_0001' }],
  ] as const)('$0.title $1', (agent, name, expected) => {
    const { raw, session: _, cwd: __, ...rest } = read(agent, name).envelope
    expect(rest).toEqual(expected)
  })

  test('a sub-agent of Copilot CLI that shares the session of its parent has a lane in it', () => {
    const native = { ...payload('copilot-cli', 'preToolUse'), agentId: 'sub', parentAgentId: session }
    const { envelope, parentSession } = copilotCli.read('preToolUse', native)
    expect(envelope).toMatchObject({ session, lane: 'sub' })
    expect(parentSession).toBeUndefined()
  })

  test('a sub-agent of Cursor that has a conversation of its own tells whose it is', () => {
    const native = { ...payload('cursor', 'subagentStart'), conversation_id: 'own' }
    expect(cursor.read('subagentStart', native)).toMatchObject({
      envelope: { session: 'own' },
      parentSession: session,
    })
  })
})

describe('tool calls look the same, whoever makes them', () => {
  test.each([
    [claudeCode, 'PreToolUse', undefined],
    [codex, 'PreToolUse', undefined],
    [geminiCli, 'BeforeTool', 'run_shell_command'],
    [copilotCli, 'preToolUse', 'bash'],
    [copilotCli, 'PreToolUse.pascal', undefined],
    [copilotCli, 'permissionRequest', 'bash'],
    [cursor, 'preToolUse', 'Shell'],
    [cursor, 'beforeShellExecution', 'Shell'],
  ] as const)('$0.title $1 runs Bash', (agent, name, native) => {
    const { payload: fields } = read(agent, name)
    expect(fields).toMatchObject({ tool_name: 'Bash', tool_input: { command: hi } })
    expect(fields.native_tool_name).toBe(native)
  })

  test.each([
    [copilotCli, 'preToolUse.create', { file_path: 'notes.md', content: 'hi' }, 'Write'],
    [cursor, 'preToolUse.write', { file_path: 'notes.md', content: 'hi\n' }, 'Write'],
    [cursor, 'beforeReadFile', { file_path: '/home/user/project/.env' }, 'Read'],
    [geminiCli, 'AfterTool.error', { file_path: 'a.txt' }, 'Read'],
  ] as const)('$0.title $1 has our arguments', (agent, name, tool_input, tool_name) => {
    expect(read(agent, name).payload).toMatchObject({ tool_name, tool_input })
  })

  test.each([
    [geminiCli, 'BeforeTool.mcp', 'mcp__github__create_issue', 'mcp_github_create_issue'],
    [cursor, 'beforeMCPExecution', 'mcp__github__create_issue', 'MCP:create_issue'],
    [cursor, 'preToolUse.mcp', 'MCP:create_issue', undefined],
  ] as const)('$0.title $1 is $2', (agent, name, tool_name, native_tool_name) => {
    const { payload: fields } = read(agent, name)
    expect(fields).toMatchObject({ tool_name, tool_input: { title: 'hi' } })
    expect(fields.native_tool_name).toBe(native_tool_name)
  })

  test('a patch is an edit of the files it names, and keeps its text', () => {
    const { payload: fields, native } = read(codex, 'PreToolUse.patch')
    expect(fields).toMatchObject({
      tool_name: 'Edit',
      native_tool_name: ['apply_patch', 'Edit', 'Write'],
      tool_input: {
        ...(native.tool_input as object),
        file_path: 'new.txt',
        file_paths: ['new.txt', 'src/a.ts', 'src/b.ts'],
      },
    })
  })

  test('a patch that comes as one text is read too', () => {
    expect(read(copilotCli, 'preToolUse.patch').payload).toMatchObject({
      tool_name: 'Write',
      native_tool_name: ['apply_patch', 'Edit', 'Write'],
      tool_input: { file_path: 'new.txt', command: expect.stringContaining('*** Add File') },
    })
  })

  test('arguments that come as JSON in a text are unpacked', () => {
    const native = { ...payload('copilot-cli', 'preToolUse'), toolArgs: '{"command":"ls"}' }
    expect(copilotCli.read('preToolUse', native).payload).toMatchObject({ tool_input: { command: 'ls' } })
  })

  test.each([
    [claudeCode, 'PreToolUse', { tool_name: 'Bash', tool_input: 'ls' }],
    [codex, 'PreToolUse', { tool_name: 'Bash', tool_input: ['ls'] }],
    [codex, 'PreToolUse', { tool_name: '', tool_input: {} }],
    [geminiCli, 'BeforeTool', { tool_name: 7, tool_input: {} }],
    [geminiCli, 'BeforeTool', { tool_name: 'read_file', tool_input: { file_path: 'a', absolute_path: 'b' } }],
    [cursor, 'beforeMCPExecution', { tool_name: 'x', tool_input: '{' }],
    [cursor, 'beforeShellExecution', { command: 7 }],
    [cursor, 'preToolUse', { tool_name: 'Read', tool_input: { path: 'a', target_file: 'b' } }],
  ] as const)('$0.title $1 that cannot be read is refused: $2', (agent, event, native) => {
    expect(() => agent.read(event, native)).toThrow(expect.objectContaining({ code: 'input.schema' }))
  })
})

describe('what a client says in its own words', () => {
  test('Gemini CLI: a tool that reports an error has failed, and the error is a text', () => {
    expect(read(geminiCli, 'AfterTool.error').payload).toMatchObject({ error: 'File not found: a.txt' })
  })

  test.each([
    [{ error: 'broken' }, 'broken'],
    [{ error: { type: 'x' } }, '{"type":"x"}'],
  ])('Gemini CLI: whatever the error looks like: %j', (response, error) => {
    const native = { ...payload('gemini-cli', 'AfterTool'), tool_response: response }
    expect(geminiCli.read('AfterTool', native)).toMatchObject({
      event: 'post_tool_use_failure',
      payload: { error },
    })
  })

  test.each([[{ error: null }], [{}], ['text']])('Gemini CLI: no error is none: %j', (response) => {
    const native = { ...payload('gemini-cli', 'AfterTool'), tool_response: response }
    expect(geminiCli.read('AfterTool', native).event).toBeUndefined()
  })

  test('Gemini CLI: requests and answers of the model have a model', () => {
    const { llm_request: request, llm_response: response } = payload('gemini-cli', 'AfterModel')
    expect(read(geminiCli, 'BeforeModel').payload).toMatchObject({ model: 'gemini-2.5-flash', request })
    expect(read(geminiCli, 'AfterModel').payload).toMatchObject({ model: 'gemini-2.5-flash', response })
  })

  test.each([
    [geminiCli, 'AfterAgent', { last_assistant_message: 'All done.', stop_hook_active: false }],
    [copilotCli, 'agentStop', { stop_reason: 'end_turn', stop_hook_active: false }],
    [copilotCli, 'sessionStart', { source: 'startup', initial_prompt: 'say hi' }],
    [copilotCli, 'SessionStart.pascal', { source: 'startup' }],
    [copilotCli, 'subagentStart', { agent_type: 'explore' }],
    [copilotCli, 'subagentStop', { agent_type: 'explore', last_assistant_message: 'All done.' }],
    [copilotCli, 'errorOccurred', { error: 'model is away', recoverable: true }],
    [copilotCli, 'postToolUse', { tool_response: payload('copilot-cli', 'postToolUse').toolResult }],
    [cursor, 'postToolUse', { tool_response: { output: 'hi\n', exitCode: 0 }, duration_ms: 12 }],
    [cursor, 'postToolUseFailure', { error: 'Command failed with exit code 3', duration_ms: 12 }],
    [cursor, 'afterMCPExecution', { tool_response: { content: [{ type: 'text', text: 'done' }] } }],
    [cursor, 'stop', { stop_reason: 'completed' }],
    [cursor, 'subagentStart', { agent_type: 'explore', prompt: 'do sub' }],
  ] as const)('$0.title $1', (agent, name, expected) => {
    expect(read(agent, name).payload).toMatchObject(expected)
  })
})
