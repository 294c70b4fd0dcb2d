import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

/** Replaces a file atomically, readable by its owner only: a crash or a concurrent reader sees the old text or the new one. */
export function writePrivateFile(path: string, text: string): void {
  const fresh = `${path}.${randomUUID()}`
  try {
    const file = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(fresh, path)
  } catch (thrown) {
    rmSync(fresh, { force: true })
    throw thrown
  }
}
