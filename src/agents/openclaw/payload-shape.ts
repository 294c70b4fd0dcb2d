import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { definePayloadShape, patchIn, type ShapeSource, type ShapeView } from '../translate/shaped-event.ts'
import { openclawAdapter } from './adapter.ts'

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

const views: Readonly<Record<string, ShapeView>> = { before_tool_call: call, after_tool_call: call }

/** What a hook of an OpenClaw plugin receives: its two arguments, `event` and `ctx`. */
export const openclawPayloadShape = definePayloadShape({
  adapter: openclawAdapter,
  usual: { post_tool_use: 'after_tool_call', post_tool_use_failure: 'after_tool_call' },
  convert: patchIn('input'),
  afterToolBlock: 'context',
  views,
  build: (source, _nativeEvent, fields) => ({
    event: definedFields(fields),
    ctx: context(source),
  }),
})
