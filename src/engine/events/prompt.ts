import { defineEvent } from '../core/event.ts'
import { anything, optional, shape, text } from '../core/schema/check.ts'

export const promptEvents = {
  user_prompt_submit: defineEvent({
    about: 'Before the message of a user reaches the agent.',
    mode: 'gate',
    payload: shape({ prompt: text, source: optional(text) }),
    rewrites: 'prompt',
    subject: 'source',
    aliases: ['BeforeAgent', 'chat.message', 'beforeSubmitPrompt', 'userPromptSubmitted'],
  }),
  user_prompt_expansion: defineEvent({
    about: 'A command in a prompt was expanded.',
    mode: 'observe',
    payload: shape({ prompt: optional(text), command_name: optional(text) }),
    subject: 'command_name',
  }),
  notification: defineEvent({
    about: 'The agent notifies a person. Hooks may add context.',
    mode: 'transform',
    payload: shape({ message: optional(text), title: optional(text), notification_type: optional(text) }),
    subject: 'notification_type',
  }),
  message_display: defineEvent({
    about: 'A piece of the answer is shown.',
    mode: 'observe',
    payload: shape({ message_id: optional(text), delta: optional(text) }),
    subject: 'message_id',
  }),
  elicitation: defineEvent({
    about: 'A tool server asks the user something.',
    mode: 'observe',
    payload: shape({ mcp_server_name: optional(text), message: optional(text) }),
    subject: 'mcp_server_name',
  }),
  elicitation_result: defineEvent({
    about: 'The user answered a tool server.',
    mode: 'observe',
    payload: shape({ mcp_server_name: optional(text), action: optional(text), content: optional(anything) }),
    subject: 'mcp_server_name',
  }),
}
