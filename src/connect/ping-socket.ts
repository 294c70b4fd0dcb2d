import { connect } from 'node:net'

const TIMEOUT_MS = 2_000

/** Whether a server accepts connections on a unix socket. Sends nothing. */
export function pingSocket(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: TIMEOUT_MS })
    const settle = (isListening: boolean) => {
      socket.destroy()
      resolve(isListening)
    }
    socket.once('connect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
  })
}
