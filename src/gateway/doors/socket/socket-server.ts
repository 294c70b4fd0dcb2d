import { once } from 'node:events'
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createRevocationWatch } from '../../../access/revocation-watch.ts'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import { errorText } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { after } from '../../../engine/core/values/after.ts'
import type { Ticker } from '../../../engine/core/values/clock.ts'
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

/** Each call of a coding agent that waits for a person holds a connection. */
const MAX_CONNECTIONS = 10_000
/** How often the gateway checks that its socket file still exists. */
const CHECK_MS = 1_000

export function createSocketServer({ door, path, holdsLock, uid }: SocketServerOptions): SocketServer {
  const { clock, log, tokens } = door
  const admission = { isStillValid: ({ key }: AdmittedCaller) => tokens.isStillValid(key) }
  const revocations = createRevocationWatch({ admission, tokens, clock, log })
  const connections = new Set<LineConnection>()
  let server: Server | undefined
  let watch: Ticker | undefined
  let isClosed = false

  const accept = (socket: Socket) => {
    const connection = new LineConnection(socket, door, revocations)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  }

  const open = async (): Promise<Server> => {
    prepareSocketDirectory(path, uid)
    try {
      return await bind(path, accept)
    } catch (thrown) {
      if (!hasCode(thrown, 'EADDRINUSE'))
        throw serverError('gateway.socket', `cannot listen on ${path}`, { cause: thrown })
      await removeStale(path, { holdsLock, uid })
      return await bind(path, accept)
    }
  }

  return {
    async listen() {
      server = await open()
      watch = watchFile()
    },
    async close(graceMs) {
      isClosed = true
      watch?.stop()
      revocations.stop()
      door.capacity.stop()
      const ended = new Promise<void>((resolve) =>
        server === undefined ? resolve() : server.close(() => resolve()),
      )
      for (const connection of connections) connection.end()
      const callOff = after(clock, graceMs, () => {
        for (const connection of connections) connection.destroy()
      })
      await ended
      callOff()
    },
  }

  /** Listens again when the socket file was deleted. Without it, every gate on this machine blocks. */
  function watchFile(): Ticker {
    let isBusy = false
    let problem = ''
    return clock.every(CHECK_MS, async () => {
      // A file that another process put there is not touched.
      if (isBusy || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return
      isBusy = true
      try {
        // Closing removes the file at this path, so the old server closes before the new one listens.
        server?.close()
        server = undefined
        const opened = await open()
        if (isClosed) return void opened.close()
        server = opened
        problem = ''
        log('gateway.socket_restored', { path })
      } catch (thrown) {
        if (problem !== errorText(thrown)) log('gateway.socket_lost', { path, error: errorText(thrown) })
        problem = errorText(thrown)
      } finally {
        isBusy = false
      }
    })
  }
}

async function bind(path: string, accept: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, accept)
  server.maxConnections = MAX_CONNECTIONS
  server.listen({ path })
  await once(server, 'listening')
  // Until here only the directory protected the socket.
  chmodSync(path, 0o600)
  return server
}

/** A killed process leaves its socket behind. Removes it if it is a socket of this user and no process answers. */
async function removeStale(
  path: string,
  { holdsLock, uid }: { readonly holdsLock: boolean; readonly uid: number },
): Promise<void> {
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
