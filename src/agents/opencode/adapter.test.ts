import { describe, expect, test } from 'vitest'
import { outcomes, payload, payloadNames, rewriting } from '../../../test/agents/payloads.fixture.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { ClientOutcome, NativePayload } from '../agent-adapter.ts'
import { findAdapter } from '../table.ts'
import { deliverDecision } from '../translate/outcome.ts'
import { opencodeAdapter } from './adapter.ts'

const directory = '/home/user/project'
const hi = 'echo hi > ran.txt; echo hi'

/** As the plugin sends what was recorded. */
function sent(name: string, more: object = {}): NativePayload {
  const recorded = payload('opencode', name)
  const { event } = recorded.input as { event?: unknown }
  return { ...(event === undefined ? recorded : { event }), directory, ...more }
}

const eventOf = (name: string) => name.replace(/^event\./, '')
const read = (name: string, more?: object) => opencodeAdapter.read(eventOf(name), sent(name, more))
const reply = (name: string, outcome: ClientOutcome, more?: object) =>
  opencodeAdapter.reply(eventOf(name), outcome, sent(name, more))

const known = {
  'tool.execute.before': 'pre_tool_use',
  'tool.execute.after': 'post_tool_use',
  'chat.message': 'user_prompt_submit',
  'chat.params': 'model_request',
  'event.session.created': 'session_start',
  'event.session.idle': 'stop',
  'event.permission.asked': 'permission_request',
  'event.permission.replied': undefined,
} as const

/** Recorded, and not told by the plugin. */
const untold = [
  'chat.headers',
  'config',
  'dispose',
  'event.catalog.updated',
  'event.integration.updated',
  'event.message.part.delta',
  'event.message.part.updated',
  'event.message.updated',
  'event.plugin.added',
  'event.reference.updated',
  'event.session.diff',
  'event.session.status',
  'event.session.updated',
  'experimental.chat.messages.transform',
  'experimental.chat.system.transform',
  'experimental.text.complete',
  'plugin.init',
  'shell.env',
  'tool.definition',
]

test('every recorded payload has its place', () => {
  expect(payloadNames('opencode')).toEqual([...Object.keys(known), ...untold].sort())
  expect(findAdapter('opencode')).toBe(opencodeAdapter)
})

test.each(Object.entries(known))('%s is %s, as its row wants it', (name, event) => {
  const row: { readonly event?: string } = opencodeAdapter.events[eventOf(name)] ?? {}
  expect(row.event).toBe(event)
  const { payload: fields, envelope } = read(name)
  if (event !== undefined) expect(catalogue[event].payload(fields)).toBeUndefined()
  expect(envelope).toMatchObject({ session: expect.stringMatching(/^ses_000/), cwd: directory })
  expect(envelope.raw).toMatchObject({ directory })
})

describe('what a call says', () => {
  test('a command', () => {
    expect(read('tool.execute.before')).toMatchObject({
      payload: { tool_name: 'Bash', native_tool_name: 'bash', tool_input: { command: hi } },
      envelope: { session: 'ses_0001', toolCall: 'call_0002' },
    })
  })

  test.each([
    [
      'edit',
      { filePath: 'a', oldString: 'b', newString: 'c', replaceAll: true },
      'Edit',
      { file_path: 'a', old_string: 'b', new_string: 'c', replace_all: true },
    ],
    ['read', { filePath: 'a', limit: 1 }, 'Read', { file_path: 'a', limit: 1 }],
    ['grep', { pattern: 'a', include: '*.ts' }, 'Grep', { pattern: 'a', glob: '*.ts' }],
    ['task', { prompt: 'a', subagent_type: 'general' }, 'Agent', { prompt: 'a', subagent_type: 'general' }],
    ['github_create_issue', { title: 'a' }, 'github_create_issue', { title: 'a' }],
  ] as const)('%s goes there and back', (tool, args, tool_name, tool_input) => {
    const native = { input: { tool, sessionID: 's', callID: 'c' }, output: { args }, directory }
    expect(opencodeAdapter.read('tool.execute.before', native).payload).toMatchObject({
      tool_name,
      tool_input,
    })
    expect(opencodeAdapter.reply('tool.execute.before', rewriting(tool_input), native)).toEqual({ args })
  })

  test('a patch is an edit of the files it names, and is changed as a text', () => {
    const patchText = '*** Begin Patch\n*** Update File: src/a.ts\n*** End Patch'
    const native = { input: { tool: 'apply_patch' }, output: { args: { patchText } } }
    const { tool_input } = opencodeAdapter.read('tool.execute.before', native).payload as {
      tool_input: object
    }
    expect(tool_input).toEqual({ command: patchText, file_path: 'src/a.ts', file_paths: ['src/a.ts'] })
    const other = patchText.replace('src/a.ts', 'src/b.ts')
    const changed = (input: unknown) => opencodeAdapter.reply('tool.execute.before', rewriting(input), native)
    expect(changed({ ...tool_input, command: other })).toEqual({ args: { patchText: other } })
    expect(changed({ ...tool_input, file_path: 'elsewhere' })).toEqual({
      block: expect.stringContaining('OpenCode cannot carry out'),
    })
  })

  test.each([
    ['a command that ends with another code', { metadata: { exit: 3 }, output: 'oh' }, 'Exit code 3\noh'],
    ['a command that was ended', { metadata: { exit: null }, output: 'oh' }, 'Exit code unknown\noh'],
    ['a tool that has nothing to say', null, 'the call has no result'],
    ['a tool of a server', { isError: true, content: [], output: 'bad' }, 'bad'],
  ])('%s has failed', (_, output, error) => {
    const reading = read('tool.execute.after', { output })
    expect(reading).toMatchObject({ event: 'post_tool_use_failure', payload: { tool_name: 'Bash', error } })
    expect(catalogue.post_tool_use_failure.payload(reading.payload)).toBeUndefined()
  })

  test('a tool that threw has failed', () => {
    const part = {
      type: 'tool',
      tool: 'read',
      callID: 'call_1',
      state: { status: 'error', input: { filePath: 'x' }, error: 'not there' },
    }
    const native = {
      event: { type: 'message.part.updated', properties: { sessionID: 'ses_1', part } },
      directory,
    }
    const { payload: fields, envelope } = opencodeAdapter.read('message.part.updated', native)
    expect(fields).toEqual({
      tool_name: 'Read',
      native_tool_name: 'read',
      tool_input: { file_path: 'x' },
      error: 'not there',
    })
    expect(envelope).toMatchObject({ session: 'ses_1', toolCall: 'call_1' })
  })

  test.each([
    ['tool.execute.before', { input: { tool: '' }, output: { args: {} } }],
    ['tool.execute.before', { input: { tool: 'bash' }, output: { args: ['ls'] } }],
    ['chat.message', { input: {}, output: {} }],
    ['tool.execute.before', {}],
  ])('%s that cannot be read is refused: %j', (event, native) => {
    expect(() => opencodeAdapter.read(event, native)).toThrow(
      expect.objectContaining({ code: 'input.schema' }),
    )
  })
})

describe('what else is said', () => {
  test('the words of the user, without those that the client adds', () => {
    const parts = [
      { type: 'text', text: 'look at' },
      { type: 'text', text: 'FILE', synthetic: true },
      { type: 'file', url: 'x' },
      { type: 'text', text: 'this' },
    ]
    const reading = read('chat.message', { output: { message: { id: 'msg_1' }, parts } })
    expect(reading.payload).toEqual({ prompt: 'look at\nthis' })
    expect(reading.envelope).toMatchObject({ turn: 'msg_1' })
  })

  test.each([
    [
      'session.error',
      { sessionID: 's', error: { name: 'X', data: { message: 'no model' } } },
      { error: 'no model' },
    ],
    ['session.error', { sessionID: 's' }, { error: 'unknown' }],
    ['session.deleted', { sessionID: 's' }, { reason: 'deleted' }],
    ['session.compacted', { sessionID: 's' }, {}],
    ['file.edited', { file: '/a/b' }, { file_path: '/a/b' }],
    [
      'permission.asked',
      { permission: 'edit', metadata: { filepath: '/a' } },
      { tool_name: 'Edit', tool_input: { file_path: '/a' } },
    ],
  ])('%s', (type, properties, expected) => {
    const { payload: fields } = opencodeAdapter.read(type, { event: { type, properties } })
    const { event } = opencodeAdapter.events[type] ?? {}
    expect(fields).toMatchObject(expected)
    expect(event && catalogue[event].payload(fields)).toBeUndefined()
  })

  test('a command of the user', () => {
    const native = { input: { command: 'review', sessionID: 's', arguments: 'all' }, output: { parts: [] } }
    expect(opencodeAdapter.read('command.execute.before', native).payload).toEqual({
      command_name: 'review',
      command_args: 'all',
    })
  })

  test.each(['toString', '__proto__', 'unheard.of'])('an event named %s is no surprise', (name) => {
    expect(opencodeAdapter.read(name, { input: { sessionID: 's' } }).envelope).toMatchObject({ session: 's' })
    expect(opencodeAdapter.reply(name, outcomes.block, {})).toEqual({})
  })
})

describe('sub-agents have sessions of their own', () => {
  const sub = { root: 'root', parent: 'root', lane: 'child' }
  const nested = { root: 'root', parent: 'child', lane: 'grandchild' }

  test('and are lanes of the first one', () => {
    expect(read('tool.execute.before', { sub }).envelope).toMatchObject({ session: 'root', lane: 'child' })
    expect(read('chat.message', { sub }).payload).toMatchObject({ source: 'subagent' })
  })

  test.each([
    ['event.session.created', 'subagent_start'],
    ['event.session.idle', 'subagent_stop'],
  ] as const)('%s is %s, told by the agent above', (name, event) => {
    const first = read(name, { sub })
    expect(first).toMatchObject({ event, payload: { agent_id: 'child' }, envelope: { session: 'root' } })
    expect(first.envelope).not.toHaveProperty('lane')
    expect(read(name, { sub: nested })).toMatchObject({
      payload: { agent_id: 'grandchild' },
      envelope: { lane: 'child' },
    })
    expect(catalogue[event].payload(first.payload)).toBeUndefined()
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
    ['tool.execute.before', outcomes.block, { block: 'not here' }],
    ['tool.execute.before', outcomes.ask, { block: 'are you sure?' }],
    ['tool.execute.before', { kind: 'block', message: ' ' }, { block: 'a hook gave no reason' }],
    ['tool.execute.before', rewriting({ command: 'true' }), { args: { command: 'true' } }],
    ['tool.execute.before', rewriting('true'), { block: expect.stringContaining('cannot carry out') }],
    ['chat.message', outcomes.block, { block: 'not here' }],
    ['chat.message', outcomes.context, { context: 'be brief' }],
    ['chat.message', { ...rewriting('be nice'), context: ' ' }, { prompt: 'be nice' }],
    ['chat.message', rewriting({ prompt: 'x' }), { block: expect.stringContaining('cannot carry out') }],
    ['chat.params', rewriting({ temperature: 0 }), { output: { temperature: 0 } }],
    ['event.session.idle', outcomes.block, {}],
    ['event.permission.asked', outcomes.block, {}],
  ] as const)('%s %j', (name, outcome, expected) => {
    expect(reply(name, outcome)).toEqual(expected)
  })

  test('words for what is compacted', () => {
    expect(opencodeAdapter.reply('experimental.session.compacting', outcomes.context, {})).toEqual({
      context: 'be brief',
    })
  })

  test('a changed result hides the original wherever it is', () => {
    const output = {
      title: 't',
      output: 'SECRET',
      metadata: { output: 'SECRET', preview: 'SECRET', exit: 0, truncated: false },
      attachments: [{ url: 'SECRET' }],
    }
    const changed = reply('tool.execute.after', rewriting('***'), { output })
    expect(changed).toEqual({
      output: {
        title: 't',
        output: '***',
        metadata: { output: '***', exit: 0, truncated: false },
        attachments: [],
      },
    })
    const object = reply('tool.execute.after', rewriting({ ...output, output: '***', attachments: [] }), {
      output: { ...output, metadata: { output: 'SECRET' } },
    })
    expect(JSON.stringify(object)).not.toContain('"output":"SECRET"')
    expect(reply('tool.execute.after', rewriting(''), { output })).toMatchObject({
      output: { output: 'a hook removed this output' },
    })
  })

  test('a changed result of a server keeps its shape', () => {
    const output = { content: [{ type: 'text', text: 'SECRET' }], structuredContent: { a: 'SECRET' } }
    const content = [{ type: 'text', text: '***' }]
    expect(reply('tool.execute.after', rewriting('***'), { output })).toEqual({
      output: { content, structuredContent: null },
    })
    expect(reply('tool.execute.after', outcomes.context, { output })).toMatchObject({
      output: { content: [...output.content, { type: 'text', text: 'be brief' }] },
    })
  })

  test('words stand below the result', () => {
    expect(reply('tool.execute.after', outcomes.context)).toMatchObject({
      output: { output: 'hi\n\n\nbe brief' },
    })
    expect(reply('tool.execute.after', outcomes.context, { output: null })).toEqual({})
  })

  test('what OpenCode cannot do is blocked where it can block', () => {
    const { outcome } = deliverDecision(
      { kind: 'ask', reason: 'a deploy' },
      opencodeAdapter.events['tool.execute.before']?.honours ?? [],
      opencodeAdapter.title,
    )
    expect(reply('tool.execute.before', outcome)).toEqual({ block: expect.stringContaining('a deploy') })
  })
})
