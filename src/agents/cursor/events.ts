import type { NativeEvent } from '../agent-adapter.ts'

const twin = (name: string) => `the same call already passes \`${name}\`: hooks would run twice`

/** Every event of Cursor, and what its documentation says that it honours. */
export const cursorEvents = {
  preToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'grant', 'rewrite'],
    rewriteGrants: true,
    note: 'an ask is accepted there and not enforced, so it blocks; a tool of an MCP server comes as `MCP:tool`, and again in `beforeMCPExecution` with the name of the server',
  },
  beforeMCPExecution: {
    event: 'pre_tool_use',
    honours: ['block', 'ask', 'grant'],
    note: 'connected beside `preToolUse`, because only here a tool of an MCP server has its whole name',
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
    note: 'a block is a follow-up message; Cursor takes 5 in a row unless `loop_limit` says otherwise',
  },
  subagentStart: { event: 'subagent_start', honours: ['block'] },
  subagentStop: { event: 'subagent_stop' },
  preCompact: { event: 'pre_compact' },
  afterFileEdit: { event: 'file_changed' },
  afterTabFileEdit: { event: 'file_changed', chatty: true, note: 'for every completion that is taken' },
  afterAgentResponse: {},
  afterAgentThought: { chatty: true },
  workspaceOpen: {},
} as const satisfies Readonly<Record<string, NativeEvent>>
