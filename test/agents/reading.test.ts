import { describe, expect, test } from 'vitest'
import type { AgentAdapter } from '../../src/agents/agent-adapter.ts'
import { claudeCodeAdapter } from '../../src/agents/claude-code/adapter.ts'
import { codexAdapter } from '../../src/agents/codex/adapter.ts'
import { copilotCliAdapter } from '../../src/agents/copilot-cli/adapter.ts'
import { cursorAdapter } from '../../src/agents/cursor/adapter.ts'
import { geminiCliAdapter } from '../../src/agents/gemini-cli/adapter.ts'
import { lookUp } from '../../src/agents/translate/tool-names.ts'
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
  return { ...reading, native, event: reading.event ?? lookUp(agent.events, event)?.event }
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

describe.each([claudeCodeAdapter, codexAdapter, geminiCliAdapter, copilotCliAdapter, cursorAdapter])(
  '$title',
  (agent) => {
    const expected = known[agent.name] ?? {}

    test('every payload we have is told apart here', () => {
      expect(payloadNames(agent.name)).toEqual(Object.keys(expected).sort())
    })

    test.each(Object.entries(expected))('%s is %s, as its row wants it', (name, event) => {
      const reading = read(agent, name)
      expect(reading.event).toBe(event)
      if (reading.event !== undefined)
        expect(catalogue[reading.event].payload(reading.payload)).toBeUndefined()
    })

    test.each(Object.keys(expected))('%s keeps its session, its folder and itself', (name) => {
      const { envelope, native, parentSession } = read(agent, name)
      expect(envelope).toMatchObject({ session, cwd })
      expect(envelope.raw).toBe(native)
      expect(parentSession).toBe(
        name === 'postToolUseFailure' && agent === copilotCliAdapter ? turn : undefined,
      )
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
  },
)

describe('turn, tool call and lane', () => {
  test.each([
    [claudeCodeAdapter, 'PreToolUse', { turn, toolCall: 'toolu_0001' }],
    [claudeCodeAdapter, 'PreToolUse.in-subagent', { turn, toolCall: 'toolu_0001', lane: 'a000000000000001' }],
    [claudeCodeAdapter, 'SubagentStart', { turn }],
    [claudeCodeAdapter, 'SubagentStop', { turn }],
    [codexAdapter, 'PreToolUse', { turn, toolCall: 'call_0001' }],
    [
      codexAdapter,
      'PostToolUse.in-subagent',
      { turn, toolCall: 'call_0001', lane: '00000000-0000-4000-8000-000000000003' },
    ],
    [codexAdapter, 'SubagentStart', { turn }],
    [codexAdapter, 'SubagentStop', { turn }],
    [codexAdapter, 'SessionStart', {}],
    [geminiCliAdapter, 'BeforeTool', {}],
    [copilotCliAdapter, 'preToolUse', {}],
    [copilotCliAdapter, 'subagentStart', {}],
    [copilotCliAdapter, 'postToolUseFailure', {}],
    [cursorAdapter, 'preToolUse', { turn, toolCall: 'call_0001' }],
    [cursorAdapter, 'subagentStart', { turn, toolCall: 'call_0001' }],
  ] as const)('$0.title $1', (agent, name, expected) => {
    const { raw, session: _, cwd: __, ...rest } = read(agent, name).envelope
    expect(rest).toEqual(expected)
  })

  test('a sub-agent of Copilot CLI that shares the session of its parent has a lane in it', () => {
    const native = { ...payload('copilot-cli', 'preToolUse'), agentId: 'sub', parentAgentId: session }
    const { envelope, parentSession } = copilotCliAdapter.read('preToolUse', native)
    expect(envelope).toMatchObject({ session, lane: 'sub' })
    expect(parentSession).toBeUndefined()
  })

  test('a sub-agent of Cursor that has a conversation of its lookUp tells whose it is', () => {
    const native = { ...payload('cursor', 'subagentStart'), conversation_id: 'own' }
    expect(cursorAdapter.read('subagentStart', native)).toMatchObject({
      envelope: { session: 'own' },
      parentSession: session,
    })
  })
})

describe('tool calls look the same, whoever makes them', () => {
  test.each([
    [claudeCodeAdapter, 'PreToolUse', undefined],
    [codexAdapter, 'PreToolUse', undefined],
    [geminiCliAdapter, 'BeforeTool', 'run_shell_command'],
    [copilotCliAdapter, 'preToolUse', 'bash'],
    [copilotCliAdapter, 'PreToolUse.pascal', undefined],
    [copilotCliAdapter, 'permissionRequest', 'bash'],
    [cursorAdapter, 'preToolUse', 'Shell'],
    [cursorAdapter, 'beforeShellExecution', 'Shell'],
  ] as const)('$0.title $1 runs Bash', (agent, name, native) => {
    const { payload: fields } = read(agent, name)
    expect(fields).toMatchObject({ tool_name: 'Bash', tool_input: { command: hi } })
    expect(fields.native_tool_name).toBe(native)
  })

  test.each([
    [copilotCliAdapter, 'preToolUse.create', { file_path: 'notes.md', content: 'hi' }, 'Write'],
    [cursorAdapter, 'preToolUse.write', { file_path: 'notes.md', content: 'hi\n' }, 'Write'],
    [cursorAdapter, 'beforeReadFile', { file_path: '/home/user/project/.env' }, 'Read'],
    [geminiCliAdapter, 'AfterTool.error', { file_path: 'a.txt' }, 'Read'],
  ] as const)('$0.title $1 has our arguments', (agent, name, tool_input, tool_name) => {
    expect(read(agent, name).payload).toMatchObject({ tool_name, tool_input })
  })

  test.each([
    [geminiCliAdapter, 'BeforeTool.mcp', 'mcp__github__create_issue', 'mcp_github_create_issue'],
    [cursorAdapter, 'beforeMCPExecution', 'mcp__github__create_issue', 'MCP:create_issue'],
    [cursorAdapter, 'preToolUse.mcp', 'MCP:create_issue', undefined],
  ] as const)('$0.title $1 is $2', (agent, name, tool_name, native_tool_name) => {
    const { payload: fields } = read(agent, name)
    expect(fields).toMatchObject({ tool_name, tool_input: { title: 'hi' } })
    expect(fields.native_tool_name).toBe(native_tool_name)
  })

  test('a patch is an edit of the files it names, and keeps its text', () => {
    const { payload: fields, native } = read(codexAdapter, 'PreToolUse.patch')
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
    expect(read(copilotCliAdapter, 'preToolUse.patch').payload).toMatchObject({
      tool_name: 'Write',
      native_tool_name: ['apply_patch', 'Edit', 'Write'],
      tool_input: { file_path: 'new.txt', command: expect.stringContaining('*** Add File') },
    })
  })

  test('arguments that come as JSON in a text are unpacked', () => {
    const native = { ...payload('copilot-cli', 'preToolUse'), toolArgs: '{"command":"ls"}' }
    expect(copilotCliAdapter.read('preToolUse', native).payload).toMatchObject({
      tool_input: { command: 'ls' },
    })
  })

  test.each([
    [claudeCodeAdapter, 'PreToolUse', { tool_name: 'Bash', tool_input: 'ls' }],
    [codexAdapter, 'PreToolUse', { tool_name: 'Bash', tool_input: ['ls'] }],
    [codexAdapter, 'PreToolUse', { tool_name: '', tool_input: {} }],
    [geminiCliAdapter, 'BeforeTool', { tool_name: 7, tool_input: {} }],
    [
      geminiCliAdapter,
      'BeforeTool',
      { tool_name: 'read_file', tool_input: { file_path: 'a', absolute_path: 'b' } },
    ],
    [cursorAdapter, 'beforeMCPExecution', { tool_name: 'x', tool_input: '{' }],
    [cursorAdapter, 'beforeShellExecution', { command: 7 }],
    [cursorAdapter, 'preToolUse', { tool_name: 'Read', tool_input: { path: 'a', target_file: 'b' } }],
  ] as const)('$0.title $1 that cannot be read is refused: $2', (agent, event, native) => {
    expect(() => agent.read(event, native)).toThrow(expect.objectContaining({ code: 'input.schema' }))
  })
})

describe('what a client says in its lookUp words', () => {
  test('Gemini CLI: a tool that reports an error has failed, and the error is a text', () => {
    expect(read(geminiCliAdapter, 'AfterTool.error').payload).toMatchObject({
      error: 'File not found: a.txt',
    })
  })

  test.each([
    [{ error: 'broken' }, 'broken'],
    [{ error: { type: 'x' } }, '{"type":"x"}'],
  ])('Gemini CLI: whatever the error looks like: %j', (response, error) => {
    const native = { ...payload('gemini-cli', 'AfterTool'), tool_response: response }
    expect(geminiCliAdapter.read('AfterTool', native)).toMatchObject({
      event: 'post_tool_use_failure',
      payload: { error },
    })
  })

  test.each([[{ error: null }], [{}], ['text']])('Gemini CLI: no error is none: %j', (response) => {
    const native = { ...payload('gemini-cli', 'AfterTool'), tool_response: response }
    expect(geminiCliAdapter.read('AfterTool', native).event).toBeUndefined()
  })

  test('Gemini CLI: requests and answers of the model have a model', () => {
    const { llm_request: request, llm_response: response } = payload('gemini-cli', 'AfterModel')
    expect(read(geminiCliAdapter, 'BeforeModel').payload).toMatchObject({
      model: 'gemini-2.5-flash',
      request,
    })
    expect(read(geminiCliAdapter, 'AfterModel').payload).toMatchObject({
      model: 'gemini-2.5-flash',
      response,
    })
  })

  test.each([
    [geminiCliAdapter, 'AfterAgent', { last_assistant_message: 'All done.', stop_hook_active: false }],
    [copilotCliAdapter, 'agentStop', { stop_reason: 'end_turn', stop_hook_active: false }],
    [copilotCliAdapter, 'sessionStart', { source: 'startup', initial_prompt: 'say hi' }],
    [copilotCliAdapter, 'SessionStart.pascal', { source: 'startup' }],
    [copilotCliAdapter, 'subagentStart', { agent_type: 'explore' }],
    [copilotCliAdapter, 'subagentStop', { agent_type: 'explore', last_assistant_message: 'All done.' }],
    [copilotCliAdapter, 'errorOccurred', { error: 'model is away', recoverable: true }],
    [copilotCliAdapter, 'postToolUse', { tool_response: payload('copilot-cli', 'postToolUse').toolResult }],
    [cursorAdapter, 'postToolUse', { tool_response: { output: 'hi\n', exitCode: 0 }, duration_ms: 12 }],
    [cursorAdapter, 'postToolUseFailure', { error: 'Command failed with exit code 3', duration_ms: 12 }],
    [cursorAdapter, 'afterMCPExecution', { tool_response: { content: [{ type: 'text', text: 'done' }] } }],
    [cursorAdapter, 'stop', { stop_reason: 'completed' }],
    [cursorAdapter, 'subagentStart', { agent_type: 'explore', prompt: 'do sub' }],
  ] as const)('$0.title $1', (agent, name, expected) => {
    expect(read(agent, name).payload).toMatchObject(expected)
  })
})
