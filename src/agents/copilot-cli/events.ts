import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { NativeEvent } from '../agent-adapter.ts'
import { sameFields } from '../translate/field-map.ts'
import { lookUp } from '../translate/tool-names.ts'

const ending = {
  stopReason: ['stop_reason', 'end_turn'],
  stop_hook_active: ['stop_hook_active', false],
} as const

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
  postToolUseFailure: {
    event: 'post_tool_use_failure',
    honours: ['context'],
    fields: sameFields({ error: '' }),
  },
  userPromptSubmitted: {
    event: 'user_prompt_submit',
    fields: sameFields({ prompt: '' }),
    honours: ['block', 'rewrite', 'context'],
    note: 'changing the prompt works in this version, although the documentation denies it',
  },
  userPromptTransformed: {},
  sessionStart: {
    event: 'session_start',
    honours: ['context'],
    fields: { initialPrompt: ['initial_prompt', ''] },
  },
  sessionEnd: { event: 'session_end', fields: { reason: ['reason', 'complete'] } },
  agentStop: { event: 'stop', honours: ['block'], fields: ending, note: 'it ends after 8 blocks in a row' },
  subagentStart: {
    event: 'subagent_start',
    honours: ['context'],
    note: 'to block a sub-agent, block the tool `Agent`; the built-in general-purpose agent sends no event',
  },
  subagentStop: {
    event: 'subagent_stop',
    fields: { response: ['last_assistant_message', ''], ...ending },
  },
  preCompact: {
    event: 'pre_compact',
    fields: { customInstructions: ['custom_instructions', ''], ...sameFields({ trigger: 'auto' }) },
  },
  errorOccurred: { event: 'stop_failure' },
  notification: {
    event: 'notification',
    fields: sameFields({ message: undefined, title: undefined, notification_type: undefined }),
    honours: ['context'],
    note: 'added context can wake an idle session',
  },
} as const satisfies Readonly<Record<string, NativeEvent>>

type EventWithTwin = Exclude<keyof typeof camel, 'userPromptTransformed'>

/** The key of Claude Code → the event of Copilot CLI. */
const twinNames: Readonly<Record<string, EventWithTwin>> = {
  PreToolUse: 'preToolUse',
  PermissionRequest: 'permissionRequest',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  UserPromptSubmit: 'userPromptSubmitted',
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  Stop: 'agentStop',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
  PreCompact: 'preCompact',
  ErrorOccurred: 'errorOccurred',
  Notification: 'notification',
}

/** Copilot CLI honours the same replies under these keys, as observed. */
const observedTwins = [
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'Stop',
]

function twin(key: string, name: EventWithTwin): NativeEvent {
  const row: NativeEvent = camel[name]
  return {
    ...definedFields({ event: row.event }),
    ...(row.honours === undefined || !observedTwins.includes(key) ? {} : { honours: row.honours }),
    chatty: true,
    note: `the same as \`${name}\`, from the settings of Claude Code; if both are connected, they are one event`,
  }
}

/** Every event of Copilot CLI 1.0, and the effects that it honours, as observed. */
export const copilotCliEvents: Readonly<Record<string, NativeEvent>> = {
  ...camel,
  ...Object.fromEntries(Object.entries(twinNames).map(([key, name]) => [key, twin(key, name)])),
}

/** The event in Copilot CLI's own spelling. */
export function ownEventName(event: string): string {
  return lookUp(twinNames, event) ?? event
}
