import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type ConfigFileState, readConfigState, unusableConfig } from '../agents/config/read-config.ts'
import { errorText } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { isRunning } from '../safe/process/process-table.ts'

const OWNER_MAY_WRITE = 0o200

/** Resolves a symbolic link, so that a write changes its target and keeps the link. */
export function resolveLink(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return path
  try {
    return realpathSync(path)
  } catch (thrown) {
    throw unusableConfig(path, `is a broken link: ${errorText(thrown)}`)
  }
}

export function sha256(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex')
}

export function hasSameContent(a: ConfigFileState | undefined, b: ConfigFileState | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.bytes.equals(b.bytes)
}

export interface FileReplacement {
  readonly path: string
  /** The content that was read. If the file changed since, nothing is written. */
  readonly expected: ConfigFileState | undefined
  /** Undefined deletes the file. */
  readonly next: ConfigFileState | undefined
}

/** Replaces a file atomically: readers see the old or the new content, also after a crash. */
export function replaceFile({ path, expected, next }: FileReplacement): void {
  const real = resolveLink(path)
  if (expected !== undefined && (expected.mode & OWNER_MAY_WRITE) === 0)
    throw unusableConfig(path, 'is read-only', `Run \`chmod u+w ${path}\` if it may be changed.`)
  try {
    removeLeftovers(real)
    if (next === undefined) {
      assertUnchanged(path, expected)
      rmSync(real, { force: true })
      return
    }
    const fresh = join(dirname(real), `${leftoverPrefix(real)}${process.pid}`)
    try {
      writeWhole(fresh, next, real)
      // Check as late as possible: a write between this line and the next is lost.
      assertUnchanged(path, expected)
      renameSync(fresh, real)
    } catch (thrown) {
      rmSync(fresh, { force: true })
      throw thrown
    }
    syncFolder(dirname(real))
  } catch (thrown) {
    if (isCoded(thrown, 'connect.changed')) throw thrown
    throw unusableConfig(
      path,
      `cannot be written: ${errorText(thrown)}`,
      'Check who owns the file and its folder.',
    )
  }
}

/** Creates a folder with its parents. Returns those that were missing, the outermost first. */
export function createFolders(folder: string, mode: number): string[] {
  const missing: string[] = []
  for (let at = folder; lstatSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at)
  try {
    mkdirSync(folder, { recursive: true, mode })
  } catch (thrown) {
    throw unusableConfig(folder, `cannot be created: ${errorText(thrown)}`)
  }
  return missing
}

/** Removes folders, the innermost first, until one is not empty. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
  }
}

function assertUnchanged(path: string, expected: ConfigFileState | undefined): void {
  if (hasSameContent(readConfigState(path), expected)) return
  throw serverError('connect.changed', `${path} changed while it was edited; nothing was written`, {
    hint: 'Try again.',
  })
}

function writeWhole(path: string, { bytes, mode }: ConfigFileState, replaced: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, bytes)
    const old = lstatSync(replaced, { throwIfNoEntry: false })
    // An administrator may connect another user's agent: keep the owner.
    if (old !== undefined && old.uid !== process.getuid?.()) fchownSync(file, old.uid, old.gid)
    fchmodSync(file, mode)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes a rename survive a power cut. */
function syncFolder(folder: string): void {
  const file = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function leftoverPrefix(path: string): string {
  return `.${basename(path)}.hookhelm-new-`
}

/** Removes the temporary files of processes that were killed between writing and renaming. */
function removeLeftovers(path: string): void {
  const prefix = leftoverPrefix(path)
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(prefix) && isLeft(Number(name.slice(prefix.length))))
      rmSync(join(dirname(path), name), { force: true })
}

function isLeft(pid: number): boolean {
  return pid === process.pid || !isRunning(pid)
}

function isCoded(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}

const LOCK_TIMEOUT_MS = 20_000

/**
 * Runs `work` while no other process changes configurations. The operating system releases the lock of a database file
 * when its process dies.
 */
export function withLock<T>(folder: string, work: () => T): T {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'lock.db')
  let held: DatabaseSync | undefined
  try {
    held = new DatabaseSync(path)
    held.exec(`pragma busy_timeout = ${LOCK_TIMEOUT_MS}; begin exclusive`)
  } catch (thrown) {
    held?.close()
    throw unusableConfig(
      path,
      `cannot be locked: ${errorText(thrown)}`,
      'Another `hookhelm connect` may be running. Try again when it has finished.',
    )
  }
  try {
    return work()
  } finally {
    held.close()
  }
}
