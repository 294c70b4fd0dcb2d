import { describe, expect, test } from 'vitest'
import { outcomes, payload, payloadNames, rewriting } from '../../../test/agents/payloads.fixture.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { lifecycleEquivalents } from '../../engine/events/openclaw/rows.ts'
import type { ClientOutcome, NativePayload } from '../agent-adapter.ts'
import { findAdapter } from '../table.ts'
import { openclawAdapter } from './adapter.ts'

const hi = 'echo hi > ran.txt; echo hi'
const middleware = {
  event: {
    toolCallId: 'call_0001',
    toolName: 'exec',
    args: { command: hi },
    cwd: '/home/user/project',
    isError: false,
    result: {
      content: [{ type: 'text', text: 'hi' }],
      details: { status: 'completed', exitCode: 0, aggregated: 'hi' },
    },
  },
  ctx: { runtime: 'openclaw', sessionId: 'uuid', sessionKey: 'agent:main:main', runId: 'run' },
}

const native = (name: string): NativePayload =>
  name === 'agent_tool_result' ? middleware : payload('openclaw', name)
const read = (name: string, event: object = {}) => {
  const recorded = native(name)
  return openclawAdapter.read(name, { ...recorded, event: { ...(recorded.event as object), ...event } })
}
const reply = (name: string, outcome: ClientOutcome) => openclawAdapter.reply(name, outcome, native(name))

const known = {
  before_tool_call: 'pre_tool_use',
  agent_tool_result: 'post_tool_use',
  after_tool_call: 'post_tool_use',
  before_prompt_build: 'user_prompt_submit',
  before_agent_run: 'user_prompt_submit',
  before_agent_finalize: 'stop',
  agent_end: 'agent_end',
  agent_turn_prepare: 'agent_turn_prepare',
  before_agent_reply: 'before_agent_reply',
  before_message_write: 'before_message_write',
  before_model_resolve: 'before_model_resolve',
  llm_input: 'llm_input',
  llm_output: 'llm_output',
  model_call_ended: 'model_call_ended',
  model_call_started: 'model_call_started',
  resolve_exec_env: undefined,
  tool_result_persist: 'tool_result_persist',
} as const

test('every recorded payload has its place', () => {
  const recorded = Object.keys(known).filter((name) => name !== 'agent_tool_result')
  expect(payloadNames('openclaw')).toEqual(recorded.sort())
  expect(findAdapter('openclaw')).toBe(openclawAdapter)
})

test('an OpenClaw hook with a counterpart in the catalogue arrives as that event', () => {
  for (const [name, event] of Object.entries(lifecycleEquivalents)) {
    const row = openclawAdapter.events[name]
    // It has no such hook any more.
    if (name !== 'subagent_spawning') expect(row?.event).toBe(event)
  }
})

test.each(Object.entries(known))('%s is %s, as its row wants it', (name, event) => {
  expect(openclawAdapter.events[name]?.event).toBe(event)
  const reading = read(name)
  expect(reading.event).toBeUndefined()
  if (event !== undefined) expect(catalogue[event].payload(reading.payload)).toBeUndefined()
  expect(reading.envelope.session).toEqual(expect.any(String))
})

describe('what a call says', () => {
  test('a command', () => {
    expect(read('before_tool_call')).toMatchObject({
      payload: { tool_name: 'Bash', native_tool_name: 'exec', tool_input: { command: hi } },
      envelope: {
        session: '00000000-0000-4000-8000-000000000002',
        turn: '00000000-0000-4000-8000-000000000001',
        toolCall: 'call_0001',
      },
    })
  })

  test.each([
    ['read', { path: 'a', limit: 1 }, 'Read', { file_path: 'a', limit: 1 }],
    ['write', { path: 'a', content: 'b' }, 'Write', { file_path: 'a', content: 'b' }],
    ['sessions_spawn', { task: 'a', agentId: 'b' }, 'Agent', { prompt: 'a', subagent_type: 'b' }],
    ['browser', { action: 'open' }, 'browser', { action: 'open' }],
  ] as const)('%s goes there and back', (toolName, params, tool_name, tool_input) => {
    const called = { event: { toolName, params }, ctx: {} }
    expect(openclawAdapter.read('before_tool_call', called).payload).toMatchObject({ tool_name, tool_input })
    expect(openclawAdapter.reply('before_tool_call', rewriting(tool_input), called)).toEqual({ args: params })
  })

  test('a patch is an edit of the files it names', () => {
    const input = '*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch'
    const called = { event: { toolName: 'apply_patch', params: { input } }, ctx: {} }
    expect(openclawAdapter.read('before_tool_call', called).payload).toMatchObject({
      tool_name: 'Write',
      tool_input: { command: input, file_path: 'a.txt' },
    })
    const other = input.replace('a.txt', 'b.txt')
    expect(openclawAdapter.reply('before_tool_call', rewriting({ command: other }), called)).toEqual({
      args: { input: other },
    })
    expect(openclawAdapter.reply('before_tool_call', rewriting({ file_path: 'b' }), called)).toHaveProperty(
      'block',
    )
  })

  test('a program that calls tools is not a command', () => {
    expect(read('before_tool_call', { toolKind: 'code_mode_exec', params: { code: '1' } }).payload).toEqual({
      tool_name: 'exec',
      tool_input: { code: '1' },
    })
  })

  test('the result of a tool that was called through another one is its own', () => {
    const args = { id: 'openclaw:core:web_fetch', args: { url: 'https://example.com' } }
    expect(read('agent_tool_result', { toolName: 'tool_call', args }).payload).toMatchObject({
      tool_name: 'WebFetch',
      tool_input: { url: 'https://example.com' },
    })
  })

  test.each([
    [
      'agent_tool_result',
      { isError: true, result: { content: [], details: { error: 'not there' } } },
      'not there',
    ],
    ['agent_tool_result', { isError: true, result: { content: [{ type: 'text', text: 'oh' }] } }, 'oh'],
    [
      'agent_tool_result',
      { result: { content: [{ type: 'text', text: 'oh' }], details: { exitCode: 3 } } },
      'Exit code 3\noh',
    ],
    ['after_tool_call', { error: 'not there', durationMs: 7 }, 'not there'],
  ])('%s that failed: %j', (name, event, error) => {
    const reading = read(name, event)
    expect(reading).toMatchObject({ event: 'post_tool_use_failure', payload: { tool_name: 'Bash', error } })
    expect(catalogue.post_tool_use_failure.payload(reading.payload)).toBeUndefined()
  })

  test('a call that another plugin refused did not fail', () => {
    const result = { content: [], details: { status: 'blocked', reason: 'no way' } }
    const reading = read('after_tool_call', { result, error: 'no way' })
    expect(reading).toMatchObject({
      event: 'permission_denied',
      payload: { tool_name: 'Bash', reason: 'no way' },
    })
    expect(catalogue.permission_denied.payload(reading.payload)).toBeUndefined()
  })

  test.each([
    ['before_tool_call', { toolName: 7 }],
    ['before_tool_call', { params: 'ls' }],
    ['before_agent_run', { prompt: undefined }],
    ['before_prompt_build', { prompt: ['hi'] }],
  ])('%s that cannot be read is refused: %j', (name, event) => {
    expect(() => read(name, event)).toThrow(expect.objectContaining({ code: 'input.schema' }))
  })
})

describe('what else is said', () => {
  test('prompts and ends', () => {
    expect(read('before_prompt_build').payload).toEqual({ prompt: 'say hi', source: 'user' })
    expect(read('before_agent_finalize')).toMatchObject({
      payload: { stop_hook_active: false, last_assistant_message: 'All done.' },
      envelope: { cwd: '/home/user/project' },
    })
    const failed = read('agent_end', { success: false, error: 'no model' })
    expect(failed).toMatchObject({ event: 'stop_failure', payload: { error: 'no model' } })
  })

  test.each([
    ['session_start', { sessionId: 's' }, { source: 'startup' }],
    ['session_start', { sessionId: 's', resumedFrom: 'r' }, { source: 'resume' }],
    ['session_end', { sessionId: 's', messageCount: 1, reason: 'idle' }, { reason: 'idle' }],
    ['before_compaction', { messageCount: 1 }, {}],
    ['after_compaction', { messageCount: 1, compactedCount: 1 }, {}],
    ['subagent_spawned', { childSessionKey: 'k', agentId: 'main' }, { agent_id: 'k', agent_type: 'main' }],
    [
      'subagent_ended',
      { targetSessionKey: 'k', reason: 'done', outcome: 'ok' },
      { agent_id: 'k', status: 'ok' },
    ],
    ['message_received', { from: 'u', content: 'hi' }, { content: 'hi' }],
    ['message_sending', { to: 'u', content: 'hi' }, { content: 'hi' }],
    ['message_sent', { to: 'u', content: 'hi', success: true }, { success: true }],
    ['gateway_start', { port: 1 }, { port: 1 }],
    ['gateway_stop', { reason: 'sigterm' }, { reason: 'sigterm' }],
    ['before_reset', { reason: 'new' }, { reason: 'new' }],
    ['cron_changed', { action: 'added', jobId: 'j' }, { jobId: 'j' }],
  ])('%s %j', (name, event, expected) => {
    const { payload: fields } = openclawAdapter.read(name, { event, ctx: {} })
    const row = openclawAdapter.events[name]?.event
    expect(fields).toMatchObject(expected)
    expect(row && catalogue[row].payload(fields)).toBeUndefined()
  })

  test('a sub-agent is a lane of the first session', () => {
    const sub = { root: 'uuid', parent: 'agent:main:main', lane: 'agent:main:subagent:1' }
    const { envelope } = openclawAdapter.read('before_tool_call', {
      ...native('before_tool_call'),
      session: 'uuid-2',
      sub,
    })
    expect(envelope).toMatchObject({ session: 'uuid', lane: 'agent:main:subagent:1' })
  })

  test.each(['toString', '__proto__', 'unheard_of'])('an event named %s is no surprise', (name) => {
    expect(openclawAdapter.read(name, { ctx: { sessionKey: 'k' } }).envelope).toMatchObject({ session: 'k' })
    expect(openclawAdapter.reply(name, outcomes.block, {})).toEqual({})
  })
})

describe('it is answered in words that the plugin carries out', () => {
  test('silence is an empty answer, everywhere', () => {
    for (const name of Object.keys(known)) {
      expect(reply(name, outcomes.pass)).toEqual({})
      expect(reply(name, outcomes.grant)).toEqual({})
    }
  })

  test.each([
    ['before_tool_call', outcomes.block, { block: 'not here' }],
    ['before_tool_call', outcomes.ask, { ask: 'are you sure?' }],
    ['before_tool_call', rewriting({ command: 'true' }), { args: { command: 'true' } }],
    [
      'before_tool_call',
      { ...outcomes.ask, input: { command: 'true' } },
      { ask: 'are you sure?', args: { command: 'true' } },
    ],
    ['before_tool_call', rewriting('true'), { block: expect.stringContaining('cannot carry out') }],
    ['before_prompt_build', outcomes.block, { block: 'not here' }],
    ['before_prompt_build', outcomes.context, { context: 'be brief' }],
    ['before_agent_run', outcomes.block, { block: 'not here' }],
    ['before_agent_run', outcomes.context, {}],
    ['before_agent_finalize', outcomes.block, { block: 'not here' }],
    ['after_tool_call', outcomes.block, {}],
    ['tool_result_persist', rewriting({}), {}],
  ] as const)('%s %j', (name, outcome, expected) => {
    expect(reply(name, outcome)).toEqual(expected)
  })

  test('a changed result hides the original wherever it is', () => {
    expect(reply('agent_tool_result', rewriting('***'))).toEqual({
      output: { content: [{ type: 'text', text: '***' }], details: { status: 'completed' } },
    })
    const whole = { content: [{ type: 'text', text: 'a' }], details: {} }
    expect(reply('agent_tool_result', rewriting(whole))).toEqual({ output: whole })
  })

  test('words stand beside the result', () => {
    expect(reply('agent_tool_result', outcomes.context)).toMatchObject({
      output: { content: [{ text: 'hi' }, { type: 'text', text: 'be brief' }] },
    })
  })
})
