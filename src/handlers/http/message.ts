import { HookError } from '../../engine/core/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { isEncrypted, secretName } from '../../safe/secret.ts'
import { readSigningKey, signWebhook, webhookId } from '../../safe/webhook-signature.ts'
import { toWireEvent } from '../wire-event.ts'
import { type HttpConfig, isHeaderValue } from './config.ts'

/** Shorter words are no secrets, and taking them out would tear other text apart. */
const MIN_SECRET = 8

/** Opens a value of a hook's config that is stored encrypted, or that names a secret of the tenant. */
export type Decrypt = (value: string, hook: BaseHook, tenant: string | undefined) => string | Promise<string>

/** What is sent: the same body and id at every attempt, signed with the time of each. */
export interface Message {
  readonly body: string
  /** What was decrypted for this call and must not come back in the answer. */
  readonly secrets: readonly string[]
  headers(now: number): Record<string, string>
}

export async function writeMessage(
  { config, payload, context, hook }: HandlerCall<HttpConfig>,
  decrypt: Decrypt | undefined,
): Promise<Message> {
  const event = toWireEvent(payload, context)
  const body = JSON.stringify(
    config.format === 'openharness' ? { event: context.event, payload: event } : event,
  )
  const secrets: string[] = []
  const open = async (value: string) => {
    if (!isHidden(value)) return value
    const plain = await opened(value, hook, context.envelope.tenant, decrypt)
    // The word behind `Bearer` is a secret by itself.
    secrets.push(...[plain, ...plain.split(' ')].filter((word) => word.length >= MIN_SECRET))
    return plain
  }
  const configured: Record<string, string> = {}
  for (const [name, value] of Object.entries(config.headers))
    configured[name] = headerValue(await open(value), name)
  const keys = (await Promise.all(config.secrets.map(open))).map(readSigningKey)
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

function isHidden(value: string): boolean {
  return isEncrypted(value) || secretName(value) !== undefined
}

/** Never answers the ciphertext: a receiver would be sent something it can only refuse, or keep. */
async function opened(
  value: string,
  hook: BaseHook,
  tenant: string | undefined,
  decrypt: Decrypt | undefined,
): Promise<string> {
  if (decrypt === undefined)
    throw new HookError('secret.no_key', `hook ${hook.id ?? ''} has hidden values and nobody here opens them`)
  try {
    return await decrypt(value, hook, tenant)
  } catch (cause) {
    const code =
      cause instanceof HookError && cause.code === 'secret.no_key' ? cause.code : 'secret.unreadable'
    throw new HookError(code, `hook ${hook.id ?? ''} has a hidden value that cannot be read`, { cause })
  }
}

function headerValue(value: string, name: string): string {
  if (isHeaderValue(value)) return value
  throw new HookError('secret.unreadable', `the decrypted header ${name} is not a header value`)
}
