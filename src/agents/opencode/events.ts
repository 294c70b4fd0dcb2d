import type { NativeEvent } from '../agent-adapter.ts'

/** The events that the plugin reports from OpenCode 1.18, and the effects that it honours, as observed. */
export const opencodeEvents = {
  'tool.execute.before': { event: 'pre_tool_use', honours: ['block', 'rewrite'] },
  'tool.execute.after': {
    event: 'post_tool_use',
    honours: ['rewrite', 'context'],
    note: 'a command that exits with a code other than 0 is a failed call',
  },
  'message.part.updated': {
    event: 'post_tool_use_failure',
    note: 'only for tool calls that threw; refused calls do not count',
  },
  'chat.message': { event: 'user_prompt_submit', honours: ['block', 'rewrite', 'context'] },
  'command.execute.before': { event: 'user_prompt_expansion' },
  'experimental.session.compacting': { event: 'pre_compact', honours: ['context'] },
  'session.compacted': { event: 'post_compact' },
  'session.created': {
    event: 'session_start',
    note: 'the session of a sub-agent is `subagent_start`; to block one, block the tool `Agent`',
  },
  'session.deleted': { event: 'session_end' },
  'session.idle': { event: 'stop', note: 'the session of a sub-agent is `subagent_stop`' },
  'session.error': { event: 'stop_failure' },
  'permission.asked': {
    event: 'permission_request',
    note: 'observed only: a call is blocked before OpenCode asks for permission',
  },
  'permission.replied': {},
  'file.edited': { event: 'file_changed' },
  'chat.params': { event: 'model_request', honours: ['rewrite'], chatty: true },
} as const satisfies Readonly<Record<string, NativeEvent>>
