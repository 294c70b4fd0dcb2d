import type { NativeEvent } from '../agent-adapter.ts'

/** Every event of Gemini CLI 0.61, and what it was seen to honour. */
export const geminiCliEvents = {
  BeforeTool: {
    event: 'pre_tool_use',
    honours: ['block', 'rewrite'],
    note: 'an ask would hang without a terminal, so it blocks; a rewrite that leaves out an argument blocks where Gemini CLI cannot take it away; the model is told which arguments were changed',
  },
  AfterTool: {
    event: 'post_tool_use',
    also: 'post_tool_use_failure',
    honours: ['rewrite', 'context'],
    note: 'arrives as `post_tool_use_failure` when the tool reports an error, which a command with a bad exit code does not; changed output reaches the model as one text, marked as blocked',
  },
  BeforeAgent: { event: 'user_prompt_submit', honours: ['block', 'context'] },
  AfterAgent: { event: 'stop', honours: ['block'] },
  SessionStart: { event: 'session_start', honours: ['context'] },
  SessionEnd: { event: 'session_end' },
  Notification: { event: 'notification', note: 'tells of a permission prompt, which no hook can answer' },
  BeforeModel: {
    event: 'model_request',
    honours: ['rewrite'],
    chatty: true,
    note: 'messages hold only their texts: changing them loses tool calls and images, changing `config` loses instructions and tools',
  },
  AfterModel: {
    event: 'model_response',
    honours: ['rewrite'],
    chatty: true,
    note: 'once per piece of the stream; an answer without text cannot be changed',
  },
  BeforeToolSelection: { chatty: true, note: 'before every model call' },
  PreCompress: {
    event: 'pre_compact',
    chatty: true,
    note: 'fires before every model call, whether or not anything is compacted',
  },
} as const satisfies Readonly<Record<string, NativeEvent>>
