import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { systemClock } from '../engine/core/time/clock.ts'

interface Visit {
  readonly response: ServerResponse
  readonly socket: Socket
  /** How many requests this path has had, this one included. */
  readonly times: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

type Behave = (visit: Visit) => void

const MEBIBYTE = 1_048_576
const json = { 'content-type': 'application/json' }
const block = JSON.stringify({ decision: 'block', reason: 'the receiver says no' })

const answer =
  (status: number, body: string | Buffer = '', headers: Readonly<Record<string, string>> = json): Behave =>
  ({ response }) =>
    response.writeHead(status, headers).end(body)

/** Writes to the socket directly, bypassing the HTTP module. */
const raw =
  (...lines: readonly string[]): Behave =>
  ({ socket }) =>
    socket.end(lines.join('\r\n'))

const redirect = (location: string, status = 302): Behave => answer(status, '', { location })

/** Sends one byte every 5 ms until the socket closes. */
function drip(socket: Socket, text: string): void {
  let at = 0
  const ticker = systemClock.every(5, () => socket.write(text[at++ % text.length] ?? ' '))
  socket.on('close', () => ticker.stop())
}

function flood({ response }: Visit): void {
  const chunk = Buffer.alloc(65_536, 0x20)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

/** Path → behaviour. */
export const misbehaviours: Readonly<Record<string, Behave>> = {
  '/allow': answer(200, '{"continue":true,"decision":"allow","reason":"","updatedInput":{}}'),
  '/block': answer(200, block),
  '/continue-false': answer(200, '{"continue":false,"reason":"stopped"}'),
  '/decision-first': answer(200, '{"continue":false,"decision":"allow"}'),
  '/context': answer(200, '{"decision":"allow","additionalContext":"mind the gap"}'),
  '/rewrite': answer(200, '{"decision":"allow","updatedInput":{"command":"ls"}}'),
  '/empty': answer(200),
  '/204': answer(204),
  '/echo': ({ response, body }) => response.writeHead(200, json).end(body),
  '/echo-headers': ({ response, headers }) =>
    response.writeHead(200, json).end(JSON.stringify({ decision: 'block', reason: JSON.stringify(headers) })),
  '/html': answer(200, '<html>welcome</html>', { 'content-type': 'text/html' }),
  '/unknown-json': answer(200, '{"status":"ok"}'),
  '/truncated-json': answer(200, '{"decision":"block"'),
  '/duplicate-keys': answer(200, '{"decision":"block","decision":"allow"}'),
  '/prototype': answer(200, '{"decision":"allow","__proto__":{"decision":"block"}}'),
  '/deep': answer(200, '['.repeat(100_000)),
  '/invalid-utf8': answer(200, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
  '/latin1-block': answer(200, Buffer.from('{"decision":"block","reason":"d\u00e9j\u00e0"}', 'latin1')),
  '/latin1-rewrite': answer(200, Buffer.from('{"updatedInput":{"command":"d\u00e9j\u00e0"}}', 'latin1')),
  '/bom': answer(200, `\uFEFF${block}`),
  '/500': answer(500, block),
  '/500-once': ({ times, ...visit }) => answer(times === 1 ? 500 : 200, block)({ times, ...visit }),
  '/503-with-retry-after': answer(503, '', { 'retry-after': '0' }),
  '/400': answer(400, '{"decision":"allow"}'),
  '/404': answer(404),
  '/410': answer(410),
  '/429': answer(429, '', { 'retry-after': '0' }),
  '/304': answer(304),
  '/redirect-metadata': redirect('http://169.254.169.254/latest/meta-data/'),
  '/redirect-literal': redirect('http://127.0.0.1:1/', 307),
  '/redirect-self': redirect('/allow', 308),
  '/redirect-see-other': redirect('/allow', 303),
  '/hang': () => undefined,
  '/hang-headers': ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-type: appl'),
  '/hang-body': ({ response }) =>
    response.writeHead(200, { ...json, 'content-length': '99' }).write('{"deci'),
  '/drip-headers': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
    drip(socket, 'slow')
  },
  '/drip-body': ({ response, socket }) => {
    response.writeHead(200, { ...json, 'content-length': '999999' }).flushHeaders()
    drip(socket, ' ')
  },
  '/reset': ({ socket }) => socket.resetAndDestroy(),
  '/reset-once': ({ times, ...visit }) =>
    times === 1 ? visit.socket.resetAndDestroy() : answer(200, block)({ times, ...visit }),
  '/reset-mid-body': ({ response, socket }) => {
    response
      .writeHead(200, { ...json, 'content-length': '999' })
      .write('{"decision":"allow"', () => socket.resetAndDestroy())
  },
  '/short-body': raw('HTTP/1.1 200 OK', 'content-length: 99', '', '{"decision":"allow"}'),
  '/long-body': raw('HTTP/1.1 200 OK', 'content-length: 20', '', '{"decision":"allow"}{"decision":"block"}'),
  '/two-lengths': raw('HTTP/1.1 200 OK', 'content-length: 2', 'content-length: 9', '', '{}'),
  '/not-http': raw('SSH-2.0-OpenSSH_9.6', ''),
  '/huge-header': raw('HTTP/1.1 200 OK', `x-huge: ${'x'.repeat(65_536)}`, 'content-length: 0', '', ''),
  '/huge': answer(200, Buffer.alloc(MEBIBYTE + 1, 0x20)),
  '/huge-length': ({ response }) => response.writeHead(200, { 'content-length': '9999999999' }).write('{'),
  '/flood': flood,
  '/gzip': answer(200, gzipSync(block), { ...json, 'content-encoding': 'gzip' }),
  '/brotli': answer(200, brotliCompressSync(block), { ...json, 'content-encoding': 'br' }),
  '/deflate': answer(200, deflateSync(block), { ...json, 'content-encoding': 'deflate' }),
  '/gzip-bomb': ({ response }) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * MEBIBYTE, 0x20))),
  '/broken-gzip': answer(200, gzipSync(block).subarray(0, -9), { 'content-encoding': 'gzip' }),
  '/no-gzip': answer(200, block, { 'content-encoding': 'gzip' }),
  '/unknown-encoding': answer(200, block, { 'content-encoding': 'rot13' }),
}
