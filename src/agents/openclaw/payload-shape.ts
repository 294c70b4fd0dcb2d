import { definedFields } from '../../engine/core/defined-fields.ts'
import { definePayloadShape, type ShapeSource, type ShapeView } from '../translate/shaped-event.ts'
import { lookUp } from '../translate/tool-names.ts'
import { openclawEvents } from './events.ts'
import { openclawTools } from './tools.ts'

/** What a hook of an OpenClaw plugin receives: its two arguments, `event` and `ctx`. */
export const openclawPayloadShape = definePayloadShape({
  agent: 'openclaw',
  events: openclawEvents,
  usual: { post_tool_use: 'after_tool_call', post_tool_use_failure: 'after_tool_call' },
  tools: {
    tools: openclawTools,
    convert: (canonical, { command }) =>
      ['Edit', 'Write'].includes(canonical) && typeof command === 'string'
        ? { name: 'apply_patch', input: { input: command } }
        : undefined,
  },
  afterToolBlock: 'context',
  build: (source, nativeEvent) => ({
    event: (lookUp(views, nativeEvent) ?? (({ payload }) => payload))(source),
    ctx: context(source),
  }),
  variables: () => ({}),
})

const call: ShapeView = ({ tool, envelope }) =>
  definedFields({
    toolName: tool.name,
    params: tool.input,
    runId: envelope.turn,
    toolCallId: envelope.toolCall,
  })

function context({ raw, envelope, cwd, tool }: ShapeSource): unknown {
  return (
    raw.ctx ??
    definedFields({
      toolName: tool.name === '' ? undefined : tool.name,
      agentId: envelope.agent,
      sessionId: envelope.session,
      runId: envelope.turn,
      toolCallId: envelope.toolCall,
      workspaceDir: cwd,
    })
  )
}

const views: Readonly<Record<string, ShapeView>> = {
  before_tool_call: call,
  after_tool_call: (source) =>
    definedFields({
      ...call(source),
      result: source.payload.tool_response,
      error: source.payload.error,
      durationMs: source.payload.duration_ms,
    }),
  before_prompt_build: ({ payload }) => ({ prompt: payload.prompt ?? '' }),
  before_agent_run: ({ payload }) => ({ prompt: payload.prompt ?? '' }),
  before_agent_finalize: ({ payload }) => ({
    stopHookActive: payload.stop_hook_active ?? false,
    lastAssistantMessage: payload.last_assistant_message ?? '',
  }),
}
