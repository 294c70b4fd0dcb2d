import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { hookConfigPath, secretPath } from '../database/sealed-paths.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { SchemaPath } from '../engine/core/schema/schema.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { jsonPointer } from '../hook-files/file-problem.ts'
import { isEncrypted, type SealedPath, type Secrets, secretName } from '../safe/secrets/secret.ts'
import type { Store } from '../store/store.ts'

/** The API returns this instead of a secret. A caller that sends it back keeps the stored secret. */
export const MASK = '********'

/** Headers that never hold a secret. All others might. */
const openHeader = /^(?:accept|accept-language|content-type|user-agent|x-request-id|x-correlation-id)$/i

type Change = (text: string, path: SchemaPath) => string

/** Changes every text of a config that can be a secret: headers, and the keys that sign webhooks. */
function mapSecrets(config: unknown, change: Change): unknown {
  if (!isRecord(config)) return config
  const { headers, secret } = config
  const changed = (value: unknown, path: SchemaPath) =>
    typeof value === 'string' ? change(value, path) : value
  return {
    ...config,
    ...(isRecord(headers)
      ? {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [
              name,
              openHeader.test(name) ? value : changed(value, ['headers', name]),
            ]),
          ),
        }
      : {}),
    ...(secret === undefined
      ? {}
      : {
          secret: Array.isArray(secret)
            ? secret.map((value, index) => changed(value, ['secret', index]))
            : changed(secret, ['secret']),
        }),
  }
}

/** The config with masked secrets. The name of a secret is not one. */
export function maskConfig(config: unknown): unknown {
  const masked = mapSecrets(config, (text) => (secretName(text) === undefined ? MASK : text))
  return withUrl(
    mapTexts(masked, (text) => (isEncrypted(text) ? MASK : text)),
    maskUrl,
  )
}

/** The config with the stored value in place of every mask. */
export function unmaskConfig(given: unknown, stored: unknown): unknown {
  const config = withUrl(given, (url) => unmaskUrl(url, stored))
  return mapSecrets(config, (text, path) => {
    if (text !== MASK) return text
    const kept = at(stored, path)
    if (typeof kept !== 'string') throw invalidSecret(path, 'is hidden, and nothing is stored there')
    // Otherwise a caller who may change the address could have a write-only secret sent to it.
    if (urlOf(config) !== urlOf(stored))
      throw invalidSecret(path, 'must be given again when the address changes')
    return kept
  })
}

/** The config with encrypted secrets. Refuses encrypted texts that were copied from elsewhere. */
export function sealConfig(config: unknown, hookId: string, secrets: Secrets): unknown {
  const sealed = new Set<string>()
  const result = mapSecrets(config, (text, path) => {
    if (secretName(text) !== undefined) return text
    const sealedAt = sealedPath(hookId, path)
    const fresh = secrets.encrypt(
      isEncrypted(text) ? decryptSealed(text, path, sealedAt, secrets) : text,
      sealedAt,
    )
    sealed.add(fresh)
    return fresh
  })
  return mapTexts(result, (text, path) => {
    if (isEncrypted(text) && !sealed.has(text))
      throw invalidSecret(path, 'is an encrypted text of another place')
    return text
  })
}

/** The path of an encrypted text in this config, which decryption needs. */
function sealedPathOf(hookId: string, config: unknown, sealed: string): SealedPath | undefined {
  let sealedAt: SealedPath | undefined
  mapSecrets(config, (text, path) => {
    if (text === sealed) sealedAt ??= sealedPath(hookId, path)
    return text
  })
  return sealedAt
}

function sealedPath(hookId: string, path: SchemaPath): SealedPath {
  return hookConfigPath(hookId, jsonPointer(path))
}

function decryptSealed(text: string, path: SchemaPath, sealedAt: SealedPath, secrets: Secrets): string {
  try {
    return secrets.decrypt(text, sealedAt)
  } catch (cause) {
    throw invalidSecret(path, 'is an encrypted text of another place', cause)
  }
}

function invalidSecret(path: SchemaPath, why: string, cause?: unknown): HookError {
  const at = `config.${path.join('.')}`
  return new HookError('config.field', `${at} ${why}`, {
    at,
    hint: 'Send the value itself, or `secret:NAME`; it is encrypted before it is stored.',
    ...(cause === undefined ? {} : { cause }),
  })
}

function urlOf(config: unknown): string | undefined {
  const url = isRecord(config) ? config.url : undefined
  return typeof url === 'string' ? url : undefined
}

function withUrl(config: unknown, change: (url: string) => string): unknown {
  const url = urlOf(config)
  return isRecord(config) && url !== undefined ? { ...config, url: change(url) } : config
}

/** Many receivers authenticate callers by a query parameter. A parameter without a value may be the secret itself. */
function maskUrl(url: string): string {
  const [, before = url, query = '', hash = ''] = /^([^?#]*\?)([^#]*)(.*)$/s.exec(url) ?? []
  const masked = query
    .split('&')
    .map((part) => (part === '' ? part : part.replace(/^([^=]*=)?.*$/s, `$1${MASK}`)))
  return before + masked.join('&') + hash
}

function unmaskUrl(url: string, stored: unknown): string {
  const kept = urlOf(stored)
  if (kept !== undefined && url === maskUrl(kept)) return kept
  if (url.includes(MASK)) throw invalidSecret(['url'], 'must be given whole when it changes')
  return url
}

function at(value: unknown, path: SchemaPath): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === 'object' && current !== null ? Reflect.get(current, step) : undefined,
    value,
  )
}

function mapTexts(value: unknown, change: Change, path: SchemaPath = []): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, change, [...path, index]))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, [...path, key])]),
  )
}

/** Decrypts the secrets in the config of an http hook: its own values, and secrets of the tenant by name. */
export function secretOpener(store: Pick<Store, 'listSecrets'>, secrets: Secrets) {
  return async (value: string, hook: HookDefinition, tenant: string | undefined): Promise<string> => {
    const name = secretName(value)
    if (name !== undefined) return byName(name, hook.scope === 'global' ? MASTER_TENANT : tenant)
    const path = sealedPathOf(hook.id ?? '', hook.config, value)
    if (path === undefined)
      throw handlerError('secret.unreadable', 'an encrypted value stands where no secret may stand')
    return secrets.decrypt(value, path)
  }

  async function byName(name: string, tenant = ''): Promise<string> {
    const row = (await store.listSecrets(tenant)).find((known) => known.name === name)
    if (row === undefined)
      throw handlerError('secret.unreadable', `there is no secret ${name}`, {
        hint: `Set it with \`hookhelm secrets set ${name}\`.`,
      })
    return secrets.decrypt(row.sealed, secretPath(tenant, name))
  }
}
