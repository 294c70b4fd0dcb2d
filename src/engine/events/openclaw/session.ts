import { defineEvent } from '../../core/event.ts'
import { flag, list, number, oneOf, optional, shape, text } from '../../core/schema/check.ts'

export const sessionRows = {
  session_start: defineEvent({
    about: 'A session begins or is resumed.',
    mode: 'observe',
    payload: shape({ sessionId: text, sessionKey: optional(text), resumedFrom: optional(text) }),
    subject: 'sessionKey',
  }),
  session_end: defineEvent({
    about: 'A session has ended.',
    mode: 'observe',
    payload: shape({
      sessionId: text,
      sessionKey: optional(text),
      messageCount: number,
      durationMs: optional(number),
      reason: optional(oneOf('new', 'reset', 'idle', 'daily', 'compaction', 'deleted', 'unknown')),
      sessionFile: optional(text),
      transcriptArchived: optional(flag),
      nextSessionId: optional(text),
      nextSessionKey: optional(text),
    }),
    subject: 'reason',
  }),
  before_compaction: defineEvent({
    about: 'A context is about to be compacted.',
    mode: 'observe',
    payload: shape({
      messageCount: number,
      compactingCount: optional(number),
      tokenCount: optional(number),
      messages: optional(list()),
      sessionFile: optional(text),
    }),
  }),
  after_compaction: defineEvent({
    about: 'A context was compacted.',
    mode: 'observe',
    payload: shape({
      messageCount: number,
      tokenCount: optional(number),
      compactedCount: number,
      sessionFile: optional(text),
    }),
  }),
  before_reset: defineEvent({
    about: 'A session is about to be cleared; its messages are still there.',
    mode: 'observe',
    payload: shape({ sessionFile: optional(text), messages: optional(list()), reason: optional(text) }),
    subject: 'reason',
  }),
}
