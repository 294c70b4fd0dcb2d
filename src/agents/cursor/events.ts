import type { NativeEvent } from '../agent-adapter.ts'

const twin = (name: string) => `the same call already passes \`${name}\`: hooks would run twice`

/** Every event of Cursor, and the effects that its documentation lists. */
export const cursorEvents = {
  preToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'grant', 'rewrite'],
    rewriteGrants: true,
    note: 'Cursor accepts `ask` but does not enforce it, so it blocks; an MCP tool comes as `MCP:tool`, and again in `beforeMCPExecution` with the name of the server',
  },
  beforeMCPExecution: {
    event: 'pre_tool_use',
    honours: ['block', 'ask', 'grant'],
    note: 'connected in addition to `preToolUse`, because only this event has the full name of an MCP tool',
  },
  beforeShellExecution: {
    event: 'pre_tool_use',
    honours: ['block', 'ask', 'grant'],
    chatty: true,
    note: `${twin('preToolUse')}; an ask reaches the dialog only here`,
  },
  beforeReadFile: {
    event: 'pre_tool_use',
    honours: ['block', 'grant'],
    chatty: true,
    note: twin('preToolUse'),
  },
  beforeTabFileRead: {
    event: 'pre_tool_use',
    honours: ['block', 'grant'],
    chatty: true,
    note: 'for every completion while typing',
  },
  postToolUse: {
    event: 'post_tool_use',
    honours: ['context'],
    note: 'only output of MCP servers could be changed, so none is',
  },
  postToolUseFailure: { event: 'post_tool_use_failure' },
  afterShellExecution: { event: 'post_tool_use', chatty: true, note: twin('postToolUse') },
  afterMCPExecution: { event: 'post_tool_use', chatty: true, note: twin('postToolUse') },
  beforeSubmitPrompt: { event: 'user_prompt_submit', honours: ['block'] },
  sessionStart: { event: 'session_start', honours: ['context'] },
  sessionEnd: { event: 'session_end' },
  stop: {
    event: 'stop',
    honours: ['block'],
    note: 'a block is a follow-up message; Cursor accepts 5 in a row unless `loop_limit` is set',
  },
  subagentStart: { event: 'subagent_start', honours: ['block'] },
  subagentStop: { event: 'subagent_stop' },
  preCompact: { event: 'pre_compact' },
  afterFileEdit: { event: 'file_changed' },
  afterTabFileEdit: { event: 'file_changed', chatty: true, note: 'for every accepted completion' },
  afterAgentResponse: {},
  afterAgentThought: { chatty: true },
  workspaceOpen: {},
} as const satisfies Readonly<Record<string, NativeEvent>>
