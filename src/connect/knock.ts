import { connect } from 'node:net'
import { after } from '../engine/core/after.ts'
import { systemClock } from '../engine/core/clock.ts'

const PATIENCE_MS = 2_000

/** Whether somebody listens on a unix socket. Nothing is said there. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (isThere: boolean) => {
      callOff()
      socket.destroy()
      resolve(isThere)
    }
    const callOff = after(systemClock, PATIENCE_MS, () => settle(false))
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}
