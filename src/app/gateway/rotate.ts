import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { createSecrets, type Keyring } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'
import { homeOf } from './home.ts'
import { keysFromEnvironment, keysFromFile, newKey, toKeyring, writeKeys } from './keys.ts'
import { takeLock } from './lock.ts'
import { isPostgres, openStore, refuseOtherDatabases } from './open-store.ts'

const PAGE = 200

interface RotateOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly database?: string
  readonly edition?: Edition
}

/**
 * Encrypts everything anew under a fresh key. The new key is on disk before the first value is written with it, and the old
 * one stays until the last is done, so that it can be interrupted at any moment and run again.
 */
export async function rotateKeys({ env, log, edition = 'lite', ...options }: RotateOptions): Promise<number> {
  const home = homeOf(env)
  const database = options.database ?? home.database
  refuseOtherDatabases(database)
  const lock = isPostgres(database) ? undefined : takeLock(home.lock)
  try {
    const given = keysFromEnvironment(env)
    const kept = given ?? keysFromFile(home.keys)
    if (kept === undefined) throw serverError('gateway.setting', 'there is no encryption key to rotate')
    // Keys in the environment are the operator's to change: the first one of the list is the new one.
    const keyring = given ?? withFreshKey(home.keys, kept)
    const store = await openStore({ database, keyring, edition, log })
    try {
      const renewed = await reseal(store, keyring, log)
      if (given === undefined) writeKeys(home.keys, [textOf(keyring.current)])
      return renewed
    } finally {
      await store.close()
    }
  } finally {
    lock?.release()
  }
}

/** Several keys in the file mean that a rotation was interrupted: it goes on with the key it had made. */
function withFreshKey(path: string, kept: Keyring): Keyring {
  if ((kept.others ?? []).length > 0) return kept
  const keys = [newKey(), textOf(kept.current)]
  writeKeys(path, keys)
  return toKeyring(keys)
}

function textOf({ id, key }: Keyring['current']): { id: string; key: string } {
  return { id, key: typeof key === 'string' ? key : Buffer.from(key).toString('hex') }
}

async function reseal(store: Store, keyring: Keyring, log: Log): Promise<number> {
  const secrets = createSecrets(keyring, { log })
  let renewed = 0
  for (;;) {
    const cells = await store.sealedUnderOtherKeys(keyring.current.id, PAGE)
    if (cells.length === 0) return renewed
    const changed = cells.flatMap((cell) => {
      const sealed = secrets.renew(cell.sealed, cell)
      return sealed === undefined ? [] : [{ cell, sealed }]
    })
    const written = await store.resealCells(changed)
    if (written === 0)
      throw serverError('store.unavailable', 'values that should be encrypted anew do not change')
    renewed += written
  }
}
