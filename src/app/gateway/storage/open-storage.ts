import { existsSync, statSync } from 'node:fs'
import { handlerError } from '../../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { createSecrets, type Keyring, type Secrets } from '../../../safe/secrets/secret.ts'
import { cacheSettings, type Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'
import { seedBuiltins } from '../../../stored-hooks/builtins/seed-builtins.ts'
import type { GatewayContext } from '../open-gateway.ts'
import {
  type KeyUses,
  keyringOf,
  keysFromEnvironment,
  keysFromFile,
  newEncryptionKey,
  trackKeyUses,
  writeKeys,
} from './encryption-keys.ts'
import { type AdminToken, adminToken, defaultTenant, disableCommands } from './first-start.ts'
import { type GatewayHome, lockGatewayHome } from './gateway-home.ts'
import { assertSupportedDatabase, isPostgres, openStore } from './open-store.ts'

/** Everything that the gateway keeps on disk, opened and migrated. */
export interface GatewayStorage {
  readonly store: Store
  readonly secrets: Secrets
  readonly keyUses: KeyUses
  readonly settings: Settings
  readonly defaultTenant: string
  readonly adminToken: AdminToken
  /** This process holds the lock of the data folder, so it may remove a stale unix socket. */
  readonly holdsLock: boolean
}

/** Locks the data folder, opens the store with its keys, and writes what a first start needs. */
export async function openStorage(context: GatewayContext): Promise<GatewayStorage> {
  const { options, home, edition, clock, log, cleanup } = context
  const database = options.database ?? home.database
  const holdsLock = !isPostgres(database) || options.socket !== false
  if (holdsLock) {
    const lock = lockGatewayHome(home.lock)
    cleanup.add(() => lock.release())
  }
  const { store, keyring } = await openStoreWithKeys(context, database)
  cleanup.add(() => store.close())
  const secrets = createSecrets(keyring, { log, used: await store.addKeyUses({}) })
  const keyUses = trackKeyUses(secrets, store)
  cleanup.add(() => keyUses.save())
  const tenant = await defaultTenant(store, edition, clock)
  const token = await adminToken(home.token, store, clock)
  await disableCommands(store, edition, { clock, log })
  await seedBuiltins({ store, clock, log })
  const settings = await cacheSettings(store, options.settings ?? {})
  return { store, secrets, keyUses, settings, defaultTenant: tenant, adminToken: token, holdsLock }
}

interface OpenedStore {
  readonly store: Store
  readonly keyring: Keyring
}

/**
 * Finds the encryption key and opens the store with it. A new key is made only while nothing is encrypted: with a new key
 * every existing secret would be lost silently.
 */
async function openStoreWithKeys(context: GatewayContext, database: string): Promise<OpenedStore> {
  const { options, home, env, edition, clock, log } = context
  const { aroundStore = (opened) => opened } = options
  const open = async (keyring: Keyring): Promise<OpenedStore> => ({
    store: aroundStore(await openStore({ database, keyring, edition, clock, log })),
    keyring,
  })
  assertSupportedDatabase(database)
  if (!isPostgres(database)) assertNotLost(database, home)
  const known = keysFromEnvironment(env) ?? keysFromFile(home.keys)
  if (known !== undefined) return open(known)
  const fresh = newEncryptionKey()
  const isNew = !isPostgres(database) && !existsSync(database)
  if (isNew) writeKeys(home.keys, [fresh])
  const opened = await open(keyringOf([fresh]))
  if (isNew) return opened
  if (await opened.store.holdsSealed()) {
    await opened.store.close()
    throw handlerError('secret.no_key', 'the database holds encrypted values, and their key is missing', {
      hint: `Set HOOKHELM_ENCRYPTION_KEY, or restore the key file ${home.keys}.`,
    })
  }
  writeKeys(home.keys, [fresh])
  return opened
}

/**
 * Refuses to replace a lost database with an empty one, which would silently remove every hook. The token file is written
 * after the database: next to it, an empty database is damaged, and next to token and key file, a missing one is lost. A
 * token file alone may have been prepared for the first start.
 */
function assertNotLost(file: string, { token, keys }: GatewayHome): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  const isLost = size === undefined ? existsSync(keys) : size === 0
  if (!isLost || !existsSync(token)) return
  throw serverError(
    'store.corrupt',
    `the database ${file} is ${size === 0 ? 'empty' : 'gone'}, but its gateway has been used before`,
    { hint: 'Restore hookhelm.db from a backup, or remove encryption-keys and admin-token to start afresh.' },
  )
}
