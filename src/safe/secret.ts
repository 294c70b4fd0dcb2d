import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { HookError } from '../engine/core/error.ts'
import type { Log } from '../engine/core/sink.ts'

/** Where a secret is stored. A ciphertext moved to another place cannot be read there. */
interface Place {
  readonly table: string
  readonly row: string
  readonly column: string
}

interface Key {
  readonly id: string
  /** 64 hex digits, 44 base64 characters, or 32 bytes. */
  readonly key: string | Uint8Array
}

/** `current` encrypts; the others still read what was encrypted before a rotation. */
export interface Keyring {
  readonly current: Key
  readonly others?: readonly Key[]
}

export interface Secrets {
  encrypt(plain: string | Uint8Array, place: Place): string
  decrypt(stored: string, place: Place): string
  /** The same secret under the current key; undefined when it is already, so that a rotation can be run again. */
  renew(stored: string, place: Place): string | undefined
  /** How often each key has encrypted, to be given back as `used` after a restart. */
  used(): Readonly<Record<string, number>>
}

interface SecretsOptions {
  readonly log?: Log
  readonly used?: Readonly<Record<string, number>>
}

const ALGORITHM = 'aes-256-gcm'
const PREFIX = 'aes-gcm:'
const NONCE = 12
// Given explicitly: without it Node accepts a tag cut to four bytes.
const TAG = { authTagLength: 16 } as const
/** Random nonces of 96 bits are safe for 2³² messages under one key; we warn at half of that. */
const WORN = 2 ** 31
const SPENT = 2 ** 32

export function isEncrypted(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** The name behind `secret:NAME`, which stands for a secret that is kept elsewhere. */
export function secretName(text: string): string | undefined {
  return /^secret:([\w.-]{1,64})$/.exec(text)?.[1]
}

export function createSecrets(keyring: Keyring | undefined, options: SecretsOptions = {}): Secrets {
  const keys = readKeyring(keyring)
  const used = new Map(Object.entries(options.used ?? {}))
  const current = keyring?.current.id ?? ''

  const encrypt = (plain: string | Uint8Array, place: Place): string => {
    const key = keys.get(current)
    if (key === undefined) throw noKey()
    const times = (used.get(current) ?? 0) + 1
    if (times > SPENT) throw new HookError('secret.key', `key ${current} has encrypted 2³² times`)
    used.set(current, times)
    if (times === WORN) options.log?.('secret.key_worn', { key: current, used: times })
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(ALGORITHM, key, nonce, TAG).setAAD(bound(current, place))
    const sealed = Buffer.concat([
      nonce,
      typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    return `${PREFIX}${current}:${sealed.toString('base64')}`
  }

  const decrypt = (stored: string, place: Place): string => {
    if (!isEncrypted(stored)) throw unreadable('it does not begin like an encrypted value')
    if (keys.size === 0) throw noKey()
    const [id, sealed] = split(stored)
    // Values of other gateways carry no key id and are bound to no place.
    if (id === undefined) return firstThatOpens(keys.values(), sealed)
    const key = keys.get(id)
    if (key === undefined) throw unreadable(`no key ${id.slice(0, 32)} in the keyring`)
    const plain = open(key, sealed, bound(id, place))
    if (plain === undefined) throw unreadable('wrong key, another place, or damaged')
    return plain
  }

  const renew = (stored: string, place: Place): string | undefined =>
    isEncrypted(stored) && split(stored)[0] === current ? undefined : encrypt(decrypt(stored, place), place)

  return { encrypt, decrypt, renew, used: () => Object.fromEntries(used) }
}

function firstThatOpens(keys: Iterable<KeyObject>, sealed: Buffer): string {
  for (const key of keys) {
    const plain = open(key, sealed, undefined)
    if (plain !== undefined) return plain
  }
  throw unreadable('no key of the keyring opens it')
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

/** As JSON, so that no two places can be written alike. */
function bound(id: string, { table, row, column }: Place): Buffer {
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
      throw new HookError('secret.key', 'a key id is 1 to 32 letters, digits, _ or -')
    if (keys.has(id)) throw new HookError('secret.key', `two keys have the id ${id}`)
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
  if (bytes.length !== 32) throw new HookError('secret.key', `key ${id} is not 32 bytes long`)
  return bytes
}

function noKey(): HookError {
  return new HookError('secret.no_key', 'there is no encryption key')
}

function unreadable(why: string): HookError {
  return new HookError('secret.unreadable', `an encrypted value cannot be read: ${why}`)
}
