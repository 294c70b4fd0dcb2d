import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A path for a database, in a directory that goes with the test. */
export function databasePath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookhelm-store-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'hookhelm.db')
}
