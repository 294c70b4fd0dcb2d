import { codingAgent } from '../../engine/core/coding-agents.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { CommandAgentAdapter, NativeEvent, NativePayload, NativeReading } from '../agent-adapter.ts'
import { readFields } from '../translate/field-map.ts'
import { readSnakePayload } from '../translate/snake-payload.ts'
import { lookUp, mcpToolName } from '../translate/tool-names.ts'
import { geminiCliEvents } from './events.ts'
import { geminiCliReply } from './reply.ts'
import { geminiCliTools, geminiCliUnmappedTools } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>

/** Gemini CLI: command hooks with its own names, tools and replies. */
export const geminiCliAdapter: CommandAgentAdapter = {
  ...codingAgent('gemini-cli'),
  checked: '0.61.0',
  proof: 'run',
  transport: 'command',
  events: geminiCliEvents,
  tools: geminiCliTools,
  unmappedTools: geminiCliUnmappedTools,
  read(event, native) {
    const reading = readSnakePayload(event, native, { tools: geminiCliTools })
    const { fields = {} }: NativeEvent = lookUp(geminiCliEvents, event) ?? {}
    const others = Object.entries(reading.payload).filter(
      ([key]) => (lookUp(fields, key)?.[0] ?? key) === key,
    )
    const payload = { ...Object.fromEntries(others), ...readFields(fields, reading.payload) }
    return { ...reading, payload, ...lookUp(views, event)?.(payload, native) }
  },
  reply: geminiCliReply,
}

type View = (payload: Fields, native: NativePayload) => Omit<NativeReading, 'envelope'>

const views: Readonly<Record<string, View>> = {
  BeforeTool: (payload, native) => ({ payload: { ...payload, ...serverTool(native) } }),
  AfterTool: (payload, native) => {
    const whole = { ...payload, ...serverTool(native) }
    const failure = failureOf(native.tool_response)
    return failure === undefined
      ? { payload: whole }
      : { event: 'post_tool_use_failure', payload: { ...whole, error: failure } }
  },
  BeforeModel: withModel,
  AfterModel: withModel,
}

/** Gemini CLI shortens the names of server and tool. The context has both in full. */
function serverTool({ tool_name, mcp_context: context }: NativePayload): Fields {
  if (!isRecord(context)) return {}
  const { server_name: server, tool_name: tool } = context
  return typeof server === 'string' && typeof tool === 'string'
    ? { tool_name: mcpToolName(server, tool), native_tool_name: tool_name }
    : {}
}

function failureOf(response: unknown): string | undefined {
  if (!isRecord(response) || response.error === undefined || response.error === null) return undefined
  const { error } = response
  if (isRecord(error) && typeof error.message === 'string') return error.message
  return typeof error === 'string' ? error : JSON.stringify(error)
}

function withModel(payload: Fields): { readonly payload: Fields } {
  const { request } = payload
  const isNamed = isRecord(request) && typeof request.model === 'string'
  return { payload: isNamed ? { ...payload, model: request.model } : payload }
}
