import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../engine/core/error.ts'
import { unusable } from '../text/config-text.ts'

const PATIENCE_MS = 20_000

/**
 * One at a time changes configurations. The lock of a database file is given back by the system when a process dies,
 * however it dies.
 */
export function locked<T>(folder: string, work: () => T): T {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'lock.db')
  let held: DatabaseSync | undefined
  try {
    held = new DatabaseSync(path)
    held.exec(`pragma busy_timeout = ${PATIENCE_MS}; begin exclusive`)
  } catch (thrown) {
    held?.close()
    throw unusable(
      path,
      `cannot be locked: ${errorText(thrown)}`,
      'Another `hookhelm connect` may be at work.',
    )
  }
  try {
    return work()
  } finally {
    held.close()
  }
}
