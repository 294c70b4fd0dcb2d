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
  const { tenant, rule, envelope, firingId: firing_id } = call
  const { eventName: event, outcome } = call.event
  const rule_id = rule.id
  const messages: NewMailboxMessage[] = []
  const deliveries: NewDelivery[] = []
  for (const member of recipients) {
    const channels = members.find(({ name }) => name === member)?.channels ?? []
    const message_id = `${actionKey(call)}:${member}`
    const types = channels.map(({ type }) => type)
    const content = { from, summary, text, channels: types, rule_id, event, outcome }
    messages.push({ message_id, team, member, firing_id, content })
    for (const [index, channel] of channels.entries()) {
      const carried: TeamMessage = {
        ...{ message_id, team, member, channel, rule_id, firing_id },
        ...{ from, summary, text, event, outcome, event_id: envelope.id },
      }
      deliveries.push({
        ...{ id: randomUUID(), tenant, kind: TEAM_MESSAGE, dedup_key: channelKey(message_id, index) },
        ...{ payload: JSON.stringify(carried), created_at: envelope.time ?? 0 },
      })
    }
  }
  await store.postMessages(tenant, messages, deliveries)
  if (deliveries.length > 0) wakeDeliveries()
  return executed(`Team notification sent to ${recipients.length} recipient(s)`)
}

function channelKey(messageId: string, index: number): string {
  return `${messageId}:${index}`
}

/** The dedup keys of the deliveries that carry a message, in the order of its channels. */
export function channelKeysOf({ message_id, content }: MailboxRow): readonly string[] {
  const channels = Array.isArray(content?.channels) ? content.channels : []
  return channels.map((_, index) => channelKey(message_id, index))
}
