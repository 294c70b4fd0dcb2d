import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { after } from '../../engine/core/after.ts'
import type { Admission } from '../auth/admission.ts'
import type { Admitted } from '../auth/tokens.ts'
import type { Door } from '../door.ts'
import { Connection, closings } from './connection.ts'

/** The open WebSockets of the gateway. */
export interface WebSockets {
  /** Takes over a connection whose request was admitted. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, admitted: Admitted): void
  /** Resolves when the last one is closed, or when the time is up. */
  close(graceMs: number): Promise<void>
}

export interface WebSocketsOptions {
  readonly door: Door
  readonly admission: Admission
}

const MAX_PAYLOAD = 1_048_576
/** A revoked token is noticed by then: this, and how long `isStillRight` believes itself, are below 5 s together. */
const LOOK_MS = 2_000
const PING_MS = 20_000
/** For a peer that does not read, the close frame waits behind everything else. */
const CLOSE_MS = 5_000

export function createWebSockets({ door, admission }: WebSocketsOptions): WebSockets {
  const { clock, log } = door.parts
  const options = {
    noServer: true,
    // Compression costs memory for each connection, and mixes secrets with what an attacker chose.
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD,
    closeTimeout: CLOSE_MS,
    clientTracking: false,
  }
  const server = new WebSocketServer(options)
  const connections = new Set<Connection>()
  let emptied: (() => void) | undefined

  async function look(connection: Connection): Promise<void> {
    // A store that cannot answer takes nobody's rights away: what they then ask for fails by itself.
    const isRight = await admission.isStillRight(connection.admitted).catch(() => true)
    if (isRight || !connections.has(connection)) return
    log('security.token_revoked', { token: connection.admitted.caller.name })
    connection.close(closings.notAllowed)
  }

  const looks = clock.every(LOOK_MS, () => {
    for (const connection of connections) void look(connection)
  })
  const pings = clock.every(PING_MS, () => {
    for (const connection of connections) connection.ping()
  })
  looks.hold(false)
  pings.hold(false)

  return {
    upgrade(request, socket, head, admitted) {
      server.handleUpgrade(request, socket, head, (ws) => {
        const connection = new Connection(ws, admitted, door)
        connections.add(connection)
        ws.once('close', () => {
          connections.delete(connection)
          if (connections.size === 0) emptied?.()
        })
      })
    },
    async close(graceMs) {
      looks.stop()
      pings.stop()
      for (const connection of connections) connection.end()
      if (connections.size === 0) return
      await new Promise<void>((resolve) => {
        const callOff = after(clock, graceMs, resolve)
        emptied = () => {
          callOff()
          resolve()
        }
      })
      for (const connection of connections) connection.terminate()
    },
  }
}
