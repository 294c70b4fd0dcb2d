import { defineEvent } from '../core/event.ts'
import { optional, shape, text } from '../core/schema/check.ts'

export const workspaceEvents = {
  setup: defineEvent({
    about: 'The agent is being set up.',
    mode: 'observe',
    payload: shape({ trigger: optional(text) }),
    subject: 'trigger',
  }),
  config_change: defineEvent({
    about: 'A settings file of the agent changed.',
    mode: 'observe',
    payload: shape({ source: optional(text), file_path: optional(text) }),
    subject: 'source',
  }),
  worktree_create: defineEvent({
    about: 'A work tree is created.',
    mode: 'observe',
    payload: shape({ name: optional(text) }),
    subject: 'name',
  }),
  worktree_remove: defineEvent({
    about: 'A work tree is removed.',
    mode: 'observe',
    payload: shape({ worktree_path: optional(text) }),
    subject: 'worktree_path',
  }),
  instructions_loaded: defineEvent({
    about: 'An instructions file was loaded.',
    mode: 'observe',
    payload: shape({ file_path: optional(text) }),
    subject: 'file_path',
  }),
  cwd_changed: defineEvent({
    about: 'The working directory changed.',
    mode: 'observe',
    payload: shape({ old_cwd: optional(text), new_cwd: optional(text) }),
    subject: 'new_cwd',
  }),
  file_changed: defineEvent({
    about: 'A watched file changed.',
    mode: 'observe',
    payload: shape({ file_path: optional(text) }),
    subject: 'file_path',
    aliases: ['file.edited', 'afterFileEdit'],
  }),
  agent_event: defineEvent({
    about: 'A coding agent reports something that has no event of its own here.',
    mode: 'observe',
    payload: shape({ name: text }),
    subject: 'name',
  }),
  directory_added: defineEvent({
    about: 'A directory was added to the workspace.',
    mode: 'observe',
    payload: shape({ directory: optional(text) }),
    subject: 'directory',
  }),
}
