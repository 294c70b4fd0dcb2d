import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { connection } from '../../src/cli/remote/connection.ts'
import { createClient } from '../../src/client/client.ts'
import { hookhelm } from '../gateway/doors.fixture.ts'
import { running, shared } from '../gateway/running.fixture.ts'

const HANG = 120_000
const gateway = shared()
let token = ''
beforeAll(() => {
  token = gateway().token
})

/** A program of another user on a port. `answer` gets every connection. */
async function imposter(answer: (socket: Socket) => void, port = 0) {
  const seen: string[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('data', (chunk) => seen.push(String(chunk)))
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  onTestFinished(close)
  const address = server.address()
  const at = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${at}`, heard: () => seen.join('') }
}

const proofOf = (text: string) =>
  `HTTP/1.1 204 No Content\r\nHookhelm-Proof: ${text}\r\nKeep-Alive: timeout=5\r\n\r\n`
const imposters: Readonly<Record<string, (socket: Socket) => void>> = {
  'says nothing more': (socket) => socket.end(),
  'accepts everything': (socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')),
  'makes up a proof': (socket) => socket.on('data', () => socket.write(proofOf('A'.repeat(43)))),
  'sends an empty proof': (socket) => socket.on('data', () => socket.write(proofOf(' '))),
  'sends the challenge back': (socket) =>
    socket.on('data', (chunk) => socket.write(proofOf(/challenge: (\S+)/.exec(String(chunk))?.[1] ?? ''))),
  'sends more than one answer': (socket) =>
    socket.on('data', () => socket.write(`${proofOf('A')}${proofOf('B')}`)),
  'passes everything on to the gateway': (socket) => {
    const on = connect(Number(new URL(gateway().url).port), '127.0.0.1')
    on.on('error', () => {})
    socket.pipe(on).pipe(socket)
  },
}

test.each(Object.keys(imposters))(
  'the owner’s token is not sent to a program on the port that %s',
  async (name) => {
    const { url, heard } = await imposter((socket) => imposters[name]?.(socket))
    const client = createClient({ url, token, proven: true })
    onTestFinished(() => client.close())
    await expect(client.call('status', {})).rejects.toMatchObject({
      code: expect.stringMatching(/^gateway\.un(?:proven|reachable)$/),
    })
    const feed = client.subscribe('events.tail', {})
    if (name !== 'says nothing more')
      await expect(feed.next()).rejects.toMatchObject({ code: 'gateway.unproven' })
    expect(heard()).toContain('GET /v1/proof')
    expect(heard()).not.toContain(token)
    expect(heard().toLowerCase()).not.toContain('authorization')
  },
)

test('a client that had its gateway proves every further connection, also after another program took the port', async () => {
  const own = await running()
  const client = createClient({ url: own.url, token: own.token, proven: true })
  onTestFinished(() => client.close())
  expect(await client.call('status', {})).toMatchObject({ version: expect.anything() })
  await own.end()
  const { heard } = await imposter(
    (socket) => imposters['accepts everything']?.(socket),
    Number(new URL(own.url).port),
  )
  await expect(client.call('status', {})).rejects.toMatchObject({ code: 'gateway.unproven' })
  expect(heard()).not.toContain(own.token)
})

test('a gateway proves itself to its own client on every kind of connection, and to nobody without a challenge', async () => {
  const env = { HOOKHELM_HOME: gateway().home }
  expect(connection({}, env)).toEqual({ url: gateway().url, token, proven: true })
  expect(connection({ tokenFile: `${gateway().home}/admin-token` }, env)).toMatchObject({ proven: true })
  expect(connection({}, { ...env, HOOKHELM_TOKEN: 'other' })).toEqual({ url: gateway().url, token: 'other' })
  const client = createClient({ ...connection({}, env) })
  onTestFinished(() => client.close())
  expect(await client.call('caller.get', {})).toMatchObject({ role: 'owner' })
  const abort = new AbortController()
  const feed = client.subscribe('events.tail', {}, { signal: abort.signal })
  const first = feed.next()
  await gateway().until(
    async () => {
      await gateway().dispatch('notification', {})
      return Promise.race([first, new Promise((resolve) => setTimeout(resolve, 20))])
    },
    (item) => item !== undefined,
  )
  abort.abort()
  for (const headers of [{}, { 'hookhelm-challenge': 'short' }, { 'hookhelm-challenge': 'x'.repeat(200) }])
    expect((await fetch(`${gateway().url}/v1/proof`, { headers: Object.entries(headers) })).status).toBe(404)
})

test(
  'the command line sends nothing to a program that took the port of its gateway',
  async () => {
    const heard: unknown[] = []
    const server = createHttpServer((request, response) => {
      heard.push(request.headers.authorization)
      response.setHeader('content-type', 'application/json').end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const { code, stderr } = await hookhelm({ ...gateway(), url }, ['status'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('did not prove')])
    expect(heard).toEqual([undefined])
  },
  HANG,
)
