import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'

/** A webhook request as Standard Webhooks signs it. */
export interface Webhook {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string | Uint8Array
}

/** The headers of a request, as Node's HTTP server returns them. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const PREFIX = 'whsec_'
const VERSION = 'v1,'
const TOLERANCE_S = 300
const MAX_SIGNATURES = 32

/** The id of a webhook. It is the same for every delivery of one event to one hook, so that receivers notice repeats. */
export function webhookId(hook: string, event: string): string {
  return `msg_${hash('sha256', `${hook}\0${event}`).slice(0, 32)}`
}

/** Decodes a `whsec_…` secret. Throws `secret.key` if it is malformed. */
export function readSigningKey(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(encoded, 'base64')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || key.length < 24 || key.length > 64)
    throw handlerError('secret.key', 'a webhook secret is whsec_ and the base64 of 24 to 64 bytes')
  return key
}

/** Signs with every key, so that receivers with the old and with the new key both accept it during a rotation. */
export function signWebhook(webhook: Webhook, keys: readonly Buffer[]): string {
  return keys.map((key) => VERSION + digest(webhook, key).toString('base64')).join(' ')
}

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** The `whsec_…` secrets to accept; several during a rotation. */
  readonly secrets: readonly string[]
  /** The current time; the system clock by default. */
  readonly clock?: Clock
  /** How far the timestamp may differ from the current time; 300 by default. */
  readonly toleranceSeconds?: number
}

/**
 * Verifies a webhook request of Hookhelm, for its receiver. Returns undefined if the request is genuine, else the reason:
 * `unsigned` if a signature header is missing or malformed, `forged` if no signature matches a secret, `stale` if the
 * timestamp is too old or in the future. `body` must be the bytes as received, not JSON that was serialized again.
 * Throws `secret.key` if a secret is malformed.
 *
 * @example
 * const problem = verifyWebhook(request.headers, rawBody, { secrets: [process.env.WEBHOOK_SECRET] })
 * if (problem !== undefined) return response.writeHead(401).end(problem)
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { secrets, clock = systemClock, toleranceSeconds = TOLERANCE_S }: VerifyOptions,
): 'unsigned' | 'stale' | 'forged' | undefined {
  const given = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  const [id, time, signatures] = given
  if (!id || !time || !signatures || !/^\d{1,12}$/.test(time)) return 'unsigned'
  const timestamp = Number(time)
  const wanted = secrets.map((secret) => digest({ id, timestamp, body }, readSigningKey(secret)))
  const isAuthentic = signatures
    .split(' ', MAX_SIGNATURES)
    .filter((signature) => signature.startsWith(VERSION))
    .map((signature) => Buffer.from(signature.slice(VERSION.length), 'base64'))
    .some((signature) =>
      wanted.some((one) => one.length === signature.length && timingSafeEqual(one, signature)),
    )
  if (!isAuthentic) return 'forged'
  return Math.abs(clock.now() / 1_000 - timestamp) > toleranceSeconds ? 'stale' : undefined
}

function digest({ id, timestamp, body }: Webhook, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : undefined
}
