import { defineEvent } from '../core/event.ts'
import {
  anything,
  type Check,
  flag,
  isRecord,
  list,
  number,
  optional,
  record,
  shape,
  text,
} from '../core/schema/check.ts'

/** A tool call: the payload of `pre_tool_use`. */
export interface ToolCallPayload {
  readonly tool_name: string
  readonly tool_input: Readonly<Record<string, unknown>>
  readonly tool_use_id?: string
}

const MAX_NAME = 4_096

/** Written by hand for speed: every tool call of every agent passes here. */
const toolCall: Check<ToolCallPayload> = (value) => {
  if (typeof value !== 'object' || value === null) return { path: '', expected: 'an object' }
  const { tool_name: name, tool_input: input }: { tool_name?: unknown; tool_input?: unknown } = value
  if (typeof name !== 'string') return { path: 'tool_name', expected: 'a string' }
  if (name.length > MAX_NAME) return { path: 'tool_name', expected: `at most ${MAX_NAME} characters` }
  if (!isRecord(input)) return { path: 'tool_input', expected: 'an object' }
  return undefined
}

function afterToolCall<T>(rest: Check<T>): Check<ToolCallPayload & T> {
  return (value) => toolCall(value) ?? rest(value)
}

export const toolEvents = {
  pre_tool_use: defineEvent({
    about: 'Before a tool call runs.',
    mode: 'gate',
    payload: toolCall,
    rewrites: 'tool_input',
    aliases: ['before_tool_call', 'BeforeTool', 'tool.execute.before', 'on_tool_call'],
  }),
  post_tool_use: defineEvent({
    about:
      'After a tool call ran. Only hooks with `transform: true` are awaited and may change what the model sees.',
    mode: 'transform',
    payload: afterToolCall(shape({ tool_response: anything, duration_ms: optional(number) })),
    rewrites: 'tool_response',
    awaitsOnlyTransformers: true,
    aliases: ['after_tool_call', 'AfterTool', 'tool.execute.after'],
  }),
  post_tool_use_failure: defineEvent({
    about: 'After a tool call failed. Hooks may add context for the model.',
    mode: 'transform',
    payload: afterToolCall(shape({ error: optional(anything), is_interrupt: optional(flag) })),
  }),
  post_tool_batch: defineEvent({
    about: 'After all tool calls of one model answer.',
    mode: 'observe',
    payload: shape({ tool_calls: optional(list()) }),
  }),
  permission_request: defineEvent({
    about: 'The agent is about to ask a person for permission.',
    mode: 'gate',
    payload: toolCall,
    rewrites: 'tool_input',
    aliases: ['permission.ask'],
  }),
  permission_denied: defineEvent({
    about: 'A tool call was denied.',
    mode: 'observe',
    payload: shape({ tool_name: text, tool_input: optional(record), reason: optional(text) }),
  }),
}
