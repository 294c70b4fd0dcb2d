import { expect, test } from 'vitest'
import { imported, refused } from '../../../test/hook-files/imported.fixture.ts'
import { printHookFile } from '../../hook-files/print-hook-file.ts'
import { readHookText } from '../../hook-files/read/read-hook-file.ts'
import { importableAgents, importFile } from '../import-file.ts'

const open = { on_error: 'allow', on_timeout: 'allow', on_invalid: 'allow' }
const closed = { on_error: 'block', on_timeout: 'block', on_invalid: 'block' }

test('Codex: seconds, and a regular expression over the names of tools', async () => {
  const hooks = {
    PreToolUse: [{ matcher: '^(Bash|apply_patch)$', hooks: [{ type: 'command', command: 'a', timeout: 5 }] }],
  }
  expect(await imported(importFile({ hooks }, 'codex'))).toEqual({
    kind: 'imported',
    definitions: [
      {
        event: 'pre_tool_use',
        handler_type: 'command',
        // Other agents change files with these tools.
        matcher: '^(Bash|apply_patch)$|^(?:Edit|Write|MultiEdit|NotebookEdit)$',
        timeout_ms: 5_000,
        ...open,
        answer: 'lenient',
        config: { command: 'a', payload: 'codex' },
      },
    ],
    notes: [],
  })
})

test('Gemini CLI: milliseconds, its own names of events, and its switches are no events', async () => {
  const hooks = {
    enabled: true,
    BeforeTool: [{ matcher: 'run_.*', hooks: [{ type: 'command', command: 'a', timeout: 1_500 }] }],
    AfterAgent: [{ hooks: [{ type: 'command', command: 'b', env: { A: '1' } }] }],
    SessionStart: [{ matcher: 'startup', hooks: [{ type: 'command', command: 'c' }] }],
  }
  const { definitions, notes } = await imported(importFile({ hooks }, 'gemini-cli'))
  expect(definitions.map(({ event, timeout_ms, matcher }) => [event, timeout_ms, matcher])).toEqual([
    ['pre_tool_use', 1_500, '(?:run_.*)|^(?:Bash)$'],
    ['stop', 60_000, undefined],
    ['session_start', 60_000, 'startup'],
  ])
  expect(definitions[1]?.config).toEqual({ command: "export A='1'; b", payload: 'gemini-cli' })
  expect(notes).toEqual([])
})

test('Copilot CLI: one list, a bad exit before a tool blocks, a prompt is left out', async () => {
  const hooks = {
    preToolUse: [
      { type: 'command', bash: './a.sh', cwd: '/b', timeoutSec: 2 },
      { type: 'command', exec: '/c', args: ['d e'] },
      { type: 'http', url: 'https://a.example' },
    ],
    agentStop: [{ type: 'command', command: 'b' }],
    sessionStart: [{ type: 'prompt', prompt: 'x' }],
  }
  const { definitions, notes } = await imported(importFile({ version: 1, hooks }, 'copilot-cli'))
  expect(definitions).toMatchObject([
    {
      event: 'pre_tool_use',
      timeout_ms: 2_000,
      ...open,
      on_error: 'block',
      config: { command: './a.sh', cwd: '/b' },
    },
    { config: { exec: ['/c', 'd e'] }, timeout_ms: 30_000 },
    { handler_type: 'http', config: { url: 'https://a.example' } },
    { event: 'stop', ...open },
  ])
  expect(notes).toEqual([
    'line 1 /hooks/sessionStart/0: a hook of the type prompt has no equivalent; it was left out',
  ])
})

test('Cursor: failClosed closes, older events are about one tool, and the matcher of a shell is about its command', async () => {
  const hooks = {
    preToolUse: [{ command: 'a', failClosed: true, matcher: 'Shell|Write' }],
    beforeShellExecution: [{ command: 'b', matcher: 'curl' }],
    beforeMCPExecution: [{ command: 'c' }],
    afterAgentThought: [{ command: 'd' }],
  }
  const { definitions, notes } = await imported(importFile({ version: 1, hooks }, 'cursor'))
  expect(definitions).toMatchObject([
    { event: 'pre_tool_use', matcher: 'Shell|Write|^(?:Bash)$', ...closed, answer: 'strict' },
    {
      event: 'pre_tool_use',
      match: { names: ['Bash'] },
      if_expr: 'tool_input.command.matches("curl")',
      ...open,
      config: { payload: 'cursor', payload_event: 'beforeShellExecution' },
    },
    { event: 'pre_tool_use', matcher: '^(?:mcp__|MCP:)' },
    { event: 'agent_event', matcher: '^afterAgentThought$' },
  ])
  expect(notes).toEqual([expect.stringMatching(/afterAgentThought\/0: no other agent reports/)])
})

test.each(importableAgents)(
  '%s: what comes out is a hook file, and a switch switches all off',
  async (agent) => {
    const hook = { type: 'command', command: 'a', bash: 'a' }
    const isFlat = agent === 'copilot-cli' || agent === 'cursor'
    const hooks = { PreToolUse: [isFlat ? hook : { hooks: [hook] }] }
    const { definitions, notes } = await imported(importFile({ hooks, disableAllHooks: true }, agent))
    expect(definitions).toMatchObject([{ enabled: false }])
    expect(readHookText(printHookFile({ hooks: definitions }, notes), 'hooks.yaml').kind).toBe('good')
  },
)

test.each([
  ['codex', { hooks: { PreToolUse: [{ type: 'command', command: 'a' }] } }],
  ['cursor', { hooks: { stop: 'x' } }],
  ['copilot-cli', { hooks: [] }],
  ['gemini-cli', {}],
] as const)('%s: another shape is refused', async (agent, value) => {
  expect(await refused(importFile(value, agent))).not.toEqual([])
})
