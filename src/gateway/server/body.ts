import type { IncomingMessage, ServerResponse } from 'node:http'
import { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

/** What a request may weigh. */
export const MAX_BODY = 1_048_576

/** Forms of foreign sites can send text and forms only, so that anything but JSON is refused. */
export function checkMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type']
  if (type === JSON_TYPE || (type !== undefined && JSON_TYPES.test(type))) return
  throw serverError('gateway.media_type', 'the body must be JSON')
}

const JSON_TYPE = 'application/json'
const JSON_TYPES = /^application\/json\s*(;|$)/i

/** By its header alone, without having read a byte. */
export function checkLength(request: IncomingMessage, maxBytes: number = MAX_BODY): void {
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Calls back once: with the whole body, or with the reason there is none. Not at all when the caller went away. */
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
      done(tooLarge(maxBytes))
    } else if (first === undefined) first = chunk
    else if (rest === undefined) rest = [first, chunk]
    else rest.push(chunk)
  })
  request.on('end', () => done(rest === undefined ? (first ?? EMPTY) : Buffer.concat(rest, length)))
}

const EMPTY = Buffer.alloc(0)

function tooLarge(maxBytes: number): HookError {
  return new HookError('input.too_large', `the body has more than ${maxBytes} bytes`)
}
