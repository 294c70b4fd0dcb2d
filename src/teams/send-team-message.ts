import { createHash } from 'node:crypto'
import { type DeliverWork, type DeliveryAttempt, TRUSTED_LIMITS } from '../deliveries/delivery-worker.ts'
import { errorText } from '../engine/core/errors/error.ts'
import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { TeamMessage } from '../rules/actions/notify-team.ts'
import { parseJson } from '../safe/json.ts'
import type { Outbound } from '../safe/outbound/outbound.ts'
import { type MailServer, sendMail } from '../safe/outbound/send-mail.ts'
import { readSigningKey, signWebhook } from '../safe/secrets/webhook-signature.ts'
import type { TeamChannel } from './teams.ts'

/** What sending to a channel needs. */
export interface SendParts {
  readonly outbound: Pick<Outbound, 'request'>
  readonly clock: Clock
  /** Resolves a value `secret:NAME` of the tenant; other values stay as they are. */
  openSecret(tenant: string, value: string): Promise<string>
  /** The mail server of the tenant; undefined if none is configured. */
  mailServer(tenant: string): Promise<MailServer | undefined>
}

const TIMEOUT_MS = 20_000
/** Client errors are final, except for these three. */
const mayChange = new Set([408, 425, 429])

/** A message in the form of each channel. */
export interface OutgoingMessage {
  /** The same for every attempt. */
  readonly id: string
  readonly channel: TeamChannel
  /** For mail. */
  readonly subject: string
  readonly text: string
  /** The body of a Slack-compatible webhook. */
  readonly slack: object
  /** The body of a webhook. */
  readonly webhook: object
}

/** Carries a message to one channel of one member. A channel that fails is tried again later. */
export function deliverTeamMessage(parts: SendParts): DeliverWork {
  return ({ tenant, payload }) => {
    // Trusted: `notifyTeam` wrote it.
    const message = parseJson(payload, TRUSTED_LIMITS) as TeamMessage
    const { channel, ...carried } = message
    const { message_id: id, summary, text } = carried
    const slack = { text: `*${escapeSlack(summary)}*\n${escapeSlack(text)}` }
    const webhook = { type: 'team_message', ...carried }
    return sendToChannel(parts, tenant, { id, channel, subject: summary, text, slack, webhook })
  }
}

/** Sends a message to one channel: the only way on which messages leave for people. */
export function sendToChannel(
  parts: SendParts,
  tenant: string,
  message: OutgoingMessage,
): Promise<DeliveryAttempt> {
  return message.channel.type === 'email' ? mail(parts, tenant, message) : post(parts, tenant, message)
}

/** Slack reads links and mentions between these three characters. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

async function mail(parts: SendParts, tenant: string, message: OutgoingMessage): Promise<DeliveryAttempt> {
  const { id, channel, subject, text } = message
  const server = await parts.mailServer(tenant)
  if (server === undefined) return { end: 'dead', error: 'no mail server is configured: set `smtp`' }
  if (channel.type !== 'email') return { end: 'dead', error: 'the channel has no e-mail address' }
  const messageId = createHash('sha256').update(`${tenant}/${id}/${channel.to}`).digest('hex')
  await sendMail(server, { to: channel.to, subject: oneLine(subject), text, messageId })
  return { end: 'done' }
}

/** A line break in a subject would begin another header. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 500)
}

async function post(parts: SendParts, tenant: string, message: OutgoingMessage): Promise<DeliveryAttempt> {
  const { outbound, clock } = parts
  const { channel } = message
  if (channel.type === 'email') return { end: 'dead', error: 'the channel has no address' }
  const body = JSON.stringify(channel.type === 'slack' ? message.slack : message.webhook)
  const id = `msg_${createHash('sha256').update(`${tenant}/${message.id}/${channel.url}`).digest('hex')}`
  const timestamp = Math.floor(clock.now() / 1_000)
  const secret = channel.type === 'webhook' ? channel.secret : undefined
  const key = secret === undefined ? undefined : readSigningKey(await parts.openSecret(tenant, secret))
  const url = new URL(await parts.openSecret(tenant, channel.url))
  const late = new AbortController()
  const callOff = after(clock, TIMEOUT_MS, () => late.abort())
  try {
    const { status } = await outbound.request({
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'hookhelm',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(key === undefined ? {} : { 'webhook-signature': signWebhook({ id, timestamp, body }, [key]) }),
      },
      body,
      signal: late.signal,
    })
    if (status >= 200 && status < 300) return { end: 'done' }
    const isFinal = status >= 300 && status < 500 && !mayChange.has(status)
    return { end: isFinal ? 'dead' : 'retry', error: `${url.host} answered ${status}` }
  } catch (thrown) {
    return { end: 'retry', error: errorText(thrown) }
  } finally {
    callOff()
  }
}
