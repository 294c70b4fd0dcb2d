import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { misbehaviours } from './misbehaviours.ts'

/** One request that arrived completely. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** An HTTP server on the loopback interface. The path of a request selects how it misbehaves; `paths` lists the ways. */
export interface BadReceiver {
  readonly origin: string
  readonly port: number
  readonly paths: readonly string[]
  /** Every complete request, in order. */
  readonly received: readonly Received[]
  /** How many connections were opened so far. */
  readonly connections: () => number
  /** Drops all connections and stops listening. */
  close(): Promise<void>
}

/** Starts a bad receiver, on a new HTTP server or on `server`, which may speak TLS. */
export async function badReceiver(server: Server = createServer()): Promise<BadReceiver> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    text(request).then(
      (body) => {
        const path = request.url?.split('?', 1)[0] ?? '/'
        received.push({
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          body,
        })
        const times = received.filter((one) => one.path.split('?', 1)[0] === path).length
        const behave = Object.hasOwn(misbehaviours, path) ? misbehaviours[path] : misbehaviours['/404']
        behave?.({ response, socket: request.socket, times, headers: request.headers, body })
      },
      () => undefined,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    paths: Object.keys(misbehaviours),
    received,
    connections: () => connections,
    close() {
      // Most of these connections never end by themselves.
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
