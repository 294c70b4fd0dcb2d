import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { serverError } from '../../engine/core/server-errors.ts'

/**
 * SQLite takes a write-ahead log that is gone for one that was never there, and everything committed to it would be missing
 * without a word. So a file beside the database says that there is a log: it is made when the log is there, and removed
 * before anything that lets SQLite remove the log. After a kill both remain.
 */
function markOf(file: string): string {
  return `${file}-open`
}

/** Before SQLite sees the file, because it makes whatever is missing. */
export function refuseIncomplete(file: string): void {
  const log = sizeOf(`${file}-wal`)
  const marked = existsSync(markOf(file))
  if ((sizeOf(file) ?? 0) === 0 && (marked || (log ?? 0) > 0))
    throw serverError('store.corrupt', `${file} is empty or gone, but its write-ahead log is there`)
  if (log !== undefined) return
  // SQLite itself removes this one first.
  if (existsSync(`${file}-shm`))
    throw serverError('store.corrupt', `the write-ahead log of ${file} is gone, and what was committed to it`)
  if (marked)
    throw serverError('store.corrupt', `the write-ahead log of ${file} is gone`, {
      hint: `Restore it from a backup. If another program has opened the file since the crash, the log is merged: remove ${markOf(file)}.`,
    })
}

/** Once the log is there. */
export function markOpen(file: string): void {
  if (existsSync(`${file}-wal`)) touch(markOf(file), 'w')
}

export function unmarkOpen(file: string): void {
  rmSync(markOf(file), { force: true })
}

/** For nobody else's eyes; the log takes over the mode of the file. */
export function ensurePrivateFile(file: string): void {
  if (!existsSync(file)) touch(file, 'a')
}

function touch(file: string, flags: 'a' | 'w'): void {
  const handle = openSync(file, flags, 0o600)
  fsyncSync(handle)
  closeSync(handle)
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}
