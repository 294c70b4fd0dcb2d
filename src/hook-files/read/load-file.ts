import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorText, type HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'

/** Who a hook file belongs to: the administrator, the user or a repository. */
export type HookFileLevel = 'managed' | 'user' | 'repository'

/** The content of a file and the hash of that same content. */
export interface LoadedFile {
  readonly text: string
  readonly hash: string
}

const MAX_BYTES = 1_048_576
const CHUNK = 65_536
const GROUP_WRITABLE = 0o020
const OTHERS_WRITABLE = 0o002
const STICKY = 0o1000

/** The user that a file has to belong to. */
export interface FileOwner {
  readonly uid: number | undefined
}

/** Windows has no user ids, so owners are not checked there. */
const currentUser: FileOwner = { uid: process.getuid?.() }

export interface LoadOptions {
  readonly owner?: FileOwner
  readonly maxBytes?: number
}

/**
 * Reads a file that decides what may run. It must be a regular file of the current user or root, within the size limit,
 * in UTF-8. Returns undefined if there is no file; throws a coded error for any other problem.
 */
export function loadFile(
  path: string,
  level: HookFileLevel,
  options: LoadOptions = {},
): LoadedFile | undefined {
  const { owner = currentUser, maxBytes = MAX_BYTES } = options
  const file = openFile(path)
  if (file === undefined) return undefined
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw unreadableFile(path, 'is not a regular file')
    assertSafeOwner(path, stats, level, owner)
    const folder = dirname(path)
    assertSafeOwner(folder, statSync(folder), level, owner)
    return decodeFile(path, readContent(file, path, maxBytes))
  } finally {
    closeSync(file)
  }
}

/** Throws if another user can write the file or replace it, because hooks run commands as the current user. */
export function assertSafeOwner(
  path: string,
  stats: Stats,
  level: HookFileLevel,
  owner: FileOwner = currentUser,
): void {
  if (owner.uid === undefined) return
  const { uid, mode } = stats
  if (uid !== 0 && uid !== owner.uid) throw unsafeOwner(path, `belongs to user ${uid}`)
  const writable = OTHERS_WRITABLE | (level === 'managed' ? GROUP_WRITABLE : 0)
  // In a folder with the sticky bit, such as /tmp, users can replace only their own files.
  const isSticky = stats.isDirectory() && (mode & STICKY) !== 0
  if ((mode & writable) !== 0 && !isSticky) throw unsafeOwner(path, 'can be written by others')
}

function openFile(path: string): number | undefined {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for ever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw unreadableFile(path, `cannot be opened: ${errorText(error)}`)
  }
}

/** Counts the bytes while reading: the size that `stat` reports may have changed. */
function readContent(file: number, path: string, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const read = readSync(file, chunk, 0, CHUNK, null)
    if (read === 0) return Buffer.concat(chunks, length)
    length += read
    if (length > maxBytes) throw unreadableFile(path, `has more than ${maxBytes} bytes`)
    chunks.push(chunk.subarray(0, read))
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeFile(path: string, bytes: Buffer): LoadedFile {
  try {
    return { text: utf8.decode(bytes), hash: createHash('sha256').update(bytes).digest('hex') }
  } catch {
    throw unreadableFile(path, 'is not UTF-8')
  }
}

/** The error of a file that cannot be read; `why` completes the sentence that begins with its path. */
export function unreadableFile(path: string, why: string): HookError {
  return handlerError('config.unreadable', `${path} ${why}`)
}

function unsafeOwner(path: string, why: string): HookError {
  return handlerError('config.untrusted_owner', `${path} ${why}`)
}
