import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { ClientOutcome, NativePayload, PluginReply } from '../agent-adapter.ts'
import { changedArguments, contextReply, passReply, pluginRefusal } from '../plugin/plugin-reply.ts'
import { outputText } from '../translate/process-reply.ts'
import { type PayloadRecord, recordField } from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'
import { openclawCall } from './read.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => PluginReply

const beforeTool: Reply = ({ kind, message, input }, native) => {
  if (kind === 'block') return pluginRefusal(message)
  const args = input === undefined ? undefined : changedArguments(openclawCall(native), input)
  if (input !== undefined && args === undefined)
    return pluginRefusal(`a hook changed this call in a way that OpenClaw cannot carry out: ${message}`)
  return { ...(kind === 'ask' ? { ask: message } : {}), ...definedFields({ args }) }
}

const toolResult: Reply = ({ input, context }, native) => {
  const result = recordField(recordField(native, 'event'), 'result')
  const changed = input === undefined ? result : changedResult(result, input)
  const content = Array.isArray(changed.content) ? changed.content : []
  const noted =
    context === undefined ? changed : { ...changed, content: [...content, { type: 'text', text: context }] }
  return noted === result ? passReply : { output: noted }
}

/** A text replaces every field that could still hold what the hook hides. */
function changedResult(original: PayloadRecord, input: unknown): PayloadRecord {
  if (isRecord(input) && Array.isArray(input.content)) return input
  const { status } = recordField(original, 'details')
  return { content: [{ type: 'text', text: outputText(input) }], details: { status: status ?? 'completed' } }
}

const promptBuild: Reply = ({ kind, message, context }) =>
  kind === 'block' || kind === 'ask' ? pluginRefusal(message) : contextReply(context)

const blocking: Reply = ({ kind, message }) =>
  kind === 'block' || kind === 'ask' ? pluginRefusal(message) : passReply

const replies: Readonly<Record<string, Reply>> = {
  before_tool_call: beforeTool,
  agent_tool_result: toolResult,
  before_prompt_build: promptBuild,
  before_agent_run: blocking,
  before_agent_finalize: blocking,
}

/** The reply in the format of the plugin, which rejects unknown fields. */
export function openclawReply(event: string, outcome: ClientOutcome, native: NativePayload): PluginReply {
  return lookUp(replies, event)?.(outcome, native) ?? passReply
}
