import { existsSync, statSync } from 'node:fs'
import { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Keyring } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'
import type { Home } from './home.ts'
import { keysFromEnvironment, keysFromFile, newKey, toKeyring, writeKeys } from './keys.ts'
import { isPostgres, refuseOtherDatabases } from './open-store.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface OpenedWithKeys {
  readonly store: Store
  readonly keyring: Keyring
}

/**
 * Finds the key and opens the store with it. A key is made only where nothing is encrypted yet: with a fresh one
 * everything from before would be lost without a word.
 */
export async function openWithKeys(
  { home, env, database }: { home: Home; env: Environment; database: string },
  open: (keyring: Keyring) => Promise<Store>,
): Promise<OpenedWithKeys> {
  refuseOtherDatabases(database)
  if (!isPostgres(database)) refuseLost(database, home)
  const known = keysFromEnvironment(env) ?? keysFromFile(home.keys)
  if (known !== undefined) return { store: await open(known), keyring: known }
  const fresh = newKey()
  const keyring = toKeyring([fresh])
  const isNew = !isPostgres(database) && !existsSync(database)
  if (isNew) writeKeys(home.keys, [fresh])
  const store = await open(keyring)
  if (isNew) return { store, keyring }
  if (await store.holdsSealed()) {
    await store.close()
    throw new HookError(
      'secret.no_key',
      'the database holds encrypted values, and there is no key for them',
      {
        hint: `Set HOOKHELM_ENCRYPTION_KEY, or put the key back into ${home.keys}.`,
      },
    )
  }
  writeKeys(home.keys, [fresh])
  return { store, keyring }
}

/**
 * The token is written once the database is there, so that beside it an empty file is a damaged one, and with a key of ours
 * beside it too, a missing one is lost. Starting afresh would leave every gate open without a word. The token alone may
 * have been put there for the first start.
 */
function refuseLost(file: string, { token, keys }: Home): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  const isLost = size === undefined ? existsSync(keys) : size === 0
  if (!isLost || !existsSync(token)) return
  throw serverError(
    'store.corrupt',
    `${file} is ${size === 0 ? 'empty' : 'gone'}, and its gateway was in use`,
    {
      hint: 'Restore hookhelm.db from a backup, or remove encryption-keys and admin-token to start afresh.',
    },
  )
}
