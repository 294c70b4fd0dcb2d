import { defineEvent } from '../core/event.ts'
import { anything, flag, optional, shape, text } from '../core/schema/check.ts'

export const sessionEvents = {
  session_start: defineEvent({
    about: 'A session begins, once per session. Hooks may add context for the model.',
    mode: 'transform',
    payload: shape({ source: optional(text), model: optional(text), cwd: optional(text) }),
    subject: 'source',
    aliases: ['session.created'],
  }),
  session_end: defineEvent({
    about: 'A session ended.',
    mode: 'observe',
    payload: shape({ reason: optional(text) }),
    subject: 'reason',
    aliases: ['session.deleted'],
  }),
  stop: defineEvent({
    about: 'The agent is about to end its turn. A block means: go on working.',
    mode: 'gate',
    payload: shape({
      stop_hook_active: optional(flag),
      last_assistant_message: optional(text),
      stop_reason: optional(text),
    }),
    subject: 'stop_reason',
    onFailure: 'allow',
    maxBlocksInARow: 8,
    aliases: ['before_agent_finalize', 'AfterAgent', 'session.idle', 'agentStop'],
  }),
  stop_failure: defineEvent({
    about: 'A turn ended with an error.',
    mode: 'observe',
    payload: shape({ error: optional(anything), last_assistant_message: optional(text) }),
    subject: 'error',
    aliases: ['session.error', 'errorOccurred'],
  }),
}
