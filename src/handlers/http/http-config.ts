import type { HookError } from '../../engine/core/errors/error.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { type BlockReason, readUrl } from '../../safe/outbound/rules/url.ts'
import { isSealed } from '../../safe/secrets/secret.ts'
import { readSigningKey } from '../../safe/secrets/webhook-signature.ts'
import { configError } from '../handler-type.ts'
import {
  type ConfiguredShape,
  type FindPayloadShape,
  payloadFields,
  readPayloadSettings,
} from '../payload-shapes.ts'

const formats = ['hookhelm', 'openharness', 'run_hook'] as const
const methods = ['POST', 'PUT', 'PATCH'] as const

export const httpSchema = schema.object({
  url: schema.url('Where the event is posted: `http://` or `https://`, without a user name or password.'),
  ...schema.partial({
    headers: schema.map(
      schema.text(),
      'Headers to send. A value `secret:NAME` is replaced with a stored secret of the tenant.',
    ),
    secret: schema.union(
      [schema.text(), schema.list(schema.text())],
      'text or a list of texts',
      'The signing secret, `whsec_…` or `secret:NAME`; a list, newest first, while one replaces another.',
    ),
    ...payloadFields,
    format: schema.choice(
      formats,
      'How the answer is read: `hookhelm` (default) reads a decision from the body, `openharness` only the status. `run_hook` has the input and output of run hooks.',
    ),
    block_on_failure: schema.boolean('`openharness` only: a failed call blocks.'),
    can_block: schema.boolean('Another spelling of `block_on_failure`.'),
    method: schema.any('`run_hook` only: POST (default), PUT or PATCH. Elsewhere ignored.'),
    body_template: schema.any('Ignored. Accepted because forms of older gateways send it.'),
  }),
})
type HttpSettings = SchemaType<typeof httpSchema>

/** The config of an http hook, prepared for sending. */
export interface HttpConfig {
  readonly url: URL
  /** Names in lower case. A value `aes-gcm:…` or `secret:NAME` is decrypted for each call. */
  readonly headers: Readonly<Record<string, string>>
  /** Signing secrets, the newest first. */
  readonly secrets: readonly string[]
  readonly format: (typeof formats)[number]
  readonly method: (typeof methods)[number]
  /** OpenHarness: a failure of this hook blocks. */
  readonly mayBlock: boolean
  /** The form of the event, if the hook was written for an agent. */
  readonly shape: ConfiguredShape | undefined
}

/** Headers that frame the message, or that we guarantee to the receiver. */
const reservedHeader =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|webhook-.*)$/
const MAX_HEADERS = 50
const MAX_VALUE = 8_192

export function readHttpConfig(
  settings: HttpSettings,
  refuse: (url: string, reason: BlockReason) => void,
  findShape?: FindPayloadShape,
): HttpConfig {
  const { url, headers = {}, secret = [], format = 'hookhelm', can_block, block_on_failure } = settings
  return {
    url: readUrl(url, (reason) => refuse(url, reason)),
    headers: readHeaders(headers),
    secrets: readSecrets(typeof secret === 'string' ? [secret] : secret),
    format,
    method: methods.find((method) => format === 'run_hook' && method === settings.method) ?? 'POST',
    mayBlock: can_block === true || block_on_failure === true,
    shape: readPayloadSettings(settings, findShape),
  }
}

function readHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [written, value] of Object.entries(given)) {
    const name = written.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw headerError(name, 'is not a valid header name')
    if (reservedHeader.test(name)) throw headerError(name, 'is reserved: Hookhelm sets it itself')
    if (Object.hasOwn(headers, name)) throw headerError(name, 'is given twice')
    if (!isHeaderValue(value)) throw headerError(name, 'has a value that cannot be sent in a header')
    headers[name] = value
  }
  if (Object.keys(headers).length <= MAX_HEADERS) return headers
  throw configError('headers', `config.headers has more than ${MAX_HEADERS} entries`)
}

function headerError(name: string, problem: string): HookError {
  const field = `headers.${name.slice(0, 80)}`
  return configError(field, `config.${field} ${problem}`)
}

/** A line break would begin another header. */
export function isHeaderValue(value: string): boolean {
  return value.length <= MAX_VALUE && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)
}

function readSecrets(secrets: readonly string[]): readonly string[] {
  for (const secret of secrets) if (!isSealed(secret)) readSigningKey(secret)
  return secrets
}
