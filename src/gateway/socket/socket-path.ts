import { hash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

export interface SocketPlaces {
  /** The data directory. */
  readonly home: string
  /** `$XDG_RUNTIME_DIR`, where there is one. */
  readonly runtimeDir: string | undefined
  /** Where everybody may write. */
  readonly tempDir: string
  readonly uid: number
}

/** The kernel takes 104 or 108 bytes, by its kind. */
const MAX_PATH_BYTES = 100
const NAME = 'gateway.sock'

/** Where the socket of a data directory lies: server and client come to the same path without asking each other. */
export function socketPath({ home, runtimeDir, tempDir, uid }: SocketPlaces): string {
  const near = join(home, 'run', NAME)
  if (isShort(near)) return near
  // One file for each data directory, as long as its path may be.
  const name = `${hash('sha256', home, 'hex').slice(0, 16)}.sock`
  const candidates = [
    ...(runtimeDir === undefined || runtimeDir === '' ? [] : [join(runtimeDir, 'hookhelm', name)]),
    join(tempDir, `hookhelm-${uid}`, name),
  ]
  const path = candidates.find(isShort)
  if (path === undefined) throw serverError('gateway.socket', 'every path for the socket is too long')
  return path
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES
}

/**
 * Makes the directory of the socket, or sees that the one there is ours alone. In a place where everybody may write,
 * somebody else may have been first, with a directory of theirs or a link to one of ours.
 */
export function prepareSocketDirectory(path: string, uid: number): void {
  const directory = dirname(path)
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 })
    checkParent(dirname(directory), uid)
    makeIfMissing(directory)
    closeToOthers(directory, uid)
  } catch (thrown) {
    if (isCoded(thrown, 'gateway.socket')) throw thrown
    throw serverError('gateway.socket', `${directory}: ${errorText(thrown)}`, { cause: thrown })
  }
  const wrong = whatIsWrong(lstatSync(directory), uid)
  if (wrong !== undefined) throw serverError('gateway.socket', `${directory} ${wrong}`)
}

function whatIsWrong(directory: Stats, uid: number): string | undefined {
  if (!directory.isDirectory()) return 'is no directory'
  if (directory.uid !== uid) return 'belongs to somebody else'
  return (directory.mode & 0o077) === 0 ? undefined : 'can be written to by others'
}

/** A copy from a backup is open to others. One they could write to is left alone: what lies in it may be theirs. */
function closeToOthers(directory: string, uid: number): void {
  const found = lstatSync(directory)
  const isOurs = found.isDirectory() && found.uid === uid && !isWritableByOthers(found)
  if (isOurs && (found.mode & 0o077) !== 0) chmodSync(directory, 0o700)
}

/** Whoever may rename in the directory above can put another one in the place of ours. */
function checkParent(parent: string, uid: number): void {
  const found = lstatSync(parent)
  const isOurs = found.uid === uid || found.uid === 0
  if (isOurs && (!isWritableByOthers(found) || isSticky(found))) return
  throw serverError('gateway.socket', `others may rename what lies in ${parent}`)
}

const isWritableByOthers = ({ mode }: Stats): boolean => (mode & 0o022) !== 0
const isSticky = ({ mode }: Stats): boolean => (mode & 0o1000) !== 0

function makeIfMissing(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (thrown) {
    if (!isCoded(thrown, 'EEXIST')) throw thrown
  }
}

export function isCoded(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
