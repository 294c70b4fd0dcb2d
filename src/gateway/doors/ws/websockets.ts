import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { RevocationWatch } from '../../../access/revocation-watch.ts'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import { endedWithin } from '../../../engine/core/time/after.ts'
import type { Door } from '../door.ts'
import { WsConnection, wsCloseReasons } from './ws-connection.ts'

/** The open WebSockets of the gateway. */
export interface WebSockets {
  /** Completes the upgrade of an admitted request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, admitted: AdmittedCaller): void
  /** Resolves when the last connection has closed, or when the time has passed. */
  close(graceMs: number): Promise<void>
}

export interface WebSocketsOptions {
  readonly door: Door
  readonly revocations: RevocationWatch
}

const MAX_PAYLOAD = 1_048_576
const PING_MS = 20_000
/** A client that does not read never sees the close frame, so the wait for its reply is limited. */
const CLOSE_MS = 5_000

export function createWebSockets({ door, revocations }: WebSocketsOptions): WebSockets {
  const { clock } = door
  const options = {
    noServer: true,
    // Compression costs memory per connection, and leaks secrets next to attacker-chosen text (CRIME).
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD,
    closeTimeout: CLOSE_MS,
    clientTracking: false,
  }
  const server = new WebSocketServer(options)
  const connections = new Set<WsConnection>()
  let emptied: (() => void) | undefined

  const pings = clock.every(PING_MS, () => {
    for (const connection of connections) connection.ping()
  })
  pings.hold(false)

  return {
    upgrade(request, socket, head, admitted) {
      server.handleUpgrade(request, socket, head, (ws) => {
        const { remoteAddress: address } = request.socket
        const connection = new WsConnection(ws, { ...admitted, address }, door)
        connections.add(connection)
        const unwatch = revocations.add(admitted, () => connection.close(wsCloseReasons.revoked))
        ws.once('close', () => {
          unwatch()
          connections.delete(connection)
          if (connections.size === 0) emptied?.()
        })
      })
    },
    async close(graceMs) {
      pings.stop()
      for (const connection of connections) connection.end()
      if (connections.size === 0) return
      const empty = new Promise<void>((resolve) => {
        emptied = resolve
      })
      await endedWithin(clock, graceMs, empty)
      for (const connection of connections) connection.terminate()
    },
  }
}
