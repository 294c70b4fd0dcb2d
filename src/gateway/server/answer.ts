import type { ServerResponse } from 'node:http'
import type { Log } from '../../engine/core/sink.ts'
import { errorAnswer } from './error-answers.ts'

/** On every answer of the API. */
export const apiHeaders = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
] as const

const jsonHeaders = ['Content-Type', 'application/json', ...apiHeaders.flat()] as const

/** Header and body leave in one write: the length is known and the body is text. */
export function sendJson(response: ServerResponse, json: string): void {
  response.writeHead(200, [...jsonHeaders, 'Content-Length', String(Buffer.byteLength(json))])
  response.end(json)
}

/** After these the rest of the body is not worth reading, or more of the kind would follow. */
const CLOSING = new Set([413, 421, 503])

export function sendError(response: ServerResponse, thrown: unknown, log: Log): void {
  const { status, body } = errorAnswer(thrown, log)
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const json = JSON.stringify({ error: body })
  const headers: string[] = [...jsonHeaders, 'Content-Length', String(Buffer.byteLength(json))]
  if (body.retryAfterMs !== undefined) headers.push('Retry-After', retryAfterSeconds(body.retryAfterMs))
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer')
  // Nobody knows whether a body follows that was announced and not asked for.
  const unasked = response.req.headers.expect !== undefined
  if (CLOSING.has(status) || unasked) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  response.end(json)
}

export function retryAfterSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}
