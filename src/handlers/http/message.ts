import { HookError } from '../../engine/core/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { HookDefinition } from '../../engine/core/hook.ts'
import { readSigningKey, signWebhook, webhookId } from '../../safe/outbound/webhook/signature.ts'
import { isEncrypted } from '../../safe/secret.ts'
import { toWireEvent } from '../wire-event.ts'
import { type HttpConfig, isHeaderValue } from './config.ts'

/** Shorter words are no secrets, and taking them out would tear other text apart. */
const MIN_SECRET = 8

/** Opens a value of a hook's config that is stored encrypted. */
export type Decrypt = (value: string, hook: HookDefinition) => string

/** What is sent: the same body and id at every attempt, signed with the time of each. */
export interface Message {
  readonly body: string
  /** What was decrypted for this call and must not come back in the answer. */
  readonly secrets: readonly string[]
  headers(now: number): Record<string, string>
}

export function writeMessage(
  { config, payload, context, hook }: HandlerCall<HttpConfig>,
  decrypt: Decrypt | undefined,
): Message {
  const event = toWireEvent(payload, context)
  const body = JSON.stringify(
    config.format === 'openharness' ? { event: context.event, payload: event } : event,
  )
  const secrets: string[] = []
  const open = (value: string) => {
    if (!isEncrypted(value)) return value
    const plain = opened(value, hook, decrypt)
    // The word behind `Bearer` is a secret by itself.
    secrets.push(...[plain, ...plain.split(' ')].filter((word) => word.length >= MIN_SECRET))
    return plain
  }
  const configured: Record<string, string> = {}
  for (const [name, value] of Object.entries(config.headers))
    configured[name] = headerValue(open(value), name)
  const keys = config.secrets.map((secret) => readSigningKey(open(secret)))
  const id = webhookId(hook.id ?? '', context.id)
  return {
    body,
    secrets,
    headers(now) {
      const timestamp = Math.floor(now / 1_000)
      return {
        'content-type': 'application/json',
        'user-agent': 'hookhelm',
        ...configured,
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(keys.length > 0 ? { 'webhook-signature': signWebhook({ id, timestamp, body }, keys) } : {}),
      }
    },
  }
}

/** Never answers the ciphertext: a receiver would be sent something it can only refuse, or keep. */
function opened(value: string, hook: HookDefinition, decrypt: Decrypt | undefined): string {
  if (decrypt === undefined)
    throw new HookError('secret.no_key', `hook ${hook.id ?? ''} has encrypted headers and there is no key`)
  try {
    return decrypt(value, hook)
  } catch (cause) {
    const code =
      cause instanceof HookError && cause.code === 'secret.no_key' ? cause.code : 'secret.unreadable'
    throw new HookError(code, `hook ${hook.id ?? ''} has an encrypted value that cannot be read`, { cause })
  }
}

function headerValue(value: string, name: string): string {
  if (isHeaderValue(value)) return value
  throw new HookError('secret.unreadable', `the decrypted header ${name} is not a header value`)
}
