import { connect } from 'node:net'
import { after } from '../engine/core/values/after.ts'
import { systemClock } from '../engine/core/values/clock.ts'

const TIMEOUT_MS = 2_000

/** Whether a server accepts connections on a unix socket. Sends nothing. */
export function pingSocket(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (isListening: boolean) => {
      cancelTimeout()
      socket.destroy()
      resolve(isListening)
    }
    const cancelTimeout = after(systemClock, TIMEOUT_MS, () => settle(false))
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}
