import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDecider } from '../../src/client/decider.ts'
import type { Envelope } from '../../src/engine/core/context.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { openHttpProxy } from '../../src/mcp/http/http-proxy.ts'
import { ServerName } from '../../src/mcp/server-name.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { httpFiles, listening } from './http-server.fixture.ts'
import { folder } from './proxied.fixture.ts'
import { type Negotiation, statelessConnected } from './stateless-client.fixture.ts'
import { statelessHttpFiles } from './stateless-http.fixture.ts'

/** The hooks of these tests, in this process. */
function hooks() {
  const made = createHooks()
  const seen: { readonly event: string; readonly envelope: Envelope }[] = []
  const gates = new Map<string, () => void>()
  const dropped: string[] = []
  made.on(
    'pre_tool_use',
    { matcher: '^mcp__files__' },
    async ({ tool_input }, { event, envelope, signal }) => {
      seen.push({ event, envelope })
      const path = String(tool_input.path)
      if (path.includes('forbidden')) return { kind: 'block', reason: 'not there' }
      if (path.includes('asks')) return { kind: 'ask', reason: 'may it write?' }
      if (path.includes('rewrite')) return { kind: 'allow', input: { path, text: 'rewritten' } }
      signal.addEventListener('abort', () => void dropped.push(path))
      if (path.includes('waits')) await new Promise<void>((resolve) => void gates.set(path, resolve))
      return undefined
    },
  )
  made.on(
    'post_tool_use',
    { transform: true, matcher: '^mcp__files__(read_secret|call)$' },
    ({ tool_response }) => {
      const text = JSON.stringify(tool_response)
      return text.includes('hunter2')
        ? { kind: 'allow', input: JSON.parse(text.replaceAll('hunter2', '[gone]')) }
        : undefined
    },
  )
  for (const event of ['session_start', 'session_end'] as const)
    made.on(event, (_, { envelope }) => void seen.push({ event, envelope }))
  return { made, seen, gates, dropped }
}

async function proxyTo(to: string, name?: string) {
  const { made, seen, gates, dropped } = hooks()
  const clock = fakeClock()
  const proxy = await openHttpProxy({
    listen: { host: '127.0.0.1', port: 0 },
    to,
    decider: createDecider({ hooks: made }),
    server: new ServerName(name),
    clock,
    failOpen: false,
    warn: () => {},
  })
  onTestFinished(() => proxy.close())
  return { ...proxy, seen, gates, dropped, clock }
}

interface Caller {
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>
}
const write = (client: Caller, path: string) =>
  client.callTool({ name: 'write_file', arguments: { path, text: 'as asked' } })

async function expectGated(client: Caller): Promise<void> {
  const paths = ['plain', 'forbidden', 'rewrite'].map((name) => join(folder(), name))
  const [plain = '', forbidden = '', rewritten = ''] = paths
  expect(await write(client, plain)).toMatchObject({ content: [{ text: 'wrote as asked' }] })
  expect(await write(client, forbidden)).toMatchObject({ isError: true, content: [{ text: 'not there' }] })
  expect(existsSync(forbidden)).toBe(false)
  await write(client, rewritten)
  expect(readFileSync(rewritten, 'utf8')).toBe('rewritten')
  expect(await client.callTool({ name: 'read_secret' })).toMatchObject({
    content: [{ text: 'the secret is [gone]' }],
    structuredContent: { secret: '[gone]' },
  })
}

describe('clients and servers of both eras', () => {
  const dual = async () => (await statelessHttpFiles()).url
  const events = async () => (await statelessHttpFiles({ responseMode: 'sse' })).url
  const modern = async () => (await statelessHttpFiles({ legacy: 'reject' })).url
  const old = async () => (await httpFiles('events')).url

  test.each<[string, Negotiation, () => Promise<string>, string]>([
    ['a new client and a server of both eras', 'pinned', dual, '2026-07-28'],
    ['a new client and a server that answers by events', 'auto', events, '2026-07-28'],
    ['a new client and a new server', 'auto', modern, '2026-07-28'],
    ['a client of both eras and an old server', 'auto', old, '2025-11-25'],
    ['a new client that speaks the old era', 'legacy', dual, '2025-11-25'],
  ])('%s: every call passes the hooks', async (_, negotiation, server, version) => {
    const proxy = await proxyTo(await server())
    const { client } = await statelessConnected(proxy.url, { negotiation })
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    await expectGated(client)
  })

  test.each([
    ['a server of both eras', dual, true],
    ['a new server', modern, false],
  ])('an old client and %s', async (_, server, isServed) => {
    const proxy = await proxyTo(await server())
    const client = new OldClient({ name: 'old', version: '1' })
    onTestFinished(() => client.close())
    const connected = client.connect(new OldTransport(new URL(proxy.url)) as never)
    if (isServed) {
      await connected
      await expectGated(client)
    } else await expect(connected).rejects.toThrow(/protocol version/i)
  })
})

test('what is no tool call is the same as without the proxy, and the server can tell of changes', async () => {
  const server = await statelessHttpFiles()
  const proxy = await proxyTo(server.url)
  const both = await Promise.all([statelessConnected(proxy.url), statelessConnected(server.url)])
  const seen = await Promise.all(
    both.map(async ({ client }) => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      await client.listTools(),
      await client.callTool({ name: 'echo', arguments: { n: 1 } }),
      await client.callTool({ name: 'echo', arguments: { n: 'one' } }).catch(String),
      await client.callTool({ name: 'nothing' }).catch(String),
    ]),
  )
  expect(seen[0]).toEqual(seen[1])
  const [{ client }] = both
  const told = new Promise<void>((resolve) =>
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve()),
  )
  const { honoredFilter } = await client.listen({ toolsListChanged: true })
  expect(honoredFilter).toMatchObject({ toolsListChanged: true })
  server.notify.toolsChanged()
  await told
})

test('hooks learn who calls, with the trace and the token for progress', async () => {
  const proxy = await proxyTo((await statelessHttpFiles()).url)
  const { client } = await statelessConnected(proxy.url)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
  await client.callTool({ name: 'steps', _meta: { traceparent } }, { onprogress: () => {} })
  await client.callTool({ name: 'steps', _meta: { traceparent: 'none' } })
  const calls = proxy.seen.filter(({ event }) => event === 'pre_tool_use').map(({ envelope }) => envelope)
  expect(calls[0]).toMatchObject({
    agent: 'test-client',
    host: 'mcp',
    hostVersion: '2026-07-28',
    traceparent,
    raw: {
      _meta: {
        progressToken: expect.anything(),
        'io.modelcontextprotocol/clientInfo': { name: 'test-client', version: '2.3.4' },
      },
    },
  })
  expect(calls[1]).not.toHaveProperty('traceparent')
  await proxy.close()
  const others = proxy.seen.filter(({ event }) => event !== 'pre_tool_use')
  expect(others.map(({ event, envelope }) => [event, envelope.session])).toEqual([
    ['session_start', calls[0]?.session],
    ['session_end', calls[0]?.session],
  ])
})

test('a call passes progress on, and closing the request cancels it', async () => {
  const proxy = await proxyTo((await statelessHttpFiles()).url)
  const { client } = await statelessConnected(proxy.url)
  const seen: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  await client.callTool({ name: 'steps' }, { onprogress })
  expect(seen).toEqual([1, 2, 3])
  const path = join(folder(), 'hangs')
  const abort = new AbortController()
  const call = client.callTool({ name: 'hang', arguments: { path } }, { signal: abort.signal })
  await expect.poll(() => existsSync(path), { timeout: 60_000 }).toBe(true)
  abort.abort()
  await expect(call).rejects.toThrow()
  await expect.poll(() => readFileSync(path, 'utf8'), { timeout: 60_000 }).toBe('cancelled')
})

test('closing the request drops a decision that is pending', async () => {
  const server = await statelessHttpFiles()
  const proxy = await proxyTo(server.url)
  const { client } = await statelessConnected(proxy.url)
  const path = join(folder(), 'waits')
  const abort = new AbortController()
  const call = client.callTool(
    { name: 'write_file', arguments: { path, text: 'x' } },
    { signal: abort.signal },
  )
  await expect.poll(() => proxy.gates.size, { timeout: 60_000 }).toBe(1)
  abort.abort()
  await expect(call).rejects.toThrow()
  await expect.poll(() => proxy.dropped, { timeout: 60_000 }).toEqual([path])
  proxy.gates.get(path)?.()
  await client.callTool({ name: 'echo', arguments: { n: 1 } })
  expect(existsSync(path)).toBe(false)
  expect(server.headers.filter((headers) => headers.get('mcp-name') === 'write_file')).toEqual([])
})

test('an old client cancels a pending decision with a notification in another request', async () => {
  const proxy = await proxyTo((await httpFiles('events')).url)
  const client = new OldClient({ name: 'old', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new OldTransport(new URL(proxy.url)) as never)
  const path = join(folder(), 'waits')
  const abort = new AbortController()
  const call = client.callTool({ name: 'write_file', arguments: { path, text: 'x' } }, undefined, {
    signal: abort.signal,
  })
  await expect.poll(() => proxy.gates.size, { timeout: 60_000 }).toBe(1)
  abort.abort()
  await expect(call).rejects.toThrow()
  await expect.poll(() => proxy.dropped, { timeout: 60_000 }).toEqual([path])
  proxy.gates.get(path)?.()
  await client.callTool({ name: 'echo', arguments: { n: 2 } })
  expect(existsSync(path)).toBe(false)
})

describe('a hook that asks', () => {
  test('goes on when the person agrees, and blocks when not', async () => {
    const proxy = await proxyTo((await statelessHttpFiles()).url)
    const { client, asked } = await statelessConnected(proxy.url, { answers: ['decline', 'accept'] })
    const path = join(folder(), 'asks')
    expect(await write(client, path)).toMatchObject({ isError: true })
    expect(existsSync(path)).toBe(false)
    expect(await write(client, path)).toMatchObject({ content: [{ text: 'wrote as asked' }] })
    expect(asked).toHaveLength(2)
    expect(proxy.seen.filter(({ event }) => event === 'pre_tool_use')).toHaveLength(2)
  })

  const capable = (name = 'raw') => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    'io.modelcontextprotocol/clientInfo': { name, version: '1' },
  })
  const accepted = { hookhelm_approval: { action: 'accept', content: {} } }

  /** Sends a call without a library. */
  async function send(url: string, params: Record<string, unknown>, headers: Record<string, string> = {}) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: capable(), ...params } }
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': String(params.name),
        ...headers,
      },
      body: JSON.stringify(body),
    })
    return JSON.parse((await answer.text()).replace(/^[^{]*/, ''))
  }

  async function asked() {
    const proxy = await proxyTo((await statelessHttpFiles()).url)
    const path = join(folder(), 'asks')
    const call = { name: 'write_file', arguments: { path, text: 'x' } }
    const { result } = await send(proxy.url, call)
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { hookhelm_approval: { method: 'elicitation/create' } },
    })
    const retry = { ...call, inputResponses: accepted, requestState: result.requestState as string }
    return { proxy, path, call, retry }
  }
  const refused = { error: { code: -32602, message: expect.stringContaining('requestState is refused') } }

  test('accepts a state once', async () => {
    const { proxy, path, retry } = await asked()
    expect(await send(proxy.url, retry)).toMatchObject({ result: { resultType: 'complete' } })
    expect(readFileSync(path, 'utf8')).toBe('x')
    expect(await send(proxy.url, retry)).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('already used') },
    })
  })

  test.each<[string, (retry: Record<string, unknown> & { requestState: string }) => Record<string, unknown>]>(
    [
      ['is altered', (retry) => ({ ...retry, requestState: `${retry.requestState}x` })],
      [
        'names another question',
        (retry) => ({ ...retry, requestState: retry.requestState.replace(/.(?=\.[^.]*$)/, '') }),
      ],
      ['comes with other arguments', (retry) => ({ ...retry, arguments: { path: '/tmp/asks', text: 'y' } })],
      ['comes with another tool', (retry) => ({ ...retry, name: 'sign' })],
      ['comes from another client', (retry) => ({ ...retry, _meta: capable('other') })],
      ['comes with another task', (retry) => ({ ...retry, task: {} })],
    ],
  )('refuses a state that %s', async (_, change) => {
    const { proxy, path, retry } = await asked()
    expect(await send(proxy.url, change(retry))).toMatchObject(refused)
    expect(existsSync(path)).toBe(false)
  })

  test('refuses a state of another proxy, of other credentials, and one that has expired', async () => {
    const { proxy, path, retry } = await asked()
    const other = await asked()
    expect(await send(other.proxy.url, retry)).toMatchObject(refused)
    expect(await send(proxy.url, retry, { authorization: 'Bearer stolen' })).toMatchObject(refused)
    proxy.clock.advance(5 * 60_000)
    expect(await send(proxy.url, retry)).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('expired') },
    })
    expect(existsSync(path)).toBe(false)
  })

  test('asks again where there is an answer without a question, or a question without an answer', async () => {
    const { proxy, path, call, retry } = await asked()
    const again = { result: { resultType: 'input_required' } }
    expect(await send(proxy.url, { ...call, inputResponses: accepted })).toMatchObject(again)
    const bare = { ...call, requestState: 'approved' }
    expect(await send(proxy.url, { ...bare, inputResponses: accepted })).toMatchObject(again)
    expect(await send(proxy.url, { ...call, requestState: retry.requestState })).toMatchObject(again)
    expect(existsSync(path)).toBe(false)
  })
})

describe('headers and body', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = (params: object = { name: 'echo', arguments: { n: 1 }, _meta: meta }, method = 'tools/call') =>
    ({ jsonrpc: '2.0', id: 1, method, params }) as object
  const right = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  const { 'mcp-name': _name, ...unnamed } = right
  const old = { name: 'echo', arguments: { n: 1 } }

  test.each<[string, Record<string, string>, object, number]>([
    ['another tool', { ...right, 'mcp-name': 'read_secret' }, body(), -32020],
    ['another spelling of the tool', { ...right, 'mcp-name': 'Echo' }, body(), -32020],
    ['a tool in malformed base64', { ...right, 'mcp-name': '=?base64?ZWNobw?=' }, body(), -32020],
    ['another method', { ...right, 'mcp-method': 'tools/list' }, body(), -32020],
    ['another revision', { ...right, 'mcp-protocol-version': '2025-11-25' }, body(), -32020],
    ['no tool', unnamed, body(), -32020],
    ['no method', { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' }, body(), -32020],
    ['no revision', { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, body(), -32020],
    ['a new revision for a body that describes nothing', right, body(old), -32602],
    [
      'a new revision for initialize',
      { 'mcp-protocol-version': '2026-07-28' },
      body({}, 'initialize'),
      -32020,
    ],
    ['another tool for an old body', { 'mcp-name': 'read_secret' }, body(old), -32020],
    ['a tool for a batch', right, [body(old)], -32020],
    ['nothing for a batch of the new revision', {}, [body()], -32600],
  ])('are refused where the headers name %s', async (_, headers, message, code) => {
    const server = await statelessHttpFiles()
    const proxy = await proxyTo(server.url, 'files')
    const answer = await fetch(proxy.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(message),
    })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code } }])
    expect(server.headers).toEqual([])
  })

  test('agree where the name is in base64, and a session id of the old era means nothing', async () => {
    const proxy = await proxyTo((await statelessHttpFiles()).url)
    const encoded = `=?base64?${Buffer.from('echo').toString('base64')}?=`
    const answer = await fetch(proxy.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...right,
        'mcp-name': encoded,
        'mcp-session-id': 'of nobody',
      },
      body: JSON.stringify(body()),
    })
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: 'n is 1' }] } })
  })

  test('change together where a hook rewrites an argument that a header repeats', async () => {
    const server = await statelessHttpFiles()
    const proxy = await proxyTo(server.url)
    const { client } = await statelessConnected(proxy.url)
    await client.listTools()
    const path = join(folder(), 'rewrite')
    const answer = await client.callTool({ name: 'send_file', arguments: { path, text: 'original' } })
    expect(answer).toMatchObject({ content: [{ text: 'sent rewritten' }] })
    const sent = server.headers.filter((headers) => headers.get('mcp-name') === 'send_file')
    expect(sent.map((headers) => headers.get('mcp-param-text'))).toEqual(['rewritten'])
  })
})

describe('a result that comes later', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'call', task: {} } }
  const secret = { content: [{ type: 'text', text: 'hunter2' }] }
  const post = (url: string, message: object) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(message),
    })

  test('from a task is redacted by the hooks of its tool, in whichever request it is fetched', async () => {
    const answers = [{ task: { taskId: 't1', status: 'working' } }, secret]
    const url = await listening((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers.shift() }))
      })
    })
    const proxy = await proxyTo(url, 'files')
    expect(await (await post(proxy.url, call)).text()).toContain('t1')
    const fetched = await post(proxy.url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/result',
      params: { taskId: 't1' },
    })
    expect(await fetched.json()).toMatchObject({ result: { content: [{ text: '[gone]' }] } })
  })

  test('on a resumed stream is redacted by the hooks of its tool', async () => {
    const url = await listening((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's1' })
        if (request.method === 'GET') response.write(`data: ${JSON.stringify({ id: 1, result: secret })}\n\n`)
        response.end()
      })
    })
    const proxy = await proxyTo(url, 'files')
    const session = { 'mcp-session-id': 's1' }
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...session }
    await (
      await fetch(proxy.url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...call, params: { name: 'call' } }),
      })
    ).text()
    const resumed = await fetch(proxy.url, {
      headers: { accept: 'text/event-stream', 'last-event-id': '1', ...session },
    })
    expect(await resumed.text()).toContain('[gone]')
  })
})
