import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDecider, type Decider } from '../client/decider.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { createHooks, type Hooks } from '../engine/dispatch/hooks.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { McpSession } from './mcp-session.ts'
import type { AdmittedPacket } from './messages/assemble-packet.ts'
import { readPacket } from './messages/packet.ts'
import { ServerName } from './server-name.ts'

const never = new AbortController().signal

function sessionWith(hooks: Hooks, name: string | undefined = 'files'): McpSession {
  const options = { warn: () => {}, clock: fakeClock(), failOpen: false }
  return new McpSession({ ...options, decider: createDecider({ hooks }), server: new ServerName(name) })
}

/** Hooks that change everything they get to see. */
function rewritingHooks(): Hooks {
  const hooks = createHooks()
  hooks.on('pre_tool_use', () => ({ kind: 'allow', input: { changed: true } }))
  hooks.on('post_tool_use', { transform: true }, () => ({ kind: 'allow', input: 'changed' }))
  return hooks
}

function admit(
  session: McpSession,
  line: string | Buffer,
  signal = never,
): AdmittedPacket | Promise<AdmittedPacket> {
  const packet = readPacket(Buffer.from(line))
  if (packet.kind === 'refused') return { forward: undefined, answer: packet.answer, sent: [] }
  return session.admit(packet, { signal })
}

const id = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string())
const value = fc.jsonValue({ maxDepth: 4 })
const method = fc
  .oneof(
    fc.string(),
    fc.constantFrom('tools/list', 'resources/read', 'sampling/createMessage', 'tools/call2'),
  )
  .filter((name) => !/tools\s*\/\s*call$|^initialize$|tasks\/result|cancelled/i.test(name.normalize('NFKC')))
const others = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, method, params: value }),
  fc.record({ jsonrpc: fc.constant('2.0'), method, params: value }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: value }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, error: value }),
)
const blanks = fc.stringMatching(/^[ \t]{0,3}$/)

test('any message that is no tool call goes through byte for byte, in both directions', () => {
  fc.assert(
    fc.property(others, blanks, fc.boolean(), (message, blank, isPretty) => {
      fc.pre(!JSON.stringify(message).includes('proto'))
      const text = isPretty
        ? JSON.stringify(message, undefined, 1).replaceAll('\n', ' ')
        : JSON.stringify(message)
      const line = Buffer.from(`${blank}${text}${blank}`)
      const session = sessionWith(rewritingHooks())
      const packet = readPacket(line)
      expect(packet.kind).toBe('packet')
      if (packet.kind === 'packet')
        expect(session.admit(packet, { signal: never })).toEqual({
          forward: line,
          answer: undefined,
          sent: [],
        })
      expect(session.filterServerMessage(line)).toBe(line)
    }),
    { numRuns: 2_000 },
  )
})

test('any message of the server that is no result of a tool goes through while calls are under way', async () => {
  const session = sessionWith(rewritingHooks())
  await admit(session, '{"jsonrpc":"2.0","id":"the call","method":"tools/call","params":{"name":"x"}}')
  fc.assert(
    fc.property(others, blanks, (message, blank) => {
      const line = Buffer.from(`${blank}${JSON.stringify(message)}${blank}`)
      expect(session.filterServerMessage(line)).toBe(line)
    }),
    { numRuns: 2_000 },
  )
})

const stateless = (capabilities: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': capabilities,
})

test.each([
  ['of an older revision', {}, {}],
  ['of revision 2026-07-28', { _meta: stateless() }, { resultType: 'complete' }],
])('any tool call %s is gated, however its id and its arguments look', async (_, more, form) => {
  const blocked = createHooks()
  blocked.on('pre_tool_use', () => ({ kind: 'block', reason: 'no' }))
  await fc.assert(
    fc.asyncProperty(id, fc.dictionary(fc.string(), value), fc.string(), async (id, input, name) => {
      const params = { name, arguments: input, ...more }
      fc.pre(!JSON.stringify({ name, input }).includes('proto'))
      const line = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
      const { forward, answer } = await admit(sessionWith(blocked), line)
      expect(forward).toBeUndefined()
      expect(JSON.parse(answer ?? '')).toMatchObject({ result: { ...form, isError: true } })
    }),
  )
})

test('any state that the proxy did not issue leads to no call without a question', async () => {
  const asking = createHooks()
  asking.on('pre_tool_use', () => ({ kind: 'ask', reason: 'may it?' }))
  const session = sessionWith(asking)
  const _meta = stateless({ elicitation: {} })
  const inputResponses = { hookhelm_approval: { action: 'accept' } }
  const state = fc.oneof(
    fc.string(),
    fc.string().map((text) => `hookhelm.${text}`),
    value,
  )
  await fc.assert(
    fc.asyncProperty(state, async (requestState) => {
      fc.pre(!JSON.stringify(requestState).includes('proto'))
      const params = { name: 'x', _meta, inputResponses, requestState }
      const line = JSON.stringify({ id: 1, method: 'tools/call', params })
      const { forward, answer } = await admit(session, line)
      expect(forward).toBeUndefined()
      const { result, error } = JSON.parse(answer ?? '')
      expect(result?.resultType ?? error.code).toBe(result === undefined ? -32602 : 'input_required')
    }),
  )
})

test('hooks hear of a tool that changed and of each call that is blocked for it', async () => {
  const hooks = createHooks()
  const heard: unknown[] = []
  hooks.on('notification', ({ notification_type, message }) => void heard.push([notification_type, message]))
  hooks.on('pre_tool_use', () => void heard.push('a call'))
  const lines: string[] = []
  const pins = {
    compare: () => [{ tool: 'x', diff: '+  "description": "sends it"', isNew: true }],
    isChanged: (tool: string) => tool === 'x',
  }
  const session = new McpSession({
    warn: (line) => void lines.push(line),
    clock: fakeClock(),
    failOpen: false,
    decider: createDecider({ hooks }),
    server: new ServerName('files'),
    toolPins: { pins, onChange: 'block' },
  })
  await admit(session, '{"id":1,"method":"tools/list"}')
  const listed = Buffer.from('{"id":1,"result":{"tools":[{"name":"x"}]}}')
  expect(await session.filterServerMessage(listed)).toBe(listed)
  const { forward, answer } = await admit(session, '{"id":2,"method":"tools/call","params":{"name":"x"}}')
  expect([forward, answer]).toEqual([undefined, expect.stringContaining('hookhelm trust --mcp files')])
  expect(lines).toEqual([expect.stringContaining('changed the definition of the tool x')])
  await expect
    .poll(() => heard)
    .toEqual([
      ['mcp_tool_changed', expect.stringContaining('"sends it"')],
      ['mcp_tool_blocked', expect.stringContaining('x')],
    ])
})

test('where changed tools are blocked, tools that cannot be compared are blocked too', async () => {
  const pins = {
    compare: () => {
      throw new HookError('engine.aborted', 'the disk is full')
    },
    isChanged: () => false,
  }
  const session = new McpSession({
    warn: () => {},
    clock: fakeClock(),
    failOpen: false,
    decider: createDecider({ hooks: createHooks() }),
    server: new ServerName('files'),
    toolPins: { pins, onChange: 'block' },
  })
  await admit(session, '{"id":1,"method":"tools/list"}')
  await session.filterServerMessage(Buffer.from('{"id":1,"result":{"tools":[{"name":"x"}]}}'))
  const { forward, answer } = await admit(session, '{"id":2,"method":"tools/call","params":{"name":"x"}}')
  expect([forward, answer]).toEqual([undefined, expect.stringContaining('the disk is full')])
})

test('a number that no double holds comes out digit by digit where the call is rewritten', async () => {
  const line =
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"name":"x","_meta":{"n":1e999}}}'
  const { forward } = await admit(sessionWith(rewritingHooks()), line)
  const rewritten = '"_meta":{"n":1e999},"arguments":{"changed":true}}}'
  expect(forward?.toString()).toBe(line.replace('"_meta":{"n":1e999}}}', rewritten))
})

test('names follow those of Claude Code', async () => {
  const seen: string[] = []
  const hooks = createHooks()
  hooks.on('pre_tool_use', ({ tool_name }) => void seen.push(tool_name))
  const call = (name: string) => JSON.stringify({ id: name, method: 'tools/call', params: { name } })
  await admit(sessionWith(hooks, 'my server/1.0'), call('read.file-x_y z'))
  expect(seen).toEqual(['mcp__my_server_1_0__read_file-x_y_z'])
})

test('what is cancelled while a batch is decided stays here, and the rest goes', async () => {
  const gates = new Map<string, () => void>()
  const hooks = createHooks()
  hooks.on(
    'pre_tool_use',
    ({ tool_name }) => new Promise<void>((resolve) => void gates.set(tool_name, resolve)),
  )
  const session = sessionWith(hooks)
  const call = (id: number) => `{"id":${id},"method":"tools/call","params":{"name":"t${id}"}}`
  const batch = admit(session, `[${call(1)},${call(2)}]`)
  await expect.poll(() => gates.size).toBe(2)
  const cancel = '{"method":"notifications/cancelled","params":{"requestId":1}}'
  gates.get('mcp__files__t1')?.()
  expect(admit(session, cancel)).toEqual({ forward: undefined, answer: undefined, sent: [] })
  gates.get('mcp__files__t2')?.()
  expect((await batch).forward?.toString()).toBe(`[${call(2)}]`)
})

test('a hook that throws while it redacts is no reason to lose a result, as its policy says', async () => {
  const hooks = createHooks()
  hooks.on('post_tool_use', { transform: true }, () => {
    throw new Error('broken')
  })
  const session = sessionWith(hooks)
  await admit(session, '{"id":1,"method":"tools/call","params":{"name":"x"}}')
  const line = Buffer.from('{"id":1,"result":{"content":[]}}')
  expect(await session.filterServerMessage(line)).toBe(line)
})

test.each([
  [false, { isError: true, content: [{ text: expect.stringContaining('withheld: no decision: gone') }] }],
  [true, { content: [{ text: 'secret' }], _meta: { a: 1, 'hookhelm/opened': 'gone' } }],
])('a result that nobody could look at; with --fail-open: %s', async (failOpen, expected) => {
  const decider: Pick<Decider, 'decide'> = {
    decide: async ({ event }) => {
      if (event === 'post_tool_use') throw new HookError('engine.aborted', 'gone')
      return { kind: 'allow' }
    },
  }
  const server = new ServerName('files')
  const session = new McpSession({ decider, server, failOpen, clock: fakeClock(), warn: () => {} })
  await admit(session, '{"id":1,"method":"tools/call","params":{"name":"x"}}')
  const line = '{"id":1,"result":{"content":[{"type":"text","text":"secret"}],"_meta":{"a":1}}}'
  expect(JSON.parse(String(await session.filterServerMessage(Buffer.from(line))))).toMatchObject({
    id: 1,
    result: expected,
  })
})

test('failure hooks receive an error of the server', async () => {
  const hooks = createHooks()
  hooks.on('post_tool_use_failure', ({ error }) => ({
    kind: 'allow',
    context: `heard ${JSON.stringify(error)}`,
  }))
  const session = sessionWith(hooks)
  await admit(session, '{"id":1,"method":"tools/call","params":{"name":"x"}}')
  const given = await session.filterServerMessage(
    Buffer.from('{"id":1,"error":{"code":-1,"message":"no","data":7}}'),
  )
  expect(JSON.parse(String(given))).toEqual({
    id: 1,
    error: { code: -1, message: 'no\nheard {"code":-1,"message":"no","data":7}', data: 7 },
  })
})

describe('a task of revision 2026-07-28', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const request = (id: number, method: string, params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
  const secret = { resultType: 'complete', content: [{ type: 'text', text: 'hunter2' }] }
  const done = { resultType: 'complete', taskId: 't1', status: 'completed', result: secret }

  function redacting(): McpSession {
    const hooks = createHooks()
    hooks.on('post_tool_use', { transform: true, matcher: '^mcp__files__x$' }, () => ({
      kind: 'allow',
      input: '[gone]',
    }))
    return sessionWith(hooks)
  }
  async function answered(session: McpSession, message: object): Promise<unknown> {
    return JSON.parse(String(await session.filterServerMessage(Buffer.from(JSON.stringify(message)))))
  }

  test('is gated when it is made, and its result is redacted wherever it appears', async () => {
    const session = redacting()
    await admit(session, request(1, 'tools/call', { name: 'x' }))
    const created = { id: 1, result: { resultType: 'task', taskId: 't1', status: 'working' } }
    expect(await answered(session, created)).toEqual(created)
    await admit(session, request(2, 'tasks/get', { taskId: 't1' }))
    const gone = { resultType: 'complete', content: [{ type: 'text', text: '[gone]' }] }
    expect(await answered(session, { id: 2, result: done })).toEqual({
      id: 2,
      result: { ...done, result: gone },
    })
    const notice = { jsonrpc: '2.0', method: 'notifications/tasks', params: done }
    expect(await answered(session, notice)).toEqual({ ...notice, params: { ...done, result: gone } })
    const next = session.forNextExchange()
    await admit(next, request(1, 'tasks/get', { taskId: 't1' }))
    expect(await answered(next, { id: 1, result: done })).toMatchObject({ result: { result: gone } })
  })

  test('that is complete at once is redacted at once, and a task that hides content is too', async () => {
    const session = redacting()
    await admit(session, request(1, 'tools/call', { name: 'x' }))
    expect(await answered(session, { id: 1, result: { ...done, resultType: 'task' } })).toMatchObject({
      result: { resultType: 'task', result: { content: [{ text: '[gone]' }] } },
    })
    await admit(session, request(2, 'tools/call', { name: 'x' }))
    expect(await answered(session, { id: 2, result: { ...secret, resultType: 'input_required' } })).toEqual({
      id: 2,
      result: { resultType: 'input_required', content: [{ type: 'text', text: '[gone]' }] },
    })
  })

  test('cannot be called by another spelling, or by a notification', async () => {
    const session = redacting()
    expect(await admit(session, request(1, 'Tools/List', {}))).toMatchObject({ forward: undefined })
    expect(await admit(session, request(1, 'tasks/Get', { taskId: 't1' }))).toMatchObject({
      forward: undefined,
    })
    const { id: _, ...notification } = JSON.parse(request(1, 'tools/call', { name: 'x' }))
    expect(await admit(session, JSON.stringify(notification))).toMatchObject({ forward: undefined })
  })
})

test('a question of a proxy behind this one comes through, and its state goes back to it', async () => {
  const hooks = createHooks()
  const session = sessionWith(hooks)
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  }
  const call = (id: number, more: object) =>
    JSON.stringify({ id, method: 'tools/call', params: { name: 'x', _meta: meta, ...more } })
  await admit(session, call(1, {}))
  const requestState = 'hookhelm.of-another.proxy'
  const result = { resultType: 'input_required', inputRequests: {}, requestState }
  const line = await session.filterServerMessage(Buffer.from(JSON.stringify({ id: 1, result })))
  const wrapped = JSON.parse(String(line)).result.requestState
  expect(wrapped).not.toBe(requestState)
  const { forward } = await admit(session, call(2, { requestState: wrapped, inputResponses: { a: 1 } }))
  expect(JSON.parse(String(forward)).params).toMatchObject({ requestState, inputResponses: { a: 1 } })
})

describe('a server that answers what it was not asked', () => {
  const result = Buffer.from('{"id":1,"result":{"content":[{"type":"text","text":"hunter2"}]}}')

  test('cannot answer a call that waits for the hooks', async () => {
    const hooks = createHooks()
    const waiting = Promise.withResolvers<void>()
    hooks.on('pre_tool_use', () => waiting.promise)
    const session = sessionWith(hooks)
    const call = admit(session, '{"id":1,"method":"tools/call","params":{"name":"x"}}')
    expect(session.filterServerMessage(result)).toBeUndefined()
    waiting.resolve()
    expect((await call).forward).toBeDefined()
  })

  test('cannot answer a call in the response to another request', async () => {
    const session = sessionWith(createHooks())
    await admit(session, '{"id":1,"method":"tools/call","params":{"name":"x"}}')
    const other = session.forNextExchange()
    await admit(other, '{"id":2,"method":"tools/list"}')
    expect(other.filterServerMessage(result, 'response')).toBeUndefined()
    for (const text of [
      '{"id":3,"result":{}}',
      '{"id":"server-error","error":{"code":-32600,"message":"no"}}',
    ]) {
      const harmless = Buffer.from(text)
      expect(other.filterServerMessage(harmless, 'response')).toBe(harmless)
    }
  })
})
