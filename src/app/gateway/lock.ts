import { DatabaseSync } from 'node:sqlite'
import { serverError } from '../../engine/core/server-errors.ts'

/**
 * One gateway per data folder. The lock of a database file is the one lock that Node can take and that the system gives
 * back when a process dies, however it dies.
 */
export function takeLock(path: string): { release(): void } {
  const held = new DatabaseSync(path)
  try {
    held.exec(
      'pragma locking_mode = exclusive; begin exclusive; create table if not exists lock (holder); commit',
    )
  } catch {
    held.close()
    throw serverError('gateway.running', `another gateway uses ${path.replace(/[^/]*$/, '')}`)
  }
  return { release: () => held.close() }
}
