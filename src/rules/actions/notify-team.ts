import { randomUUID } from 'node:crypto'
import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import type { MailboxRow, NewMailboxMessage } from '../../teams/team-tables.ts'
import type { TeamChannel, TeamDefinition } from '../../teams/teams.ts'
import { actionKey, type RuleActionCall, type RuleActionParts } from './rule-action.ts'
import { type ActionOutcome, executed, type TeamNotice } from './run-action.ts'

/** The kind of deliveries that carry a message to a channel of a member. */
export const TEAM_MESSAGE = 'team_message'

/** A message on its way to a channel. */
export interface TeamMessage {
  readonly message_id: string
  readonly team: string
  readonly member: string
  readonly channel: TeamChannel
  readonly from: string
  readonly summary: string
  readonly text: string
  readonly rule_id: string
  readonly firing_id: string
  readonly event: string
  readonly outcome: string
  readonly event_id: string
}

/** Puts the message into the mailbox of each recipient, and queues it for their channels. */
export async function notifyMembers(
  call: RuleActionCall,
  { store, wakeDeliveries }: Pick<RuleActionParts, 'store' | 'wakeDeliveries'>,
  members: TeamDefinition['members'],
  { team, sender: from, recipients, summary, text }: TeamNotice,
): Promise<ActionOutcome> {
  const channelsOf = (member: string) => members.find(({ name }) => name === member)?.channels ?? []
  const messages = recipients.map((member) => {
    const channels = channelsOf(member).map(({ type }) => type)
    return toMessage(call, { team, member, from, summary, text, channels })
  })
  const deliveries = messages.flatMap((message) => {
    const channels = channelsOf(message.member)
    return channels.map((channel, index) => toDelivery(call, { message, channel, index }))
  })
  await store.postMessages(call.tenant, messages, deliveries)
  if (deliveries.length > 0) wakeDeliveries()
  return executed(`Team notification sent to ${recipients.length} recipient(s)`)
}

interface MessageTexts {
  readonly team: string
  readonly member: string
  readonly from: string
  readonly summary: string
  readonly text: string
  /** The types of the channels that carry it. */
  readonly channels: readonly string[]
}

function toMessage(call: RuleActionCall, { team, member, ...content }: MessageTexts): NewMailboxMessage {
  const { rule, event, firingId } = call
  return {
    ...{ message_id: `${actionKey(call)}:${member}`, team, member, firing_id: firingId },
    content: { ...content, rule_id: rule.id, event: event.eventName, outcome: event.outcome },
  }
}

function channelKey(messageId: string, index: number): string {
  return `${messageId}:${index}`
}

/** The dedup keys of the deliveries that carry a message, in the order of its channels. */
export function channelKeysOf({ message_id, content }: MailboxRow): readonly string[] {
  const channels = Array.isArray(content?.channels) ? content.channels : []
  return channels.map((_, index) => channelKey(message_id, index))
}

function toDelivery(
  { tenant, rule, event, envelope, firingId }: RuleActionCall,
  {
    message,
    channel,
    index,
  }: { readonly message: NewMailboxMessage; readonly channel: TeamChannel; readonly index: number },
): NewDelivery {
  const { message_id, team, member, content } = message
  const { from, summary, text } = content
  const carried: TeamMessage = {
    ...{ message_id, team, member, channel, rule_id: rule.id, firing_id: firingId },
    ...{ from: String(from), summary: String(summary), text: String(text) },
    ...{ event: event.eventName, outcome: event.outcome, event_id: envelope.id },
  }
  return {
    id: randomUUID(),
    tenant,
    kind: TEAM_MESSAGE,
    dedup_key: channelKey(message_id, index),
    payload: JSON.stringify(carried),
    created_at: envelope.time ?? 0,
  }
}
