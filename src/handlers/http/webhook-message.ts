import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { isSealed } from '../../safe/secrets/secret.ts'
import { readSigningKey, signWebhook, webhookId } from '../../safe/secrets/webhook-signature.ts'
import type { WireEvent } from '../wire-event.ts'
import { type HttpConfig, isHeaderValue } from './http-config.ts'

/** Shorter words are not secrets, and removing them would damage other text. */
const MIN_SECRET = 8

/** Decrypts a value of a hook's config that is stored encrypted or that names a secret of the tenant. */
export type DecryptValue = (
  value: string,
  hook: BaseHook,
  tenant: string | undefined,
) => string | Promise<string>

/** The request: every attempt has the same body and id, and is signed with its own time. */
export interface WebhookMessage {
  readonly body: string
  /** Decrypted values, to be removed from the answer. */
  readonly secrets: readonly string[]
  headers(now: number): Record<string, string>
}

/** The value of a variable that headers may use; undefined if there is none, or if it is not allowed. */
export type HeaderVariable = (name: string, tenant: string | undefined) => string | undefined

/** Where values come from that a config only names. */
export interface MessageSecrets {
  readonly decrypt?: DecryptValue | undefined
  readonly headerVariable?: HeaderVariable | undefined
}

const variable = /\$\{([^}]*)\}/g

/** The variables that a header value uses: `Bearer ${API_TOKEN}` uses `API_TOKEN`. */
export function variablesIn(value: string): readonly string[] {
  return [...value.matchAll(variable)].map(([, name = '']) => name)
}

export async function createMessage(
  { config, context, hook }: HandlerCall<HttpConfig>,
  event: WireEvent,
  { decrypt, headerVariable }: MessageSecrets,
): Promise<WebhookMessage> {
  const body = JSON.stringify(
    config.format === 'openharness' ? { event: context.event, payload: event } : event,
  )
  const secrets: string[] = []
  const { tenant } = context.envelope
  const conceal = (plain: string) => {
    // The word after `Bearer` is a secret too.
    secrets.push(...[plain, ...plain.split(' ')].filter((word) => word.length >= MIN_SECRET))
    return plain
  }
  const reveal = async (value: string) => {
    if (isSealed(value)) return conceal(await decryptOrThrow(value, hook, tenant, decrypt))
    if (config.format !== 'run_hook') return value
    return value.replace(variable, (_, name: string) =>
      conceal(requireVariable(headerVariable, name, tenant)),
    )
  }
  const configured: Record<string, string> = {}
  for (const [name, value] of Object.entries(config.headers))
    configured[name] = headerValue(await reveal(value), name)
  const keys = (await Promise.all(config.secrets.map(reveal))).map(readSigningKey)
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

/** Never sends the name in place of the value. */
function requireVariable(
  headerVariable: HeaderVariable | undefined,
  name: string,
  tenant: string | undefined,
): string {
  const value = headerVariable?.(name, tenant)
  if (value !== undefined) return value
  const message = `a header uses the variable ${name.slice(0, 80)}, which is not set or not allowed`
  const hint =
    'An administrator lists it in the setting `header_variables`, and the environment of the gateway sets it.'
  throw handlerError('secret.unreadable', message, { hint })
}

/** Never returns the ciphertext, which would go to the receiver. */
async function decryptOrThrow(
  value: string,
  hook: BaseHook,
  tenant: string | undefined,
  decrypt: DecryptValue | undefined,
): Promise<string> {
  if (decrypt === undefined)
    throw handlerError(
      'secret.no_key',
      `hook ${hook.id ?? ''} has encrypted values, and this process cannot decrypt them`,
    )
  try {
    return await decrypt(value, hook, tenant)
  } catch (cause) {
    const code =
      cause instanceof HookError && cause.code === 'secret.no_key' ? cause.code : 'secret.unreadable'
    throw handlerError(code, `hook ${hook.id ?? ''} has an encrypted value that cannot be decrypted`, {
      cause,
    })
  }
}

function headerValue(value: string, name: string): string {
  if (isHeaderValue(value)) return value
  throw handlerError('secret.unreadable', `the decrypted header ${name} cannot be sent in a header`)
}
