import { defineEvent } from '../core/event.ts'
import { optional, shape, text } from '../core/schema/check.ts'

export const compactionEvents = {
  pre_compact: defineEvent({
    about: 'Before the context is compacted.',
    mode: 'gate',
    payload: shape({ trigger: optional(text) }),
    subject: 'trigger',
    onFailure: 'allow',
    aliases: ['before_compaction', 'PreCompress', 'experimental.session.compacting'],
  }),
  post_compact: defineEvent({
    about: 'After the context was compacted.',
    mode: 'observe',
    payload: shape({ trigger: optional(text), compact_summary: optional(text) }),
    subject: 'trigger',
    aliases: ['after_compaction', 'session.compacted'],
  }),
}
