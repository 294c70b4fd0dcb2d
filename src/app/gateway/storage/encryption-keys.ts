import { randomBytes } from 'node:crypto'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Edition } from '../../../engine/core/values/edition.ts'
import { createSecrets, type Keyring, type Secrets } from '../../../safe/secrets/secret.ts'
import { writePrivateFile } from '../../../safe/write-private-file.ts'
import type { Store } from '../../../store/store.ts'
import { gatewayHome, lockGatewayHome, readPrivateFile } from './gateway-home.ts'
import { assertSupportedDatabase, isPostgres, openStore } from './open-store.ts'

type Environment = Readonly<Record<string, string | undefined>>
interface EncryptionKey {
  readonly id: string
  readonly key: string
}

/** `HOOKHELM_ENCRYPTION_KEY` is one key, or several as `id:key,id:key` with the current key first. */
export function keysFromEnvironment(env: Environment): Keyring | undefined {
  const given = env.HOOKHELM_ENCRYPTION_KEY
  if (given === undefined || given === '') return undefined
  return keyringOf(given.split(',').map((part) => parseKey(part.trim())))
}

/** The file has one `id:key` per line, the current key first. */
export function keysFromFile(path: string): Keyring | undefined {
  const text = readPrivateFile(path)
  return text === undefined ? undefined : keyringOf(text.trim().split('\n').map(parseKey))
}

export function newEncryptionKey(): EncryptionKey {
  return { id: `k${randomBytes(4).toString('hex')}`, key: randomBytes(32).toString('hex') }
}

export function writeKeys(path: string, keys: readonly EncryptionKey[]): void {
  writePrivateFile(path, `${keys.map(({ id, key }) => `${id}:${key}`).join('\n')}\n`)
}

export function keyringOf([current, ...others]: readonly EncryptionKey[]): Keyring {
  if (current === undefined) throw serverError('gateway.setting', 'there is no encryption key')
  return { current, others }
}

function parseKey(text: string): EncryptionKey {
  const colon = text.indexOf(':')
  return colon < 0 ? { id: 'main', key: text } : { id: text.slice(0, colon), key: text.slice(colon + 1) }
}

/** Counts encryptions per key across restarts: a key is safe for a limited number of them. */
export interface KeyUses {
  save(): Promise<void>
}

export function trackKeyUses(secrets: Secrets, store: Pick<Store, 'addKeyUses'>): KeyUses {
  let saved = secrets.used()
  return {
    async save() {
      const now = secrets.used()
      const added = Object.entries(now).flatMap(([id, times]) => {
        const more = times - (saved[id] ?? 0)
        return more > 0 ? [[id, more] as const] : []
      })
      saved = now
      if (added.length > 0) await store.addKeyUses(Object.fromEntries(added))
    },
  }
}

interface RotateOptions {
  readonly env: Environment
  readonly log: Log
  readonly database?: string
  readonly edition?: Edition
}

/**
 * Encrypts every stored value under a new key and returns how many changed. The new key is on disk before the first value
 * uses it, and the old key stays until the last value is done, so an interrupted rotation can run again.
 */
export async function rotateKeys({ env, log, edition = 'lite', ...options }: RotateOptions): Promise<number> {
  const home = gatewayHome(env)
  const database = options.database ?? home.database
  assertSupportedDatabase(database)
  const lock = isPostgres(database) ? undefined : lockGatewayHome(home.lock)
  try {
    const given = keysFromEnvironment(env)
    const existing = given ?? keysFromFile(home.keys)
    if (existing === undefined) throw serverError('gateway.setting', 'there is no encryption key to rotate')
    // The operator changes keys in the environment: the first key of the list is the new one.
    const keyring = given ?? addNewKey(home.keys, existing)
    const store = await openStore({ database, keyring, edition, log })
    try {
      const renewed = await encryptAgain(store, keyring, log)
      if (given === undefined) writeKeys(home.keys, [textKey(keyring.current)])
      return renewed
    } finally {
      await store.close()
    }
  } finally {
    lock?.release()
  }
}

/** Several keys in the file are an interrupted rotation: it continues with its new key. */
function addNewKey(path: string, existing: Keyring): Keyring {
  if ((existing.others ?? []).length > 0) return existing
  const keys = [newEncryptionKey(), textKey(existing.current)]
  writeKeys(path, keys)
  return keyringOf(keys)
}

function textKey({ id, key }: Keyring['current']): EncryptionKey {
  return { id, key: typeof key === 'string' ? key : Buffer.from(key).toString('hex') }
}

const PAGE = 200

async function encryptAgain(store: Store, keyring: Keyring, log: Log): Promise<number> {
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
      throw serverError('store.unavailable', 'the store does not save the newly encrypted values')
    renewed += written
  }
}
