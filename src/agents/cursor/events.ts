import type { NativeEvent } from '../agent-adapter.ts'
import { sameFields } from '../translate/field-map.ts'

const twin = (name: string) => `the same call already passes \`${name}\`: hooks would run twice`

/** Every event of Cursor, and the effects that its documentation lists. */
export const cursorEvents = {
  preToolUse: {
    event: 'pre_tool_use',
    honours: ['block', 'grant', 'rewrite'],
    rewriteGrants: true,
    fields: sameFields({ agent_message: undefined }),
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
    fields: sameFields({ attachments: [] }),
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
  postToolUseFailure: {
    event: 'post_tool_use_failure',
    fields: { error_message: ['error'], ...sameFields({ failure_type: 'error', is_interrupt: false }) },
  },
  afterShellExecution: { event: 'post_tool_use', chatty: true, note: twin('postToolUse') },
  afterMCPExecution: { event: 'post_tool_use', chatty: true, note: twin('postToolUse') },
  beforeSubmitPrompt: {
    event: 'user_prompt_submit',
    honours: ['block'],
    fields: sameFields({ prompt: '', attachments: [] }),
  },
  sessionStart: {
    event: 'session_start',
    honours: ['context'],
    fields: sameFields({ is_background_agent: false, composer_mode: 'agent' }),
  },
  sessionEnd: {
    event: 'session_end',
    fields: sameFields({
      reason: 'completed',
      duration_ms: 0,
      is_background_agent: false,
      final_status: 'completed',
    }),
  },
  stop: {
    event: 'stop',
    fields: { status: ['stop_reason', 'completed'], ...sameFields({ loop_count: 0 }) },
    honours: ['block'],
    note: 'a block is a follow-up message; Cursor accepts 5 in a row unless `loop_limit` is set',
  },
  subagentStart: {
    event: 'subagent_start',
    honours: ['block'],
    fields: {
      subagent_id: ['agent_id', ''],
      subagent_type: ['agent_type', ''],
      task: ['prompt', ''],
      ...sameFields({ is_parallel_worker: false, subagent_model: undefined, git_branch: undefined }),
    },
  },
  subagentStop: {
    event: 'subagent_stop',
    fields: {
      subagent_type: ['agent_type', ''],
      summary: ['last_assistant_message', ''],
      ...sameFields({
        status: 'completed',
        task: '',
        duration_ms: 0,
        loop_count: 0,
        modified_files: [],
        message_count: undefined,
        tool_call_count: undefined,
        agent_transcript_path: undefined,
      }),
    },
  },
  preCompact: { event: 'pre_compact' },
  afterFileEdit: { event: 'file_changed' },
  afterTabFileEdit: { event: 'file_changed', chatty: true, note: 'for every accepted completion' },
  afterAgentResponse: {},
  afterAgentThought: { chatty: true },
  workspaceOpen: {},
} as const satisfies Readonly<Record<string, NativeEvent>>
