import { randomUUID } from 'node:crypto'
import { memberOf } from '../access/find-member.ts'
import { APPROVAL_MESSAGE, type NewDelivery } from '../deliveries/delivery-table.ts'
import { type DeliverWork, type DeliveryAttempt, TRUSTED_LIMITS } from '../deliveries/delivery-worker.ts'
import { isoTime } from '../engine/core/time/clock.ts'
import { parseJson } from '../safe/json.ts'
import type { RouteMessage } from '../settings/approval-routes.ts'
import type { Store } from '../store/store.ts'
import { type SendParts, sendToChannel } from '../teams/send-team-message.ts'
import { readTeam, type TeamChannel } from '../teams/teams.ts'
import { createAnswerLinks } from './approval-links.ts'
import { approvalSlackText, approvalSummary, approvalText } from './approval-text.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

interface ApprovalSendParts extends SendParts {
  readonly store: Pick<
    Store,
    'findApproval' | 'createApprovalLinks' | 'findTeam' | 'postMessages' | 'listMembers'
  >
  /** The address at which people reach the gateway; undefined until it listens. */
  publicUrl(): string | undefined
  /** Called after a message was sent or queued, so that people see how far it is. */
  changed(): void
  wakeDeliveries(): void
}

interface DueMessage {
  readonly approval: ApprovalRow
  readonly message: RouteMessage
  readonly dedupKey: string
  readonly base: string
}

/** Carries a question to its route, unless it is answered by then. A route that fails is tried again later. */
export function deliverApprovalMessage(parts: ApprovalSendParts): DeliverWork {
  const { store } = parts
  return async ({ tenant, payload, dedup_key: dedupKey }) => {
    // Trusted: `messagesFor` or `sendToTeam` wrote it.
    const message = parseJson(payload, TRUSTED_LIMITS) as RouteMessage
    const approval = await store.findApproval(tenant, dedupKey.slice(0, dedupKey.indexOf('/')))
    // The store expires questions by its own clock: that of this machine may be another.
    if (approval?.status !== 'pending') return { end: 'done' }
    const base = parts.publicUrl()
    if (base === undefined) return { end: 'retry', error: 'the gateway does not listen yet' }
    const due = { approval, message, dedupKey, base: base.replace(/\/+$/, '') }
    const { to } = message
    const attempt =
      to.type === 'team' ? await sendToTeam(parts, due, to) : await sendToRecipient(parts, due, to)
    parts.changed()
    return attempt
  }
}

async function sendToRecipient(
  parts: ApprovalSendParts,
  { approval, message, dedupKey, base }: DueMessage,
  channel: TeamChannel,
): Promise<DeliveryAttempt> {
  const { route, member } = message
  const recipient = member ?? (channel.type === 'email' ? channel.to : `route ${route}`)
  const known = memberOf(await parts.store.listMembers(approval.tenant_id), recipient)
  const to = { route, recipient, member_id: known?.id ?? null }
  const paths = await createAnswerLinks(parts.store, approval, to)
  const links = { approve: base + paths.approve, deny: base + paths.deny }
  const text = approvalText(approval, links)
  return sendToChannel(parts, approval.tenant_id, {
    ...{ id: dedupKey, channel, text, subject: `Approval: ${approvalSummary(approval)}` },
    slack: { text: approvalSlackText(approval, links), unfurl_links: false, unfurl_media: false },
    webhook: {
      type: 'approval.requested',
      timestamp: isoTime(parts.clock.now()),
      data: { ...factsOf(approval), route, recipient, summary: approvalSummary(approval), links },
    },
  })
}

/** What a program may know without being signed in: no arguments. */
function factsOf(approval: ApprovalRow) {
  const { approval_id, event, event_id, hook_id, hook_name, agent, session_id, run_id, tool } = approval
  const { reason, input_hash, approvers_needed, created_at, deadline_at } = approval
  return {
    ...{ approval_id, event, event_id, hook_id, hook_name, agent, session_id, run_id, tool, reason },
    ...{ input_hash, approvers_needed, created_at, deadline_at },
  }
}

/** Puts the question into the mailbox of each member, and queues it for their channels. */
async function sendToTeam(
  { store, wakeDeliveries }: ApprovalSendParts,
  { approval, message, dedupKey, base }: DueMessage,
  { team, members: chosen }: Extract<RouteMessage['to'], { type: 'team' }>,
): Promise<DeliveryAttempt> {
  const { tenant_id: tenant, approval_id, created_at } = approval
  const definition = readTeam((await store.findTeam(tenant, team))?.definition)
  if (definition === undefined) return { end: 'dead', error: `there is no team ${team}` }
  const members = definition.members.filter(({ name }) => chosen === undefined || chosen.includes(name))
  if (members.length === 0) return { end: 'dead', error: `the team ${team} has no such members` }
  const content = {
    from: 'hookhelm',
    summary: approvalSummary(approval),
    // A mailbox is read by viewers too, so it holds no links that answer.
    text: approvalText(approval, `${base}/ui/approvals`),
    event: approval.event,
  }
  const mailbox = members.map(({ name: member }) => ({
    ...{ message_id: `${dedupKey}/${member}`, team, member, firing_id: null, content },
  }))
  const deliveries = members.flatMap(({ name: member, channels = [] }) =>
    channels.map((to, index): NewDelivery => {
      const payload: RouteMessage = { route: message.route, to, member }
      return {
        ...{ id: randomUUID(), tenant, kind: APPROVAL_MESSAGE, approval_id, created_at },
        dedup_key: `${dedupKey}/${member}/${index}`,
        payload: JSON.stringify(payload),
      }
    }),
  )
  await store.postMessages(tenant, mailbox, deliveries)
  if (deliveries.length > 0) wakeDeliveries()
  return { end: 'done' }
}
