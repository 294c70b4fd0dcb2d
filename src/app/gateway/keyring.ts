import { existsSync } from 'node:fs'
import { HookError } from '../../engine/core/error.ts'
import type { Keyring } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'
import type { Home } from './home.ts'
import { keysFromEnvironment, keysFromFile, newKey, toKeyring, writeKeys } from './keys.ts'
import { isPostgres } from './open-store.ts'

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
