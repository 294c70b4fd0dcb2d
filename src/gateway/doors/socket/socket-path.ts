import { hash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'

export interface SocketFolders {
  /** The data directory. */
  readonly home: string
  /** `$XDG_RUNTIME_DIR`, if it is set. */
  readonly runtimeDir: string | undefined
  /** The shared directory for temporary files. */
  readonly tempDir: string
  readonly uid: number
}

/** Kernels accept 104 or 108 bytes. */
const MAX_PATH_BYTES = 100
const NAME = 'gateway.sock'

/** The socket path of a data directory. Server and client compute the same path independently. */
export function socketPath({ home, runtimeDir, tempDir, uid }: SocketFolders): string {
  const near = join(home, 'run', NAME)
  if (isShort(near)) return near
  // One socket per data directory, however long its path is.
  const name = `${hash('sha256', home, 'hex').slice(0, 16)}.sock`
  const candidates = [
    ...(runtimeDir === undefined || runtimeDir === '' ? [] : [join(runtimeDir, 'hookhelm', name)]),
    join(tempDir, `hookhelm-${uid}`, name),
  ]
  const path = candidates.find(isShort)
  if (path === undefined)
    throw serverError('gateway.socket', 'every possible path of the unix socket is too long')
  return path
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES
}

/**
 * Creates the directory of the socket, or checks that the existing one is private to this user. In a shared directory
 * another user may have created it first, or placed a link there.
 */
export function prepareSocketDirectory(path: string, uid: number): void {
  const directory = dirname(path)
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 })
    checkParent(dirname(directory), uid)
    makeIfMissing(directory)
    makePrivate(directory, uid)
  } catch (thrown) {
    if (hasCode(thrown, 'gateway.socket')) throw thrown
    throw serverError('gateway.socket', `${directory}: ${errorText(thrown)}`, { cause: thrown })
  }
  const problem = directoryProblem(lstatSync(directory), uid)
  if (problem !== undefined) throw serverError('gateway.socket', `${directory} ${problem}`)
}

function directoryProblem(directory: Stats, uid: number): string | undefined {
  if (!directory.isDirectory()) return 'is not a directory'
  if (directory.uid !== uid) return 'belongs to another user'
  return (directory.mode & 0o077) === 0 ? undefined : 'can be written to by others'
}

/** Removes read access of others, which a restored backup may have. A directory others can write to stays as it is. */
function makePrivate(directory: string, uid: number): void {
  const found = lstatSync(directory)
  const isOurs = found.isDirectory() && found.uid === uid && !isWritableByOthers(found)
  if (isOurs && (found.mode & 0o077) !== 0) chmodSync(directory, 0o700)
}

/** A user who can rename entries of the parent directory could replace the socket directory. */
function checkParent(parent: string, uid: number): void {
  const found = lstatSync(parent)
  const isOurs = found.uid === uid || found.uid === 0
  if (isOurs && (!isWritableByOthers(found) || isSticky(found))) return
  throw serverError('gateway.socket', `other users can rename entries of ${parent}`)
}

const isWritableByOthers = ({ mode }: Stats): boolean => (mode & 0o022) !== 0
const isSticky = ({ mode }: Stats): boolean => (mode & 0o1000) !== 0

function makeIfMissing(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) throw thrown
  }
}

export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
