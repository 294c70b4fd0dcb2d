import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** `pass` forwards, `silent` keeps connections open but forwards nothing, `reset` ends them. */
type ProxyMode = 'pass' | 'silent' | 'reset'

export interface HalfOpenProxy {
  readonly port: number
  mode(next: ProxyMode): void
  close(): Promise<void>
}

/** A proxy between a client and a local port that fails like a network. */
export async function halfOpenProxy(to: number): Promise<HalfOpenProxy> {
  const sockets = new Set<Socket>()
  let current: ProxyMode = 'pass'
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    if (current === 'silent') socket.pause()
    return socket
  }
  const server = createServer((near) => {
    if (current === 'reset') return near.resetAndDestroy()
    const far = keep(connect(to, '127.0.0.1'))
    keep(near)
    near.on('data', (chunk) => far.write(chunk)).on('close', () => far.destroy())
    far.on('data', (chunk) => near.write(chunk)).on('close', () => near.destroy())
    // Adding the data listener resumed the stream.
    if (current === 'silent') for (const end of [near, far]) end.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mode(next) {
      current = next
      for (const socket of sockets) {
        if (next === 'reset') socket.resetAndDestroy()
        else if (next === 'silent') socket.pause()
        else socket.resume()
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
