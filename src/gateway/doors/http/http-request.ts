import type { IncomingMessage, ServerResponse } from 'node:http'
import { HookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'

/** The largest request body, in bytes. */
export const MAX_BODY = 1_048_576

/** Rejects targets that the router cannot parse: `*`, a path with a backslash, a URL without a host. */
export function checkTarget({ url = '' }: IncomingMessage): void {
  const [path = ''] = url.split('?', 1)
  const isAddress = path.startsWith('/') || /^https?:\/\//.test(path)
  // The router treats a path that begins with two slashes as a path, not as a host.
  const whole = path.startsWith('/') ? `http://gateway${url}` : url
  if (isAddress && !path.includes('\\') && URL.canParse(whole)) return
  throw serverError('gateway.protocol', 'the request target is not a path')
}

/** Accepts JSON only: HTML forms of other sites can send text and form encodings without a preflight. */
export function checkMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type']
  if (type === JSON_TYPE || (type !== undefined && JSON_TYPES.test(type))) return
  throw serverError('gateway.media_type', 'the body must be JSON')
}

const JSON_TYPE = 'application/json'
const JSON_TYPES = /^application\/json\s*(;|$)/i

/** Checks the Content-Length header before any byte of the body is read. */
export function checkLength(request: IncomingMessage, maxBytes: number = MAX_BODY): void {
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw bodyTooLarge(maxBytes)
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Calls back once with the whole body or an error; not at all if the client disconnects. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  done: (body: Buffer | HookError) => void,
  maxBytes: number = MAX_BODY,
): void {
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  let length = 0
  if (request.headers.expect !== undefined) response.writeContinue()
  request.on('data', (chunk: Buffer) => {
    length += chunk.byteLength
    if (length > maxBytes) {
      request.removeAllListeners('data').removeAllListeners('end').pause()
      done(bodyTooLarge(maxBytes))
    } else if (first === undefined) first = chunk
    else if (rest === undefined) rest = [first, chunk]
    else rest.push(chunk)
  })
  request.on('end', () => done(rest === undefined ? (first ?? EMPTY) : Buffer.concat(rest, length)))
}

const EMPTY = Buffer.alloc(0)

function bodyTooLarge(maxBytes: number): HookError {
  return new HookError('input.too_large', `the body has more than ${maxBytes} bytes`)
}
