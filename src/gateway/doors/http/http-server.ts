import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../../../engine/core/records/sink.ts'
import { describeParserError, sendRawError } from './http-reply.ts'

/** Time and size limits of connections. */
export interface ConnectionLimits {
  readonly headersMs: number
  readonly requestMs: number
  readonly keepAliveMs: number
  /** How often headers and request times are checked. */
  readonly checkMs: number
  readonly maxConnections: number
}

export const connectionLimits: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 60_000,
  checkMs: 1_000,
  maxConnections: 10_000,
}

export interface HttpServerHandlers {
  request(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  readonly log: Log
}

const MAX_HEADERS = 16_384

/** A node:http server with limits, which survives malformed requests. */
export function httpServer({ request, upgrade, log }: HttpServerHandlers, limits: ConnectionLimits): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADERS,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    requireHostHeader: true,
    // Some clients offer h2c with every request: serve them over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  })
  server.maxConnections = limits.maxConnections
  server.maxHeadersCount = 100
  server.on('request', request)
  // The handler sends 100 Continue only after it has admitted the request.
  server.on('checkContinue', request)
  server.on('upgrade', upgrade)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
    const { status, error: described } = describeParserError(error.code)
    sendRawError(socket, described, { log, status })
  })
  return server
}
