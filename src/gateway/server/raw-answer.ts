import type { Duplex } from 'node:stream'
import type { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { retryAfterSeconds } from './answer.ts'
import { errorAnswer } from './error-answers.ts'

/** Where node:http gives no response to write to: upgrades, and bytes that are no request. */
export function answerRaw(socket: Duplex, thrown: unknown, { log, status }: RawOptions): void {
  const answer = errorAnswer(thrown, log)
  const json = JSON.stringify({ error: answer.body })
  const { retryAfterMs } = answer.body
  const head = [
    `HTTP/1.1 ${status ?? answer.status} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    'Cache-Control: no-store',
    ...(retryAfterMs === undefined ? [] : [`Retry-After: ${retryAfterSeconds(retryAfterMs)}`]),
    'Connection: close',
  ]
  socket.on('error', () => {})
  socket.end(`${head.join('\r\n')}\r\n\r\n${json}`, () => socket.destroy())
}

interface RawOptions {
  readonly log: Log
  readonly status?: number
}

interface Malformed {
  readonly status: number
  readonly error: HookError
}

const malformations: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are larger than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request was sent too slowly'],
}

/** What to say about bytes that the parser gave up on. */
export function malformed(code: string | undefined): Malformed {
  const [status, text] = malformations[code ?? ''] ?? [400, 'the bytes are no HTTP request']
  return { status, error: serverError('gateway.protocol', text) }
}
