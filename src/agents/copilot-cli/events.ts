import type { NativeEvent } from '../agent-adapter.ts'

const camel = {
  preToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'ask', 'grant', 'rewrite'],
    note: 'without a terminal, `ask` blocks',
  },
  permissionRequest: {
    event: 'permission_request',
    honours: ['block', 'grant'],
    note: 'runs before the agent’s own permissions, and not for reading files; a grant never lets a call leave the sandbox',
  },
  postToolUse: { event: 'post_tool_use', honours: ['rewrite', 'context'] },
  postToolUseFailure: { event: 'post_tool_use_failure', honours: ['context'] },
  userPromptSubmitted: {
    event: 'user_prompt_submit',
    honours: ['block', 'rewrite', 'context'],
    note: 'changing the prompt works in this version, although the documentation denies it',
  },
  userPromptTransformed: {},
  sessionStart: { event: 'session_start', honours: ['context'] },
  sessionEnd: { event: 'session_end' },
  agentStop: { event: 'stop', honours: ['block'], note: 'it ends after 8 blocks in a row' },
  subagentStart: {
    event: 'subagent_start',
    honours: ['context'],
    note: 'to block a sub-agent, block the tool `Agent`; the built-in general-purpose agent sends no event',
  },
  subagentStop: { event: 'subagent_stop' },
  preCompact: { event: 'pre_compact' },
  errorOccurred: { event: 'stop_failure' },
  notification: {
    event: 'notification',
    honours: ['context'],
    note: 'added context can wake an idle session',
  },
} as const satisfies Readonly<Record<string, NativeEvent>>

/**
 * The same event under the key of other agents, with their payload format. The effects were observed for these two
 * only, where the reply is the same.
 */
const twin = (name: Exclude<keyof typeof camel, 'userPromptTransformed'>): NativeEvent => ({
  event: camel[name].event,
  chatty: true,
  note: `the same as \`${name}\`: connect one of both`,
})

/** Every event of Copilot CLI 1.0, and the effects that it honours, as observed. */
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
