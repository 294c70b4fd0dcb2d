import { expect, test } from 'vitest'
import { runnableAgents } from '../../engine/core/coding-agents.ts'
import { cliAgentTable } from './cli-agents.ts'

/** Lines of the real programs, with what is not read left out. */
const recorded = {
  'claude-code': [
    { type: 'system', subtype: 'init', session_id: 's1', tools: ['Bash'] },
    {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo hello' } }] },
    },
    {
      type: 'user',
      message: { content: [{ tool_use_id: 't1', type: 'tool_result', content: 'hello', is_error: false }] },
    },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'All done.' }] } },
    { type: 'result', subtype: 'success', is_error: false, result: 'All done.', session_id: 's1' },
  ],
  codex: [
    { type: 'thread.started', thread_id: 's1' },
    { type: 'item.completed', item: { id: 'item_0', type: 'error', message: 'Model metadata not found.' } },
    { type: 'turn.started' },
    {
      type: 'item.started',
      item: {
        id: 't1',
        type: 'command_execution',
        command: 'echo hello',
        aggregated_output: '',
        exit_code: null,
      },
    },
    {
      type: 'item.completed',
      item: {
        ...{ id: 't1', type: 'command_execution', command: 'echo hello', aggregated_output: 'hello' },
        ...{ exit_code: 0, status: 'completed' },
      },
    },
    { type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: 'All done.' } },
    { type: 'turn.completed', usage: { input_tokens: 200 } },
  ],
  'gemini-cli': [
    { type: 'init', session_id: 's1', model: 'gemini-2.5-flash' },
    { type: 'message', role: 'user', content: 'say hi' },
    { type: 'tool_use', tool_name: 'Bash', tool_id: 't1', parameters: { command: 'echo hello' } },
    { type: 'tool_result', tool_id: 't1', status: 'success', output: 'hello' },
    { type: 'message', role: 'assistant', content: 'All done.', delta: true },
    { type: 'result', status: 'success', stats: { total_tokens: 240 } },
  ],
  opencode: [
    { type: 'step_start', sessionID: 's1', part: { type: 'step-start' } },
    {
      type: 'tool_use',
      sessionID: 's1',
      part: {
        ...{ type: 'tool', tool: 'Bash', callID: 't1' },
        state: { status: 'completed', input: { command: 'echo hello' }, output: 'hello' },
      },
    },
    { type: 'step_finish', sessionID: 's1', part: { type: 'step-finish', reason: 'tool-calls' } },
    { type: 'text', sessionID: 's1', part: { type: 'text', text: 'All done.' } },
    { type: 'step_finish', sessionID: 's1', part: { type: 'step-finish', reason: 'stop' } },
  ],
} as const

const factsOf = (agent: keyof typeof recorded, lines: readonly Readonly<Record<string, unknown>>[]) =>
  lines.flatMap((line) => cliAgentTable[agent].read(line))

test.each(runnableAgents)('the lines of %s give session, tool calls, answer and end', (agent) => {
  const facts = factsOf(agent, recorded[agent])
  expect(facts[0]).toEqual({ kind: 'session', id: 's1' })
  expect(facts).toEqual(
    expect.arrayContaining([
      {
        kind: 'event',
        event: {
          event_type: 'pre_tool',
          data: { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'echo hello' } },
        },
      },
      {
        kind: 'event',
        event: {
          event_type: 'post_tool',
          data: expect.objectContaining({ tool_use_id: 't1', tool_output: 'hello' }),
        },
      },
      expect.objectContaining({ kind: 'text', text: 'All done.' }),
    ]),
  )
  expect(facts.at(-1)).toEqual({ kind: 'done' })
})

const failures = {
  'claude-code': { type: 'result', subtype: 'error_during_execution', is_error: true, result: 'no credit' },
  codex: { type: 'turn.failed', error: { message: 'no credit' } },
  'gemini-cli': { type: 'result', status: 'error', error: { type: 'x', message: 'no credit' } },
  opencode: { type: 'error', sessionID: 's1', error: { name: 'APIError', data: { message: 'no credit' } } },
} as const

test.each(runnableAgents)('a failure of %s has its reason', (agent) => {
  expect(factsOf(agent, [failures[agent]])).toEqual([{ kind: 'failed', error: 'no credit' }])
})

test.each(runnableAgents)('%s takes a prompt that looks like an option as a prompt', (agent) => {
  const prompt = '--dangerously-skip-permissions'
  const { args, stdin } = cliAgentTable[agent].start({ prompt })
  const ended = args.indexOf('--')
  const options = ended === -1 ? args : args.slice(0, ended)
  expect(options).not.toContain(prompt)
  expect([...args, stdin].join('\n')).toContain(prompt)
})

test.each(runnableAgents)('%s resumes a session by its own id', (agent) => {
  const { args } = cliAgentTable[agent].start({ prompt: 'x', resume: 's1' })
  expect(args.join(' ')).toMatch(/(?:--resume=|--session=|resume )s1/)
})

test.each(runnableAgents)('%s never gets an option in place of the id of a session', (agent) => {
  for (const resume of [
    '--dangerously-bypass-approvals-and-sandbox',
    '-c',
    '--last',
    '',
    's1 --yolo',
    's1\n',
  ])
    expect(() => cliAgentTable[agent].start({ prompt: 'x', resume })).toThrow('is not the id of a session')
})
