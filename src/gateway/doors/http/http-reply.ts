import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import { errorReply } from './error-reply.ts'

/** Headers of every API response. */
export const apiHeaders: [name: string, value: string][] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
]

const jsonHeaders: readonly string[] = ['Content-Type', 'application/json', ...apiHeaders.flat()]

/** Header and body leave in one write, because the length is known and the body is text. */
export function sendJson(response: ServerResponse, json: string): void {
  response.writeHead(200, [...jsonHeaders, 'Content-Length', String(Buffer.byteLength(json))])
  response.end(json)
}

/** After these statuses the connection closes: the body is unread, or the client should not send more. */
const CLOSING = new Set([413, 421, 503])

export function sendErrorReply(response: ServerResponse, thrown: unknown, log: Log): void {
  const { status, body } = errorReply(thrown, log)
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const json = JSON.stringify({ error: body })
  const headers: string[] = [...jsonHeaders, 'Content-Length', String(Buffer.byteLength(json))]
  if (body.retryAfterMs !== undefined) headers.push('Retry-After', retryAfterSeconds(body.retryAfterMs))
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer')
  // After `Expect: 100-continue` the client may or may not send the body, so the connection cannot be reused.
  const expectsContinue = response.req.headers.expect !== undefined
  if (CLOSING.has(status) || expectsContinue) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  response.end(json)
}

export function retryAfterSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}

interface RawReplyOptions {
  readonly log: Log
  readonly status?: number
}

/** Writes an error where node:http offers no response object: upgrades, and bytes that are not HTTP. */
export function sendRawError(socket: Duplex, thrown: unknown, { log, status }: RawReplyOptions): void {
  const reply = errorReply(thrown, log)
  const json = JSON.stringify({ error: reply.body })
  const { retryAfterMs } = reply.body
  const head = [
    `HTTP/1.1 ${status ?? reply.status} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
    ...apiHeaders.map(([name, value]) => `${name}: ${value}`),
    ...(retryAfterMs === undefined ? [] : [`Retry-After: ${retryAfterSeconds(retryAfterMs)}`]),
    'Connection: close',
  ]
  socket.on('error', () => {})
  socket.end(`${head.join('\r\n')}\r\n\r\n${json}`, () => socket.destroy())
}

interface ParserError {
  readonly status: number
  readonly error: HookError
}

const parserErrors: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are larger than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request was sent too slowly'],
}

/** Status and error for bytes that the HTTP parser rejected. */
export function describeParserError(code: string | undefined): ParserError {
  const [status, text] = parserErrors[code ?? ''] ?? [400, 'the bytes are not an HTTP request']
  return { status, error: serverError('gateway.protocol', text) }
}
