import fs from 'node:fs'
import path from 'node:path'

/** Throws unless only we and root could have put the socket there: whoever else may write could answer for the gateway. */
export function checkPlace(socketPath) {
  const own = process.getuid?.()
  if (own === undefined) throw new Error('the owner of the gateway’s socket cannot be checked on this system')
  const folder = look(fs.statSync, path.dirname(socketPath))
  if (folder.uid !== own && folder.uid !== 0)
    throw new Error('the directory of the gateway’s socket belongs to somebody else')
  if ((folder.mode & 0o022) !== 0)
    throw new Error('others may write to the directory of the gateway’s socket')
  const socket = look(fs.lstatSync, socketPath)
  if (!socket.isSocket()) throw new Error('there is no socket where the gateway’s should be')
  if (socket.uid !== own && socket.uid !== 0) throw new Error('the gateway’s socket belongs to somebody else')
}

function look(stat, file) {
  try {
    return stat(file)
  } catch (error) {
    throw new Error(`the gateway is not running (${error.code ?? 'error'})`)
  }
}
