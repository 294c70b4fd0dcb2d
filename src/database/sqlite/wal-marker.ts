import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { serverError } from '../../engine/core/errors/server-errors.ts'

/**
 * SQLite silently opens a database whose write-ahead log (WAL) is missing, without everything committed to it. So a marker
 * file records that a WAL exists. We create the marker once the WAL exists, and remove it before SQLite removes the WAL.
 * After a kill both remain.
 */
function markerOf(file: string): string {
  return `${file}-open`
}

/** Throws `store.corrupt` if the database or its WAL is missing. Runs before SQLite, which creates missing files. */
export function assertWalPresent(file: string): void {
  const wal = sizeOf(`${file}-wal`)
  const marked = existsSync(markerOf(file))
  if ((sizeOf(file) ?? 0) === 0 && (marked || (wal ?? 0) > 0))
    throw serverError('store.corrupt', `${file} is empty or missing, but its write-ahead log exists`)
  if (wal !== undefined) return
  // SQLite itself removes this file before the WAL.
  if (existsSync(`${file}-shm`))
    throw serverError(
      'store.corrupt',
      `the write-ahead log of ${file} is missing, with everything committed to it`,
    )
  if (marked)
    throw serverError('store.corrupt', `the write-ahead log of ${file} is missing`, {
      hint: `Restore it from a backup. If another program has opened the file since the crash, the log is merged: remove ${markerOf(file)}.`,
    })
}

/** Called once SQLite has created the WAL. */
export function writeWalMarker(file: string): void {
  if (existsSync(`${file}-wal`)) touch(markerOf(file), 'w')
}

export function removeWalMarker(file: string): void {
  rmSync(markerOf(file), { force: true })
}

/** Creates the file readable by its owner only. The WAL inherits its mode. */
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
