import fs from 'node:fs'
import path from 'node:path'
import { checkSocketFolder } from '../client/gateway-link.cjs'

/** Throws unless only this user and root can have created the socket: another user could answer instead of the gateway. */
export function assertTrustedSocket(socketPath) {
  const uid = process.getuid?.()
  if (uid === undefined) throw new Error('this system cannot show who owns the gateway’s socket')
  const problem = checkSocketFolder(statOrThrow(fs.statSync, path.dirname(socketPath)), uid)
  if (problem === 'owner') throw new Error('the directory of the gateway’s socket belongs to another user')
  if (problem === 'mode') throw new Error('other users may write to the directory of the gateway’s socket')
  const socket = statOrThrow(fs.lstatSync, socketPath)
  if (!socket.isSocket()) throw new Error('the gateway’s socket path is not a socket')
  if (socket.uid !== uid && socket.uid !== 0) throw new Error('the gateway’s socket belongs to another user')
}

function statOrThrow(stat, file) {
  try {
    return stat(file)
  } catch (error) {
    throw new Error(`the gateway is not running (${error.code ?? 'error'})`)
  }
}
