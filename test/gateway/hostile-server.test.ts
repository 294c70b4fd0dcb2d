import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { startGateway } from './gateway.fixture.ts'
import { running } from './running.fixture.ts'

/** Bytes as they are, and the first line of what comes back. */
function raw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.once('data', (text: string) => {
      socket.destroy()
      resolve(text.split('\r\n', 1)[0] ?? '')
    })
    socket.once('error', reject)
  })
}

interface Looked {
  readonly status: number | undefined
  readonly cookie: boolean
}

/** Not by `fetch`, which says itself how it asks. */
function look(link: string, method = 'GET', headers: Readonly<Record<string, string>> = {}): Promise<Looked> {
  return new Promise((resolve, reject) => {
    const sent = request(link, { method, headers, agent: false }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, cookie: response.headers['set-cookie'] !== undefined })
    })
    sent.on('error', reject).end()
  })
}

test('a login link is used up by nobody but the person who opens it', async () => {
  const link = (await running()).loginLink()
  expect(await look(link, 'HEAD')).toEqual({ status: 405, cookie: false })
  expect(await look(link, 'GET', { 'sec-fetch-mode': 'no-cors' })).toEqual({ status: 400, cookie: false })
  expect(await look(link, 'GET', { 'sec-purpose': 'prefetch;prerender' })).toEqual({
    status: 400,
    cookie: false,
  })
  expect(await look(link, 'GET', { 'sec-fetch-mode': 'navigate' })).toEqual({ status: 303, cookie: true })
  expect(await look(link)).toEqual({ status: 401, cookie: false })
})

test('requests that name no host or no path are refused, and a stranger writes nothing into the log', async () => {
  const gateway = await running()
  const host = `Host: ${new URL(gateway.url).host}`
  const before = gateway.logged.length
  const answers = await Promise.all(
    [
      `POST * HTTP/1.1\r\n${host}\r\nContent-Length: 0\r\n\r\n`,
      `OPTIONS * HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /a\\b HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET http://[ HTTP/1.1\r\n${host}\r\n\r\n`,
      'GET /healthz HTTP/1.0\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nHost:\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n',
      'POST /v1/dispatch HTTP/1.0\r\nContent-Length: 0\r\n\r\n',
      `GET /v1/hooks HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET //healthz HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET ${gateway.url}/healthz HTTP/1.1\r\n${host}\r\n\r\n`,
    ].map((bytes) => raw(gateway.url, bytes)),
  )
  expect(answers.map((line) => Number(line.split(' ')[1]))).toEqual([
    400, 400, 400, 400, 421, 421, 421, 421, 401, 404, 200,
  ])
  expect(gateway.logged.slice(before)).toEqual([])
})

test('what nobody foresaw is logged a few times a second, without the folders of this machine', async () => {
  const dispatcher = { dispatch: () => Promise.reject(new TypeError('unforeseen')) }
  const clock = fakeClock()
  const { dispatch, logged } = await startGateway({ dispatcher, clock })
  const fail = async () =>
    expect(
      (await dispatch({ event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: {} } })).status,
    ).toBe(500)
  for (let sent = 0; sent < 30; sent += 1) await fail()
  expect(logged.map(({ name }) => name)).toEqual(Array(5).fill('gateway.failed'))
  const stack = String(logged[0]?.fields.stack)
  expect(stack).toMatch(/at .*hostile-server\.test\.ts:\d+/)
  expect(stack).not.toMatch(/[\\/]/)
  clock.stall(1_000)
  await fail()
  expect(logged[5]).toMatchObject({ name: 'gateway.failed', fields: { error: 'unforeseen', dropped: 25 } })
})
