import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

/**
 * One gateway per data folder. The lock of a database file is the one lock that Node can take and that the system gives
 * back when a process dies, however it dies.
 */
export function takeLock(path: string): { release(): void } {
  let opened: DatabaseSync | undefined
  try {
    const held = new DatabaseSync(path)
    opened = held
    held.exec(
      'pragma locking_mode = exclusive; begin exclusive; create table if not exists lock (holder); commit',
    )
    // By its path: closing a second handle of the file would give the lock back.
    chmodSync(path, 0o600)
    return { release: () => held.close() }
  } catch (thrown) {
    opened?.close()
    if (isBusy(thrown))
      throw serverError('gateway.running', `another gateway uses ${path.replace(/[^/]*$/, '')}`)
    throw serverError('gateway.setting', `${path} cannot be locked: ${errorText(thrown)}`, {
      hint: 'Move it away and start again; it holds nothing but the lock.',
      cause: thrown,
    })
  }
}

const SQLITE_BUSY = 5

/** The lowest byte of an extended result is the plain one. */
function isBusy(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'errcode' in thrown &&
    typeof thrown.errcode === 'number' &&
    (thrown.errcode & 0xff) === SQLITE_BUSY
  )
}
