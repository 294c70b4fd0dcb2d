import { defineEvent, field } from '../../core/event.ts'
import { first, last, sticky } from '../../core/merge.ts'
import { flag, list, number, object, oneOf, optional, record, shape, text } from '../../core/schema/check.ts'
import { blockWhen } from './gate-decision.ts'
import {
  type AgentMessage,
  type ReplyPayload,
  textOrNumber,
  traceFields,
  transcriptLine,
} from './message-parts.ts'

export interface InboundImage {
  readonly data: string
  readonly mimeType: string
}

/** How many replies of each kind were sent. */
export type ReplyCounts = Record<'tool' | 'block' | 'final', number>

export const messageRows = {
  inbound_claim: defineEvent({
    about: 'A message came in; a plugin may take it before commands and agents see it.',
    mode: 'claim',
    payload: shape({
      content: text,
      channel: text,
      isGroup: flag,
      body: optional(text),
      bodyForAgent: optional(text),
      transcript: optional(text),
      timestamp: optional(number),
      accountId: optional(text),
      conversationId: optional(text),
      parentConversationId: optional(text),
      senderId: optional(text),
      senderName: optional(text),
      senderUsername: optional(text),
      threadId: optional(textOrNumber),
      messageId: optional(text),
      sessionKey: optional(text),
      runId: optional(text),
      ...traceFields,
      commandAuthorized: optional(flag),
      wasMentioned: optional(flag),
      metadata: optional(record),
    }),
    fields: { reply: field(object<ReplyPayload>(), first) },
    subject: 'channel',
  }),
  message_received: defineEvent({
    about: 'A message was received.',
    mode: 'observe',
    payload: shape({
      from: text,
      content: text,
      timestamp: optional(number),
      threadId: optional(textOrNumber),
      messageId: optional(text),
      senderId: optional(text),
      sessionKey: optional(text),
      runId: optional(text),
      ...traceFields,
      metadata: optional(record),
    }),
    subject: 'from',
  }),
  before_dispatch: defineEvent({
    about: 'A message is about to go to a model; a hook may deal with it instead.',
    mode: 'claim',
    payload: shape({
      content: text,
      body: optional(text),
      channel: optional(text),
      sessionKey: optional(text),
      senderId: optional(text),
      isGroup: optional(flag),
      timestamp: optional(number),
    }),
    fields: { text: field(text, first) },
    subject: 'channel',
  }),
  reply_dispatch: defineEvent({
    about: 'A reply is about to be made the usual way; a hook may make and send it instead.',
    mode: 'claim',
    payload: shape({
      ctx: object<object>(),
      runId: optional(text),
      sessionKey: optional(text),
      images: optional(list<InboundImage>()),
      inboundAudio: flag,
      sessionTtsAuto: optional(text),
      ttsChannel: optional(text),
      suppressUserDelivery: optional(flag),
      suppressReplyLifecycle: optional(flag),
      sourceReplyDeliveryMode: optional(text),
      shouldRouteToOriginating: flag,
      originatingChannel: optional(text),
      originatingTo: optional(text),
      shouldSendToolSummaries: flag,
      sendPolicy: oneOf('allow', 'deny'),
      isTailDispatch: optional(flag),
    }),
    fields: { queuedFinal: field(flag, first), counts: field(object<ReplyCounts>(), first) },
    subject: 'originatingChannel',
  }),
  message_sending: defineEvent({
    about: 'A message is about to leave.',
    mode: 'gate',
    payload: shape({
      to: text,
      content: text,
      replyToId: optional(textOrNumber),
      threadId: optional(textOrNumber),
      metadata: optional(record),
    }),
    fields: { content: field(text, last), cancel: field(flag, sticky) },
    verdict: blockWhen('cancel', 'a hook cancelled this message'),
    subject: 'to',
  }),
  message_sent: defineEvent({
    about: 'A message was sent, or failed to be.',
    mode: 'observe',
    payload: shape({
      to: text,
      content: text,
      success: flag,
      messageId: optional(text),
      sessionKey: optional(text),
      runId: optional(text),
      ...traceFields,
      error: optional(text),
    }),
    subject: 'to',
  }),
  before_message_write: defineEvent({
    about: 'A message is about to be written to the transcript; nothing can wait here.',
    mode: 'gate',
    sync: true,
    payload: transcriptLine<'message' | 'sessionKey' | 'agentId'>(),
    rewrites: 'message',
    fields: { block: field(flag, sticky), message: field(object<AgentMessage>(), last) },
    verdict: blockWhen('block', 'a hook kept this message out of the transcript'),
    subject: 'agentId',
  }),
}
