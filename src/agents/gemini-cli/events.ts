import type { NativeEvent } from '../agent-adapter.ts'
import { sameFields } from '../translate/field-map.ts'

/** Every event of Gemini CLI 0.61, and the effects that it honours, as observed. */
export const geminiCliEvents = {
  BeforeTool: {
    event: 'pre_tool_use',
    honours: ['block', 'rewrite'],
    note: '`ask` would hang without a terminal, so it blocks; a rewrite that removes an argument blocks if Gemini CLI cannot remove it; the model learns which arguments changed',
  },
  AfterTool: {
    event: 'post_tool_use',
    also: 'post_tool_use_failure',
    honours: ['rewrite', 'context'],
    note: 'arrives as `post_tool_use_failure` when the tool reports an error, which a command with a bad exit code does not; changed output reaches the model as one text, marked as blocked',
  },
  BeforeAgent: {
    event: 'user_prompt_submit',
    honours: ['block', 'context'],
    fields: sameFields({ prompt: '' }),
  },
  AfterAgent: {
    event: 'stop',
    honours: ['block'],
    fields: {
      prompt_response: ['last_assistant_message', ''],
      ...sameFields({ prompt: '', stop_hook_active: false }),
    },
  },
  SessionStart: { event: 'session_start', honours: ['context'], fields: { source: ['source', 'startup'] } },
  SessionEnd: { event: 'session_end', fields: { reason: ['reason', 'other'] } },
  Notification: {
    event: 'notification',
    fields: sameFields({ notification_type: 'ToolPermission', message: '', details: {} }),
    note: 'reports a permission prompt, which no hook can answer',
  },
  BeforeModel: {
    event: 'model_request',
    fields: { llm_request: ['request', {}] },
    honours: ['rewrite'],
    chatty: true,
    note: 'messages contain only text: changing them loses tool calls and images, changing `config` loses instructions and tools',
  },
  AfterModel: {
    event: 'model_response',
    fields: { llm_request: ['request', {}], llm_response: ['response', {}] },
    honours: ['rewrite'],
    chatty: true,
    note: 'once per chunk of the stream; a chunk without text cannot be changed',
  },
  BeforeToolSelection: { chatty: true, note: 'before every model call' },
  PreCompress: {
    event: 'pre_compact',
    fields: sameFields({ trigger: 'auto' }),
    chatty: true,
    note: 'fires before every model call, whether or not anything is compacted',
  },
} as const satisfies Readonly<Record<string, NativeEvent>>
