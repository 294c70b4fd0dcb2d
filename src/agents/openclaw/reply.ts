import { isRecord } from '../../engine/core/check.ts'
import type { ClientOutcome, NativePayload, PluginReply } from '../agent-adapter.ts'
import { type Fields, part } from '../plugin/fields.ts'
import { addition, changedArgs, pass, refusal } from '../plugin/plugin-reply.ts'
import { outputText } from '../translate/output-text.ts'
import { own } from '../translate/own.ts'
import { callOf } from './payload.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => PluginReply

const beforeTool: Reply = ({ kind, message, patch }, native) => {
  if (kind === 'block') return refusal(message)
  const args = patch === undefined ? undefined : changedArgs(callOf(native), patch)
  if (patch !== undefined && args === undefined)
    return refusal(`a hook changed this call in a way that OpenClaw cannot carry out: ${message}`)
  return { ...(kind === 'ask' ? { ask: message } : {}), ...(args === undefined ? {} : { args }) }
}

const toolResult: Reply = ({ patch, context }, native) => {
  const result = part(part(native, 'event'), 'result')
  const changed = patch === undefined ? result : changedResult(result, patch)
  const content = Array.isArray(changed.content) ? changed.content : []
  const noted =
    context === undefined ? changed : { ...changed, content: [...content, { type: 'text', text: context }] }
  return noted === result ? pass : { output: noted }
}

/** A text replaces everything that could still hold what was to be hidden. */
function changedResult(original: Fields, patch: unknown): Fields {
  if (isRecord(patch) && Array.isArray(patch.content)) return patch
  const { status } = part(original, 'details')
  return { content: [{ type: 'text', text: outputText(patch) }], details: { status: status ?? 'completed' } }
}

const promptBuild: Reply = ({ kind, message, context }) =>
  kind === 'block' || kind === 'ask' ? refusal(message) : addition(context)

const blocking: Reply = ({ kind, message }) => (kind === 'block' || kind === 'ask' ? refusal(message) : pass)

const replies: Readonly<Record<string, Reply>> = {
  before_tool_call: beforeTool,
  agent_tool_result: toolResult,
  before_prompt_build: promptBuild,
  before_agent_run: blocking,
  before_agent_finalize: blocking,
}

/** What the plugin carries out; anything else it would take for no answer. */
export function openclawReply(event: string, outcome: ClientOutcome, native: NativePayload): PluginReply {
  return own(replies, event)?.(outcome, native) ?? pass
}
