import { randomBytes } from 'node:crypto'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Keyring } from '../../safe/secret.ts'
import { readPrivate, writePrivate } from './home.ts'

type Environment = Readonly<Record<string, string | undefined>>
interface Key {
  readonly id: string
  readonly key: string
}

/** `HOOKHELM_ENCRYPTION_KEY` is one key, or several as `id:key,id:key` with the current one first. */
export function keysFromEnvironment(env: Environment): Keyring | undefined {
  const given = env.HOOKHELM_ENCRYPTION_KEY
  if (given === undefined || given === '') return undefined
  return toKeyring(given.split(',').map((part) => readKey(part.trim())))
}

/** One key per line, `id:key`, the current one first. */
export function keysFromFile(path: string): Keyring | undefined {
  const text = readPrivate(path)
  return text === undefined ? undefined : toKeyring(text.trim().split('\n').map(readKey))
}

export function newKey(): Key {
  return { id: `k${randomBytes(4).toString('hex')}`, key: randomBytes(32).toString('hex') }
}

export function writeKeys(path: string, keys: readonly Key[]): void {
  writePrivate(path, `${keys.map(({ id, key }) => `${id}:${key}`).join('\n')}\n`)
}

function readKey(text: string): Key {
  const colon = text.indexOf(':')
  return colon < 0 ? { id: 'main', key: text } : { id: text.slice(0, colon), key: text.slice(colon + 1) }
}

export function toKeyring([current, ...others]: readonly Key[]): Keyring {
  if (current === undefined) throw serverError('gateway.setting', 'there is no encryption key')
  return { current, others }
}
