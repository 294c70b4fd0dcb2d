import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { after } from '../../engine/core/after.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Door } from '../door.ts'
import { LineConnection } from './line-connection.ts'
import { hasCode, prepareSocketDirectory } from './socket-path.ts'

export interface SocketServerOptions {
  readonly door: Door
  readonly path: string
  /** This process holds the lock of the data directory: only then may it remove a stale socket. */
  readonly holdsLock: boolean
  readonly uid: number
}

/** Serves dispatches of local clients as JSON lines on a unix socket. */
export interface SocketServer {
  listen(): Promise<void>
  close(graceMs: number): Promise<void>
}

const MAX_CONNECTIONS = 1_000

export function createSocketServer({ door, path, holdsLock, uid }: SocketServerOptions): SocketServer {
  const { clock } = door
  const connections = new Set<LineConnection>()
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = new LineConnection(socket, door)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  server.maxConnections = MAX_CONNECTIONS

  const bind = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path }, () => {
        server.off('error', reject)
        // Until here only the directory protected the socket.
        chmodSync(path, 0o600)
        resolve()
      })
    })

  return {
    async listen() {
      prepareSocketDirectory(path, uid)
      try {
        await bind()
      } catch (thrown) {
        if (!hasCode(thrown, 'EADDRINUSE'))
          throw serverError('gateway.socket', `cannot listen on ${path}`, { cause: thrown })
        await removeStale(path, { holdsLock, uid })
        await bind()
      }
    },
    async close(graceMs) {
      door.capacity.stop()
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.end()
      const callOff = after(clock, graceMs, () => {
        for (const connection of connections) connection.destroy()
      })
      await ended
      callOff()
    },
  }
}

interface StaleOptions {
  readonly holdsLock: boolean
  readonly uid: number
}

/** A killed process leaves its socket behind. Removes it if it is a socket of this user and no process answers. */
async function removeStale(path: string, { holdsLock, uid }: StaleOptions): Promise<void> {
  const found = lstatSync(path)
  if (!found.isSocket() || found.uid !== uid)
    throw serverError('gateway.socket', `${path} exists and is not a socket of this user`)
  const answer = await tryConnect(path)
  if (answer === 'connected') throw serverError('gateway.running', `another gateway answers on ${path}`)
  if (answer !== 'refused' || !holdsLock)
    throw serverError('gateway.socket', `${path} exists, and its owner cannot be determined`)
  unlinkSync(path)
}

function tryConnect(path: string): Promise<'connected' | 'refused' | 'unclear'> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve('connected')
    })
    socket.once('error', (error) => resolve(hasCode(error, 'ECONNREFUSED') ? 'refused' : 'unclear'))
  })
}
