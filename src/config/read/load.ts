import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorText, HookError } from '../../engine/core/error.ts'

export type Level = 'managed' | 'user' | 'repository'

/** A file as it was at one moment: what is hashed is what is parsed. */
export interface LoadedFile {
  readonly text: string
  readonly hash: string
}

const MAX_BYTES = 1_048_576
const CHUNK = 65_536
const GROUP_WRITABLE = 0o020
const OTHERS_WRITABLE = 0o002
const STICKY = 0o1000

export interface Owner {
  readonly uid: number | undefined
}

/** On Windows there are no user ids, and nothing is asked of them. */
const me: Owner = { uid: process.getuid?.() }

export interface LoadOptions {
  readonly owner?: Owner
  readonly maxBytes?: number
}

/** Reads a file that decides what may run: an ordinary one, ours, not too large, UTF-8. Undefined if there is none. */
export function loadFile(path: string, level: Level, options: LoadOptions = {}): LoadedFile | undefined {
  const { owner = me, maxBytes = MAX_BYTES } = options
  const file = opened(path)
  if (file === undefined) return undefined
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw unreadable(path, 'is no ordinary file')
    refuseStrangers(path, stats, level, owner)
    const folder = dirname(path)
    refuseStrangers(folder, statSync(folder), level, owner)
    return decoded(path, contentOf(file, path, maxBytes))
  } finally {
    closeSync(file)
  }
}

/** Whoever can write the file, or put another one in its place, can run commands as us. */
export function refuseStrangers(path: string, stats: Stats, level: Level, owner: Owner = me): void {
  if (owner.uid === undefined) return
  const { uid, mode } = stats
  if (uid !== 0 && uid !== owner.uid) throw untrusted(path, `belongs to user ${uid}`)
  const writable = OTHERS_WRITABLE | (level === 'managed' ? GROUP_WRITABLE : 0)
  // In a folder like /tmp nobody can replace what is not his.
  const guarded = stats.isDirectory() && (mode & STICKY) !== 0
  if ((mode & writable) !== 0 && !guarded) throw untrusted(path, 'can be written by others')
}

function opened(path: string): number | undefined {
  try {
    // Without O_NONBLOCK a pipe in the place of the file would keep us waiting for ever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw unreadable(path, `cannot be opened: ${errorText(error)}`)
  }
}

/** What it claims to weigh may be wrong by the time it is read. */
function contentOf(file: number, path: string, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const read = readSync(file, chunk, 0, CHUNK, null)
    if (read === 0) return Buffer.concat(chunks, length)
    length += read
    if (length > maxBytes) throw unreadable(path, `has more than ${maxBytes} bytes`)
    chunks.push(chunk.subarray(0, read))
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(path: string, bytes: Buffer): LoadedFile {
  try {
    return { text: utf8.decode(bytes), hash: createHash('sha256').update(bytes).digest('hex') }
  } catch {
    throw unreadable(path, 'is not UTF-8')
  }
}

export function unreadable(path: string, why: string): HookError {
  return new HookError('config.unreadable', `${path} ${why}`)
}

function untrusted(path: string, why: string): HookError {
  return new HookError('config.untrusted_owner', `${path} ${why}`)
}
