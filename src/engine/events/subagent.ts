import { defineEvent } from '../core/event.ts'
import { optional, shape, text } from '../core/schema/check.ts'

export const subagentEvents = {
  subagent_start: defineEvent({
    about: 'Before a sub-agent is spawned.',
    mode: 'gate',
    payload: shape({ agent_type: optional(text), agent_id: optional(text), prompt: optional(text) }),
    rewrites: 'prompt',
    subject: 'agent_type',
    aliases: ['subagent_spawning'],
  }),
  subagent_stop: defineEvent({
    about: 'A sub-agent finished.',
    mode: 'observe',
    payload: shape({
      agent_type: optional(text),
      agent_id: optional(text),
      status: optional(text),
      last_assistant_message: optional(text),
    }),
    subject: 'agent_type',
    aliases: ['subagent_ended'],
  }),
  teammate_idle: defineEvent({
    about: 'A team member has nothing to do.',
    mode: 'observe',
    payload: shape({ teammate_name: optional(text), team_name: optional(text) }),
    subject: 'teammate_name',
  }),
}
