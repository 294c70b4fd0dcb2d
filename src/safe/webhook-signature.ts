import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { type Clock, systemClock } from '../engine/core/clock.ts'
import { HookError } from '../engine/core/error.ts'

/** A call as Standard Webhooks signs it. */
export interface Webhook {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string | Uint8Array
}

export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const PREFIX = 'whsec_'
const VERSION = 'v1,'
const TOLERANCE_S = 300
const MAX_SIGNATURES = 32

/** The same for every delivery of one event to one hook, so that a receiver can tell a repeat. */
export function webhookId(hook: string, event: string): string {
  return `msg_${hash('sha256', `${hook}\0${event}`).slice(0, 32)}`
}

/** Reads a `whsec_…` secret. */
export function readSigningKey(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(encoded, 'base64')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || key.length < 24 || key.length > 64)
    throw new HookError('secret.key', 'a webhook secret is whsec_ and the base64 of 24 to 64 bytes')
  return key
}

/** One signature per key: while a key is being replaced, receivers with the old and the new one both find theirs. */
export function signWebhook(webhook: Webhook, keys: readonly Buffer[]): string {
  return keys.map((key) => VERSION + digest(webhook, key).toString('base64')).join(' ')
}

export interface VerifyOptions {
  /** `whsec_…`; several while a key is being replaced. */
  readonly secrets: readonly string[]
  readonly clock?: Clock
  readonly toleranceSeconds?: number
}

/**
 * For receivers: whether a call comes from somebody who knows the secret, and is neither old nor from the future.
 * Answers why not, or undefined. `body` must be the bytes as they came, not JSON written again.
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
  const isKnown = signatures
    .split(' ', MAX_SIGNATURES)
    .filter((signature) => signature.startsWith(VERSION))
    .map((signature) => Buffer.from(signature.slice(VERSION.length), 'base64'))
    .some((signature) =>
      wanted.some((one) => one.length === signature.length && timingSafeEqual(one, signature)),
    )
  if (!isKnown) return 'forged'
  return Math.abs(clock.now() / 1_000 - timestamp) > toleranceSeconds ? 'stale' : undefined
}

function digest({ id, timestamp, body }: Webhook, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : undefined
}
