import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { type BlockReason, readUrl } from '../../safe/outbound/rules/url.ts'
import { isEncrypted, secretName } from '../../safe/secret.ts'
import { readSigningKey } from '../../safe/webhook-signature.ts'
import { readFlag, unknownField, wrongField } from '../config-fields.ts'

/** `openharness`: any 2xx passes and the body is only the reason, where `hookhelm` reads a decision from it. */
const formats = ['hookhelm', 'openharness'] as const
type Format = (typeof formats)[number]

export interface HttpConfig {
  readonly url: URL
  /** Names in lower case; a value `aes-gcm:…` or `secret:NAME` is opened for each call. */
  readonly headers: Readonly<Record<string, string>>
  /** Signing secrets, the newest first; several while one replaces another. */
  readonly secrets: readonly string[]
  readonly format: Format
  /** OpenHarness: a failure of this hook blocks. */
  readonly mayBlock: boolean
}

// The forms of older gateways also send a method and a body template, which have never had an effect.
const keys = [
  'url',
  'headers',
  'secret',
  'format',
  'can_block',
  'block_on_failure',
  'method',
  'body_template',
]

/** Headers that frame the message or that we vouch for. */
const ours =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|webhook-.*)$/
const MAX_HEADERS = 50
const MAX_VALUE = 8_192

export function readHttpConfig(
  config: unknown,
  refuse: (url: string, reason: BlockReason) => void,
): HttpConfig {
  if (!isRecord(config)) throw wrongField('config', 'must be an object with a url')
  for (const key of Object.keys(config)) {
    if (!keys.includes(key)) throw unknownField(key, keys, 'an http hook')
  }
  const { url, headers, secret, format } = config
  if (typeof url !== 'string')
    throw new HookError('config.url', 'config.url is required', { at: 'config.url' })
  return {
    url: readUrl(url, (reason) => refuse(url, reason)),
    headers: readHeaders(headers ?? {}),
    secrets: readSecrets(secret ?? []),
    format: readFormat(format ?? 'hookhelm'),
    mayBlock: readFlag(config, 'can_block') || readFlag(config, 'block_on_failure'),
  }
}

function readHeaders(given: unknown): Readonly<Record<string, string>> {
  if (!isRecord(given)) throw wrongField('config.headers', 'must be an object')
  const headers: Record<string, string> = {}
  for (const [written, value] of Object.entries(given)) {
    const name = written.toLowerCase()
    const at = `config.headers.${name.slice(0, 80)}`
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw wrongField(at, 'is not a header name')
    if (ours.test(name)) throw wrongField(at, 'is not yours to set')
    if (Object.hasOwn(headers, name)) throw wrongField(at, 'stands there twice')
    if (typeof value !== 'string' || !isHeaderValue(value)) throw wrongField(at, 'is not a header value')
    headers[name] = value
  }
  if (Object.keys(headers).length > MAX_HEADERS)
    throw wrongField('config.headers', `has more than ${MAX_HEADERS} entries`)
  return headers
}

/** A line break would begin another header. */
export function isHeaderValue(value: string): boolean {
  return value.length <= MAX_VALUE && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)
}

function readSecrets(given: unknown): readonly string[] {
  const secrets: unknown[] = Array.isArray(given) ? given : [given]
  return secrets.map((secret) => {
    if (typeof secret !== 'string') throw wrongField('config.secret', 'must be text or a list of texts')
    if (!isEncrypted(secret) && secretName(secret) === undefined) readSigningKey(secret)
    return secret
  })
}

function readFormat(given: unknown): Format {
  const format = formats.find((known) => known === given)
  if (format === undefined) throw wrongField('config.format', `must be one of ${formats.join(', ')}`)
  return format
}
