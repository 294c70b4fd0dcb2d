import { existsSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDecider } from '../../src/client/decider.ts'
import { systemClock } from '../../src/engine/core/time/clock.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { type HttpProxy, openHttpProxy } from '../../src/mcp/http/http-proxy.ts'
import { ServerName } from '../../src/mcp/server-name.ts'
import { httpFiles, listening } from './http-server.fixture.ts'
import { folder } from './proxied.fixture.ts'

/** The hooks of these tests, in this process. */
function hooks() {
  const made = createHooks()
  const seen: unknown[] = []
  made.on('pre_tool_use', { matcher: '^mcp__(files|odd)__' }, ({ tool_input }) => {
    const path = String(tool_input.path)
    if (path.includes('forbidden')) return { kind: 'block', reason: 'not there' }
    if (path.includes('asks')) return { kind: 'ask', reason: 'may it write?' }
    if (path.includes('rewrite')) return { kind: 'allow', input: { path, text: 'rewritten' } }
    return undefined
  })
  made.on('post_tool_use', { transform: true }, ({ tool_response }) => {
    const text = JSON.stringify(tool_response)
    return text.includes('hunter2')
      ? { kind: 'allow', input: JSON.parse(text.replaceAll('hunter2', '[gone]')) }
      : undefined
  })
  for (const event of ['session_start', 'session_end'] as const)
    made.on(event, (_, { envelope }) => void seen.push([event, envelope.session, envelope.agent]))
  return { made, seen }
}

async function proxyTo(to: string, name?: string): Promise<HttpProxy & { seen: unknown[] }> {
  const { made, seen } = hooks()
  const proxy = await openHttpProxy({
    listen: { host: '127.0.0.1', port: 0 },
    to,
    decider: createDecider({ hooks: made }),
    server: new ServerName(name),
    clock: systemClock,
    failOpen: false,
    warn: () => {},
  })
  onTestFinished(() => proxy.close())
  return { ...proxy, seen }
}

async function client(url: string, options?: ClientOptions, headers: Record<string, string> = {}) {
  const made = new Client({ name: 'http-client', version: '1' }, options)
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  onTestFinished(() => made.close())
  return { client: made, transport, connect: () => made.connect(transport as never) }
}

async function connected(url: string, options?: ClientOptions, headers?: Record<string, string>) {
  const made = await client(url, options, headers)
  await made.connect()
  return made
}

const write = (client: Client, path: string) =>
  client.callTool({ name: 'write_file', arguments: { path, text: 'as asked' } })

/** By node:http, which sends the Host and Origin it is told. */
function raw(
  url: string,
  headers: Record<string, string>,
  body = '{}',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

describe.each(['json', 'events', 'stateless'] as const)('in front of a server that answers by %s', (kind) => {
  test('what is no tool call is the same as without the proxy', async () => {
    const server = await httpFiles(kind)
    const proxy = await proxyTo(server.url)
    const both = await Promise.all([connected(proxy.url), connected(server.url)])
    const seen = await Promise.all(
      both.map(async ({ client }) => [
        client.getServerVersion(),
        client.getServerCapabilities(),
        client.getInstructions(),
        await client.listTools(),
        await client.listResources(),
        await client.readResource({ uri: 'file:///readme' }),
        await client.getPrompt({ name: 'review', arguments: { code: 'x' } }),
        await client.readResource({ uri: 'file:///nowhere' }).catch((error) => error),
      ]),
    )
    expect(seen[0]).toEqual(seen[1])
  })

  test('a call is allowed, blocked, rewritten and its result redacted', async () => {
    const proxy = await proxyTo((await httpFiles(kind)).url)
    const { client } = await connected(proxy.url)
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
  })

  test('a hundred calls at once get each its own answer', async () => {
    const proxy = await proxyTo((await httpFiles(kind)).url)
    const { client } = await connected(proxy.url)
    const numbers = Array.from({ length: 100 }, (_, n) => n)
    const answers = await Promise.all(numbers.map((n) => client.callTool({ name: 'echo', arguments: { n } })))
    expect(answers).toMatchObject(numbers.map((n) => ({ content: [{ text: `n is ${n}` }] })))
  })

  test('a person is asked in the answer to the very call', async () => {
    const proxy = await proxyTo((await httpFiles(kind)).url)
    const made = await client(proxy.url, { capabilities: { elicitation: {} } })
    const answers = ['accept', 'decline'] as const
    let asked = 0
    made.client.setRequestHandler(ElicitRequestSchema, async () => ({ action: answers[asked++] ?? 'cancel' }))
    await made.connect()
    const path = join(folder(), 'asks')
    expect(await write(made.client, path)).toMatchObject({ content: [{ text: 'wrote as asked' }] })
    expect(await write(made.client, path)).toMatchObject({ isError: true })
    expect(asked).toBe(2)
  })
})

test('progress is told on the way', async () => {
  const proxy = await proxyTo((await httpFiles('events')).url)
  const { client } = await connected(proxy.url)
  const seen: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  await client.callTool({ name: 'steps' }, CallToolResultSchema, { onprogress })
  expect(seen).toEqual([1, 2, 3])
})

test('the session is the server’s own, ends with DELETE, and hooks hear of both', async () => {
  const server = await httpFiles('events')
  const proxy = await proxyTo(server.url)
  const { transport } = await connected(proxy.url)
  expect([...server.sessions.keys()]).toEqual([transport.sessionId])
  await transport.terminateSession()
  expect(server.sessions.size).toBe(0)
  await expect.poll(() => proxy.seen.length).toBe(2)
  const session = (proxy.seen[0] as string[])[1]
  expect(proxy.seen).toEqual([
    ['session_start', session, 'http-client'],
    ['session_end', session, 'http-client'],
  ])
})

test('what the server sends of itself arrives', async () => {
  const server = await httpFiles('events')
  const proxy = await proxyTo(server.url)
  const { client, transport } = await connected(proxy.url)
  const told = new Promise<void>((resolve) =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  )
  const session = server.sessions.get(transport.sessionId ?? '')
  await expect.poll(() => server.headers.some(({ accept }) => accept === 'text/event-stream')).toBe(true)
  await expect
    .poll(async () => {
      await session?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
      return Promise.race([told.then(() => true), new Promise((resolve) => setImmediate(resolve, false))])
    })
    .toBe(true)
})

test('headers of the client reach the server, those of the connection do not', async () => {
  const server = await httpFiles('json')
  const proxy = await proxyTo(server.url)
  const { client } = await connected(proxy.url, {}, { authorization: 'Bearer abc', 'x-api-key': 'def' })
  await client.listTools()
  const last = server.headers.at(-1)
  expect(last).toMatchObject({
    authorization: 'Bearer abc',
    'x-api-key': 'def',
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': [...server.sessions.keys()][0],
    host: new URL(server.url).host,
  })
  expect(last).not.toHaveProperty('origin')
})

describe('who may call', () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page that hides', { origin: 'null' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a page whose name points here', { host: 'evil.example' }],
    ['the same with the right port', { host: 'evil.example:PORT' }],
    [
      'a page whose name points here, of the same origin',
      { host: 'evil.example:PORT', origin: 'http://evil.example:PORT' },
    ],
  ])('%s may not', async (_, given) => {
    const server = await httpFiles('json')
    const proxy = await proxyTo(server.url)
    const { port } = new URL(proxy.url)
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('PORT', port)]),
    )
    expect(await raw(proxy.url, { ...JSON_TYPE, ...headers })).toMatchObject({ status: 403 })
    expect(server.headers).toEqual([])
  })

  test('nobody from the network', async () => {
    const { made } = hooks()
    const options = {
      to: 'http://127.0.0.1:1/mcp',
      decider: createDecider({ hooks: made }),
      server: new ServerName('x'),
    }
    const listen = { host: '0.0.0.0', port: 0 }
    const rest = { clock: systemClock, failOpen: false, warn: () => {} }
    await expect(openHttpProxy({ ...options, ...rest, listen })).rejects.toMatchObject({
      code: 'gateway.exposed',
    })
  })
})

describe('what cannot be forwarded', () => {
  const call = (name: string) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${name}","arguments":{}}}`

  test.each([
    ['is no JSON by its type', { 'content-type': 'text/plain' }, '{}', 415],
    ['is written in another encoding', { 'content-type': 'application/json; charset=utf-7' }, '{}', 415],
    ['is no JSON', JSON_TYPE, '{', 400],
    ['names a method twice', JSON_TYPE, call('x').replace('"id"', '"method":"ping","id"'), 400],
    ['is too large', JSON_TYPE, `"${'x'.repeat(17 * 1_048_576)}"`, 413],
    ['is of a session that nobody here knows', { ...JSON_TYPE, 'mcp-session-id': 'old' }, call('x'), 404],
  ])('because it %s', async (_, headers, body, status) => {
    const server = await httpFiles('json')
    const proxy = await proxyTo(server.url)
    const answer = await raw(proxy.url, headers, body).catch(() => ({ status: 413 }))
    expect(answer).toMatchObject({ status })
    expect(server.headers).toEqual([])
  })

  test('because it came before initialize is refused', async () => {
    const proxy = await proxyTo((await httpFiles('stateless')).url)
    expect((await raw(proxy.url, JSON_TYPE, call('echo'))).text).toContain('initialize comes first')
  })

  test('because nobody is there is answered 502', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1/mcp', 'files')
    const { status, text } = await raw(proxy.url, JSON_TYPE, call('echo'))
    expect(status).toBe(502)
    expect(JSON.parse(text)).toMatchObject({ id: 7, error: { code: -32603 } })
  })

  test('other paths and verbs are not served', async () => {
    const proxy = await proxyTo((await httpFiles('json')).url)
    expect((await fetch(proxy.url.replace('/mcp', '/other'))).status).toBe(404)
    expect((await fetch(proxy.url, { method: 'PUT', body: '{}' })).status).toBe(405)
  })
})

describe('events', () => {
  const result = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hunter2"}]}}'
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call"}}'
  const scripted = (bytes: string, type = 'text/event-stream') =>
    listening((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': type })
        // Byte by byte, as a network may please.
        for (const byte of Buffer.from(bytes)) response.write(Buffer.of(byte))
        response.end()
      })
    })

  test.each([
    ['comments and pings', ': hello\n\nevent: ping\ndata: {}\n\n'],
    ['line ends of Windows', 'id: 1\r\ndata: {"jsonrpc":"2.0","method":"a"}\r\n\r\n'],
    ['line ends of old', 'data: {"jsonrpc":"2.0","method":"a"}\r\rdata: {"jsonrpc":"2.0","method":"b"}\r\r'],
    ['several lines of data', 'retry: 5\ndata: {"jsonrpc":"2.0",\ndata:"method":"ä\u2028"}\nid:\n\n'],
    ['other answers', 'data: {"jsonrpc":"2.0","id":2,"result":{"text":"hunter2"}}\n\n'],
    ['no end', 'data: {"jsonrpc":"2.0","method":"a"}'],
  ])('with %s pass as they came', async (_, bytes) => {
    const proxy = await proxyTo(await scripted(bytes), 'odd')
    expect((await raw(proxy.url, JSON_TYPE, call)).text).toBe(bytes)
    const headers = { accept: 'text/event-stream' }
    expect(await (await fetch(proxy.url, { headers })).text()).toBe(bytes)
  })

  test.each([
    ['', `event: message\nid: 9\ndata: ${result}\n\n`],
    [' in several lines', `id: 9\r\ndata: ${result.replace(',"id"', ',\r\ndata: "id"')}\r\n\r\n`],
    [' under another name', `event: other\ndata: ${result}\n\n`],
    [' without an end', `data: ${result}`],
    [' in a list', `data: [${result}]\n\n`],
  ])('with the result of a tool%s are redacted, also when the stream is taken up again', async (_, bytes) => {
    const proxy = await proxyTo(await scripted(bytes), 'odd')
    const { text } = await raw(proxy.url, JSON_TYPE, call)
    const headers = { accept: 'text/event-stream', 'last-event-id': '8' }
    const again = await (await fetch(proxy.url, { headers })).text()
    for (const seen of [text, again]) {
      expect(seen).toContain('[gone]')
      expect(seen).not.toContain('hunter2')
      if (bytes.includes('id: 9')) expect(seen).toContain('id: 9')
    }
  })

  test('what is served as something else is looked at all the same', async () => {
    for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
      const proxy = await proxyTo(await scripted(result, type), 'odd')
      expect((await raw(proxy.url, JSON_TYPE, call)).text).toBe(result.replace('hunter2', '[gone]'))
    }
  })

  test('a batch is gated one by one, and answered as one', async () => {
    const proxy = await proxyTo(await scripted(`[${result}]`, 'application/json'), 'odd')
    const blocked =
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"path":"forbidden"}}}'
    const { text } = await raw(proxy.url, JSON_TYPE, `[${call},${blocked}]`)
    expect(JSON.parse(text)).toMatchObject([
      { id: 1, result: { content: [{ text: '[gone]' }] } },
      { id: 2, result: { isError: true, content: [{ text: 'not there' }] } },
    ])
  })

  test('that send the client elsewhere are left out', async () => {
    const endpoint = 'event: endpoint\ndata: http://127.0.0.1:1/past-the-hooks\n\n'
    const proxy = await proxyTo(await scripted(`${endpoint}: stays\n\n`), 'odd')
    expect(await (await fetch(proxy.url)).text()).toBe(': stays\n\n')
  })

  test('a redirect is not followed', async () => {
    const url = await listening(
      (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    )
    const proxy = await proxyTo(url, 'odd')
    expect(await raw(proxy.url, JSON_TYPE, call)).toMatchObject({ status: 502 })
  })

  test('a refusal of the server comes through with its headers', async () => {
    const url = await listening(
      (_, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer x' }).end('no'),
    )
    const proxy = await proxyTo(url, 'odd')
    const answer = await fetch(proxy.url, { method: 'POST', headers: JSON_TYPE, body: call })
    expect([answer.status, answer.headers.get('www-authenticate'), await answer.text()]).toEqual([
      401,
      'Bearer x',
      'no',
    ])
  })
})
