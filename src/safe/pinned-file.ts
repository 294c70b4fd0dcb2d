import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { systemClock } from '../engine/core/time/clock.ts'

/** A file that a command may use only with this content. */
export interface PinnedFile {
  /** Absolute, or relative to the directory of the command. */
  readonly path: string
  /** SHA-256 of the content in hex. Without it there must be no file at the path. */
  readonly sha256?: string
  /** The path may be a symbolic link. */
  readonly link?: boolean
}

/** What the path of a pinned file holds at present. */
export type PinnedFileState = 'same' | 'changed' | 'missing' | 'link' | 'appeared'

const CHUNK = 65_536
/**
 * A change within the same tick of the file system's clock leaves the same times, so the hash of a file that was changed
 * just now is not kept.
 */
const RECENT_MS = 2_000
const hashes = new LRUCache<string, { readonly identity: string; readonly sha256: string }>({ max: 2_000 })

/** Throws `trust.script` if one of the files is not what it was when it was pinned. */
export function assertPinnedFiles(files: readonly PinnedFile[], cwd: string): void {
  for (const file of files) {
    const state = pinnedFileState(file, cwd)
    if (state !== 'same') throw handlerError('trust.script', `${resolve(cwd, file.path)} ${problems[state]}`)
  }
}

const problems: Readonly<Record<Exclude<PinnedFileState, 'same'>, string>> = {
  changed: 'has changed since it was trusted, so the command did not run',
  missing: 'does not exist; the command was trusted with this file, so it did not run',
  link: 'was a file when it was trusted and is a symbolic link now, so the command did not run',
  appeared: 'did not exist when the hook was trusted, so the command did not run',
}

/** Compares a file with its pin. Reads the content only if the metadata changed since it was last read. */
export function pinnedFileState({ path, sha256, link = false }: PinnedFile, cwd: string): PinnedFileState {
  const absolute = resolve(cwd, path)
  const stats = statsOf(absolute, link)
  if (stats === undefined) return sha256 === undefined ? 'same' : 'missing'
  if (sha256 === undefined) return 'appeared'
  if (stats.isSymbolicLink()) return 'link'
  if (!stats.isFile()) return 'changed'
  const identity = identityOf(stats)
  const known = hashes.get(absolute)
  if (known?.identity === identity) return known.sha256 === sha256 ? 'same' : 'changed'
  return hashFile(absolute, link) === sha256 ? 'same' : 'changed'
}

/** SHA-256 of a regular file; undefined if it cannot be read. Follows a symbolic link only if `link` is set. */
export function hashFile(path: string, link: boolean): string | undefined {
  let file: number | undefined
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for ever.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (link ? 0 : constants.O_NOFOLLOW)
    file = openSync(path, flags)
    const stats = fstatSync(file, { bigint: true })
    if (!stats.isFile()) return undefined
    const sha256 = hashContent(file)
    const isSettled = systemClock.now() - Number(stats.ctimeMs) > RECENT_MS
    const isUnchanged = identityOf(fstatSync(file, { bigint: true })) === identityOf(stats)
    if (isSettled && isUnchanged) hashes.set(path, { identity: identityOf(stats), sha256 })
    return sha256
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function hashContent(file: number): string {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (let read = readSync(file, chunk, 0, CHUNK, null); read > 0; ) {
    hash.update(chunk.subarray(0, read))
    read = readSync(file, chunk, 0, CHUNK, null)
  }
  return hash.digest('hex')
}

/** The change time is part of it, because programs cannot set it back. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

function statsOf(path: string, link: boolean): BigIntStats | undefined {
  try {
    return (link ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
