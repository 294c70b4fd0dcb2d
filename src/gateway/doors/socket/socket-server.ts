import { once } from 'node:events'
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createRevocationWatch, type RevocationWatch } from '../../../access/revocation-watch.ts'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import { errorText } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { endedWithin, repeat } from '../../../engine/core/time/after.ts'
import type { Ticker } from '../../../engine/core/time/clock.ts'
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

/** Each call of a coding agent that waits for a person holds a connection. */
const MAX_CONNECTIONS = 10_000
/** How often the gateway checks that its socket file still exists. */
const CHECK_MS = 1_000

/** Serves dispatches of local clients as JSON lines on a unix socket. */
export class SocketServer {
  readonly #options: SocketServerOptions
  readonly #revocations: RevocationWatch
  readonly #connections = new Set<LineConnection>()
  #server: Server | undefined
  #watch: Ticker | undefined
  #isClosed = false
  /** Why the socket could not be restored. */
  #problem = ''

  constructor(options: SocketServerOptions) {
    this.#options = options
    const { clock, log, tokens } = options.door
    const admission = { isStillValid: ({ key }: AdmittedCaller) => tokens.isStillValid(key) }
    this.#revocations = createRevocationWatch({ admission, tokens, clock, log })
  }

  async listen(): Promise<void> {
    const { path, door } = this.#options
    this.#server = await this.#open()
    this.#watch = repeat(
      door.clock,
      CHECK_MS,
      () => this.#restore(),
      (thrown) => {
        if (this.#problem !== errorText(thrown))
          door.log('gateway.socket_lost', { path, error: errorText(thrown) })
        this.#problem = errorText(thrown)
      },
    )
    // Without its socket nothing else may keep the gateway alive.
    this.#watch.hold(true)
  }

  async close(graceMs: number): Promise<void> {
    const { door } = this.#options
    this.#isClosed = true
    this.#watch?.stop()
    this.#revocations.stop()
    door.capacity.stop()
    const ended = new Promise<void>((resolve) =>
      this.#server === undefined ? resolve() : this.#server.close(() => resolve()),
    )
    for (const connection of this.#connections) connection.end()
    await endedWithin(door.clock, graceMs, ended)
    for (const connection of this.#connections) connection.destroy()
    await ended
  }

  readonly #accept = (socket: Socket): void => {
    const connection = new LineConnection(socket, this.#options.door, this.#revocations)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  async #open(): Promise<Server> {
    const { path, holdsLock, uid } = this.#options
    prepareSocketDirectory(path, uid)
    try {
      return await bind(path, this.#accept)
    } catch (thrown) {
      if (!hasCode(thrown, 'EADDRINUSE'))
        throw serverError('gateway.socket', `cannot listen on ${path}`, { cause: thrown })
      await removeStale(path, { holdsLock, uid })
      return await bind(path, this.#accept)
    }
  }

  /** Listens again when the socket file was deleted. Without it, every gate on this machine blocks. */
  async #restore(): Promise<void> {
    const { path, door } = this.#options
    // A file that another process put there is not touched.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return
    // Closing removes the file at this path, so the old server closes before the new one listens.
    this.#server?.close()
    this.#server = undefined
    const opened = await this.#open()
    if (this.#isClosed) return void opened.close()
    this.#server = opened
    this.#problem = ''
    door.log('gateway.socket_restored', { path })
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
