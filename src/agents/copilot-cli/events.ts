import type { NativeEvent } from '../agent-adapter.ts'

const camel = {
  preToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'ask', 'grant', 'rewrite'],
    note: 'without a terminal an ask is a no',
  },
  permissionRequest: {
    event: 'permission_request',
    honours: ['block', 'grant'],
    note: 'comes before the client’s own rules are asked, and not for reading files; a grant never lets a call out of the sandbox',
  },
  postToolUse: { event: 'post_tool_use', honours: ['rewrite', 'context'] },
  postToolUseFailure: { event: 'post_tool_use_failure', honours: ['context'] },
  userPromptSubmitted: {
    event: 'user_prompt_submit',
    honours: ['block', 'rewrite', 'context'],
    note: 'its documentation says that a prompt cannot be changed here; in this version it was',
  },
  userPromptTransformed: {},
  sessionStart: { event: 'session_start', honours: ['context'] },
  sessionEnd: { event: 'session_end' },
  agentStop: { event: 'stop', honours: ['block'], note: 'it ends after 8 blocks in a row' },
  subagentStart: {
    event: 'subagent_start',
    honours: ['context'],
    note: 'to block a sub-agent, block the tool `Agent`; the built-in general-purpose agent does not tell',
  },
  subagentStop: { event: 'subagent_stop' },
  preCompact: { event: 'pre_compact' },
  errorOccurred: { event: 'stop_failure' },
  notification: {
    event: 'notification',
    honours: ['context'],
    note: 'added words can wake an idle session',
  },
} as const satisfies Readonly<Record<string, NativeEvent>>

/**
 * The same event under the key that other clients use; its payload is then spelled as theirs. What it honours was seen
 * for these two only, where the answer is the same.
 */
const twin = (name: Exclude<keyof typeof camel, 'userPromptTransformed'>): NativeEvent => ({
  event: camel[name].event,
  chatty: true,
  note: `the same as \`${name}\`: connect one of both`,
})

/** Every event of Copilot CLI 1.0, and what it was seen to honour. */
export const copilotCliEvents: Readonly<Record<string, NativeEvent>> = {
  ...camel,
  PreToolUse: { ...twin('preToolUse'), honours: camel.preToolUse.honours },
  PermissionRequest: twin('permissionRequest'),
  PostToolUse: twin('postToolUse'),
  PostToolUseFailure: twin('postToolUseFailure'),
  UserPromptSubmit: twin('userPromptSubmitted'),
  SessionStart: twin('sessionStart'),
  SessionEnd: twin('sessionEnd'),
  Stop: { ...twin('agentStop'), honours: camel.agentStop.honours },
  SubagentStop: twin('subagentStop'),
  PreCompact: twin('preCompact'),
  ErrorOccurred: twin('errorOccurred'),
  Notification: twin('notification'),
}
