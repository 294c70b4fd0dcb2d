import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../../engine/core/sink.ts'
import { answerRaw, malformed } from './raw-answer.ts'

/** How long and how much one connection may take. */
export interface ConnectionLimits {
  readonly headersMs: number
  readonly requestMs: number
  readonly keepAliveMs: number
  /** How often the two above are looked at. */
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

export interface Served {
  request(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  readonly log: Log
}

const MAX_HEADERS = 16_384

/** A node:http server that outlives whatever is sent to it. */
export function httpServer({ request, upgrade, log }: Served, limits: ConnectionLimits): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADERS,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    requireHostHeader: true,
    // Some clients offer h2c with every request; they are to be served, not upgraded.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  })
  server.maxConnections = limits.maxConnections
  server.maxHeadersCount = 100
  server.on('request', request)
  // Whether to send the body is only said once we know that we want it.
  server.on('checkContinue', request)
  server.on('upgrade', upgrade)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
    const { status, error: told } = malformed(error.code)
    answerRaw(socket, told, { log, status })
  })
  return server
}
