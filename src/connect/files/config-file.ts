import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorText } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { unusable } from '../text/config-text.ts'

/** A file as it was at one moment. */
export interface FileState {
  readonly bytes: Buffer
  readonly mode: number
}

const MAX_BYTES = 16 * 1_048_576
const OWNER_MAY_WRITE = 0o200

/** Where a file really lies: what is written goes through a link to what it leads to. */
export function realPath(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return path
  try {
    return realpathSync(path)
  } catch (thrown) {
    throw unusable(path, `is a link that leads nowhere: ${errorText(thrown)}`)
  }
}

/** Nothing when there is no such file. */
export function readState(path: string): FileState | undefined {
  let file: number
  try {
    // Without O_NONBLOCK a pipe in the place of the file would keep us waiting for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (thrown) {
    if (isCoded(thrown, 'ENOENT')) return undefined
    throw unusable(path, `cannot be opened: ${errorText(thrown)}`)
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw unusable(path, 'is no ordinary file')
    if (stats.size > MAX_BYTES) throw unusable(path, 'is larger than 16 MiB')
    return { bytes: readFileSync(file), mode: stats.mode & 0o7777 }
  } finally {
    closeSync(file)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function textOf(path: string, state: FileState): string {
  try {
    return utf8.decode(state.bytes)
  } catch {
    throw unusable(path, 'is not UTF-8')
  }
}

export function digest(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex')
}

/** Whether two moments of a file are the same. */
export function isSame(a: FileState | undefined, b: FileState | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.bytes.equals(b.bytes)
}

export interface Replacement {
  readonly path: string
  /** What was read; somebody who wrote since is not overwritten. */
  readonly expected: FileState | undefined
  /** Nothing removes the file. */
  readonly next: FileState | undefined
}

/**
 * Puts new content in the place of the old, in one step: whoever reads meanwhile sees the one or the other, and a crash
 * leaves one of them.
 */
export function replaceFile({ path, expected, next }: Replacement): void {
  const real = realPath(path)
  if (expected !== undefined && (expected.mode & OWNER_MAY_WRITE) === 0)
    throw unusable(path, 'is read-only', `Run \`chmod u+w ${path}\` if it may be changed.`)
  try {
    removeLeftovers(real)
    if (next === undefined) {
      refuseChanged(path, expected)
      rmSync(real, { force: true })
      return
    }
    const fresh = join(dirname(real), `${leftoverPrefix(real)}${process.pid}`)
    try {
      writeWhole(fresh, next, real)
      // As late as can be: what is written between this line and the next is lost.
      refuseChanged(path, expected)
      renameSync(fresh, real)
    } catch (thrown) {
      rmSync(fresh, { force: true })
      throw thrown
    }
    syncFolder(dirname(real))
  } catch (thrown) {
    if (isCoded(thrown, 'connect.changed')) throw thrown
    throw unusable(path, `cannot be written: ${errorText(thrown)}`, 'Check who owns the file and its folder.')
  }
}

/** The folders that had to be made, the outermost first. */
export function makeFolders(folder: string, mode: number): string[] {
  const missing: string[] = []
  for (let at = folder; lstatSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at)
  try {
    mkdirSync(folder, { recursive: true, mode })
  } catch (thrown) {
    throw unusable(folder, `cannot be made: ${errorText(thrown)}`)
  }
  return missing
}

/** Takes folders away again, as long as nobody put anything into them. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
  }
}

function refuseChanged(path: string, expected: FileState | undefined): void {
  if (isSame(readState(path), expected)) return
  throw serverError('connect.changed', `${path} was changed by somebody else just now; nothing was written`, {
    hint: 'Try again.',
  })
}

function writeWhole(path: string, { bytes, mode }: FileState, replaced: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, bytes)
    const old = lstatSync(replaced, { throwIfNoEntry: false })
    // An administrator who connects for somebody else leaves the file to its owner.
    if (old !== undefined && old.uid !== process.getuid?.()) fchownSync(file, old.uid, old.gid)
    fchmodSync(file, mode)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The rename itself must survive a power cut. */
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

/** What a process left that was killed between writing and renaming. */
function removeLeftovers(path: string): void {
  const prefix = leftoverPrefix(path)
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      rmSync(join(dirname(path), name), { force: true })
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return isCoded(thrown, 'EPERM')
  }
}

function isCoded(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
