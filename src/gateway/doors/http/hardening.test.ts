import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { rawConnection, startGateway, toolCall } from '../../../../test/gateway/gateway.fixture.ts'
import { systemClock } from '../../../engine/core/time/clock.ts'

const fast = { headersMs: 150, requestMs: 150, keepAliveMs: 100, checkMs: 25 }

describe('4.10 #149', () => {
  test('headers of 64 KB are answered 431', async () => {
    const { port, host } = await startGateway()
    const answer = await rawConnection(
      port,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'x'.repeat(65_536)}\r\n\r\n`,
    ).all
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).toContain('"gateway.protocol"')
  })

  test('a length and chunks at once are answered 400', async () => {
    const { port, host, token } = await startGateway()
    const answer = await rawConnection(
      port,
      `POST /v1/dispatch HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ).all
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('bytes that are no HTTP are answered 400', async () => {
    const { port, dispatch } = await startGateway()
    expect(await rawConnection(port, '\u0000\u0001 nonsense\r\n\r\n').all).toMatch(/^HTTP\/1\.1 400 /)
    expect((await dispatch(toolCall)).status).toBe(200)
  })

  test('a request whose headers never end is answered 408', async () => {
    const { port } = await startGateway({ limits: fast })
    const { socket, all } = rawConnection(port, 'GET / HTTP/1.1\r\n')
    const drip = systemClock.every(20, () => socket.writable && socket.write('x'))
    const answer = await all
    drip.stop()
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('a request whose body never ends is answered 408', async () => {
    const { port, host, token } = await startGateway({ limits: fast })
    const head = `POST /v1/dispatch HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`
    const { socket, all } = rawConnection(port, head)
    const drip = systemClock.every(20, () => socket.writable && socket.write('x'))
    const answer = await all
    drip.stop()
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('connections that say nothing are closed, and events are decided meanwhile', async () => {
    const { port, dispatch } = await startGateway({ limits: fast })
    const silent = Array.from({ length: 500 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.resume()
      return new Promise<void>((resolve) => socket.on('close', () => resolve()))
    })
    expect((await dispatch(toolCall)).status).toBe(200)
    await Promise.all(silent)
  })

  test('more connections than allowed are dropped', async () => {
    const { port } = await startGateway({ limits: { maxConnections: 2 } })
    const open = [rawConnection(port, ''), rawConnection(port, '')]
    await Promise.all(open.map(({ socket }) => new Promise((resolve) => socket.on('connect', resolve))))
    expect(await rawConnection(port, 'GET / HTTP/1.1\r\n\r\n').all).toBe('')
  })
})

test('a client that offers h2c is served over HTTP/1.1', async () => {
  const { port, host } = await startGateway()
  const answer = await rawConnection(
    port,
    `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n`,
  ).all
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
})
