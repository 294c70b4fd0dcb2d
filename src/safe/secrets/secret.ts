import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'

/** The cell that holds a sealed text. Decryption fails in any other cell. */
export interface SealedPath {
  readonly table: string
  readonly row: string
  readonly column: string
}

interface Key {
  readonly id: string
  /** 64 hex digits, 44 base64 characters, or 32 bytes. */
  readonly key: string | Uint8Array
}

/** `current` encrypts; the others only decrypt what they encrypted before a rotation. */
export interface Keyring {
  readonly current: Key
  readonly others?: readonly Key[]
}

/** Seals and opens texts with the keys of one keyring. */
export interface Secrets {
  encrypt(plain: string | Uint8Array, path: SealedPath): string
  decrypt(stored: string, path: SealedPath): string
  /** Re-encrypts under the current key. Undefined if the text already is, so an interrupted rotation can run again. */
  renew(stored: string, path: SealedPath): string | undefined
  /** How often each key has encrypted; the caller passes it as `used` after a restart. */
  used(): Readonly<Record<string, number>>
}

const ALGORITHM = 'aes-256-gcm'
const PREFIX = 'aes-gcm:'
const NONCE = 12
// Explicit, because Node otherwise accepts a tag of four bytes.
const TAG = { authTagLength: 16 } as const
/** Random 96-bit nonces are safe for 2³² messages per key; we warn at half of that. */
const WARN_USES = 2 ** 31
const MAX_USES = 2 ** 32

export function isEncrypted(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** The name in `secret:NAME`, a reference to a stored secret; undefined for other texts. */
export function secretName(text: string): string | undefined {
  return /^secret:([\w.-]{1,64})$/.exec(text)?.[1]
}

/** Whether a value of a config is not the plain one: it is encrypted, or names a stored secret. */
export function isSealed(value: string): boolean {
  return isEncrypted(value) || secretName(value) !== undefined
}

/** Throws `secret.key` if a key is invalid. Without a keyring, `encrypt` and `decrypt` throw `secret.no_key`. */
export function createSecrets(
  keyring: Keyring | undefined,
  options: { readonly log?: Log; readonly used?: Readonly<Record<string, number>> } = {},
): Secrets {
  const keys = readKeyring(keyring)
  const used = new Map(Object.entries(options.used ?? {}))
  const current = keyring?.current.id ?? ''

  const encrypt = (plain: string | Uint8Array, path: SealedPath): string => {
    const key = keys.get(current)
    if (key === undefined) throw noKey()
    const times = (used.get(current) ?? 0) + 1
    if (times > MAX_USES)
      throw handlerError('secret.key', `key ${current} has encrypted 2³² times; rotate to a new key`)
    used.set(current, times)
    if (times === WARN_USES) options.log?.('secret.key_worn', { key: current, used: times })
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(ALGORITHM, key, nonce, TAG).setAAD(associatedData(current, path))
    const sealed = Buffer.concat([
      nonce,
      typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    return `${PREFIX}${current}:${sealed.toString('base64')}`
  }

  const decrypt = (stored: string, path: SealedPath): string => {
    if (!isEncrypted(stored)) throw unreadable('it does not start with aes-gcm:')
    if (keys.size === 0) throw noKey()
    const [id, sealed] = split(stored)
    // Values from GoClaw carry no key id and are bound to no path.
    if (id === undefined) return openWithAny(keys.values(), sealed)
    const key = keys.get(id)
    if (key === undefined) throw unreadable(`no key ${id.slice(0, 32)} in the keyring`)
    const plain = open(key, sealed, associatedData(id, path))
    if (plain === undefined) throw unreadable('wrong key, wrong path, or damaged')
    return plain
  }

  const renew = (stored: string, path: SealedPath): string | undefined =>
    isEncrypted(stored) && split(stored)[0] === current ? undefined : encrypt(decrypt(stored, path), path)

  return { encrypt, decrypt, renew, used: () => Object.fromEntries(used) }
}

function openWithAny(keys: Iterable<KeyObject>, sealed: Buffer): string {
  for (const key of keys) {
    const plain = open(key, sealed, undefined)
    if (plain !== undefined) return plain
  }
  throw unreadable('no key in the keyring opens it')
}

function open(key: KeyObject, sealed: Buffer, aad: Buffer | undefined): string | undefined {
  if (sealed.length < NONCE + TAG.authTagLength) return undefined
  const end = sealed.length - TAG.authTagLength
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE), TAG)
    if (aad !== undefined) decipher.setAAD(aad)
    decipher.setAuthTag(sealed.subarray(end))
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, end)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** JSON, so that no two paths have the same bytes. */
function associatedData(id: string, { table, row, column }: SealedPath): Buffer {
  return Buffer.from(JSON.stringify(['hookhelm', id, table, row, column]))
}

function split(stored: string): [id: string | undefined, sealed: Buffer] {
  const rest = stored.slice(PREFIX.length)
  const colon = rest.indexOf(':')
  return [colon < 0 ? undefined : rest.slice(0, colon), Buffer.from(rest.slice(colon + 1), 'base64')]
}

function readKeyring(keyring: Keyring | undefined): ReadonlyMap<string, KeyObject> {
  const keys = new Map<string, KeyObject>()
  for (const { id, key } of keyring === undefined ? [] : [keyring.current, ...(keyring.others ?? [])]) {
    if (!/^[\w-]{1,32}$/.test(id))
      throw handlerError('secret.key', 'a key id is 1 to 32 letters, digits, _ or -')
    if (keys.has(id)) throw handlerError('secret.key', `two keys have the id ${id}`)
    keys.set(id, createSecretKey(keyBytes(key, id)))
  }
  return keys
}

function keyBytes(key: string | Uint8Array, id: string): Buffer {
  const bytes =
    typeof key !== 'string'
      ? Buffer.from(key)
      : /^[0-9a-fA-F]{64}$/.test(key)
        ? Buffer.from(key, 'hex')
        : Buffer.from(key, /^[A-Za-z0-9+/]{43}=$/.test(key) ? 'base64' : 'utf8')
  if (bytes.length !== 32) throw handlerError('secret.key', `key ${id} is not 32 bytes long`)
  return bytes
}

function noKey(): HookError {
  return handlerError('secret.no_key', 'there is no encryption key')
}

function unreadable(why: string): HookError {
  return handlerError('secret.unreadable', `an encrypted value cannot be read: ${why}`)
}
