import type { NativeEvent } from '../agent-adapter.ts'

/** Every event of Codex 0.166, and the effects that it honours, as observed. */
export const codexEvents = {
  PreToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'rewrite', 'context'],
    rewriteGrants: true,
    note: 'input to a command that is already running passes no hook',
  },
  PermissionRequest: { event: 'permission_request', honours: ['block', 'grant'] },
  PostToolUse: {
    event: 'post_tool_use',
    honours: ['rewrite', 'context'],
    note: 'changed output reaches the model as one text; the result of a command is only text, so a failed command looks like a successful one',
  },
  UserPromptSubmit: { event: 'user_prompt_submit', honours: ['block', 'context'] },
  SessionStart: { event: 'session_start', honours: ['context'] },
  SessionEnd: { event: 'session_end', maxTimeoutMs: 3_000, note: 'the host waits 3 s at most' },
  Stop: {
    event: 'stop',
    honours: ['block'],
    note: 'Codex itself never ends a series of blocks; the gateway does, after 8 in a row',
  },
  SubagentStart: {
    event: 'subagent_start',
    honours: ['context'],
    note: 'to block a sub-agent, block the tool `Agent`',
  },
  SubagentStop: { event: 'subagent_stop' },
  PreCompact: { event: 'pre_compact', honours: ['block'], note: 'a block also stops the turn' },
  PostCompact: { event: 'post_compact' },
} as const satisfies Readonly<Record<string, NativeEvent>>
