import { isRecord } from '../../engine/core/check.ts'
import type { NativePayload, PluginReply } from '../agent-adapter.ts'
import { patchText, readPatch } from '../translate/apply-patch.ts'
import { textField } from '../translate/read-fields.ts'
import { type ToolNames, toCanonical, toNative } from '../translate/tool-names.ts'

/** No objection: the client goes on as if we were not there. */
export const passReply: PluginReply = Object.freeze({})

export function pluginRefusal(message: string): PluginReply {
  return { block: message.trim() || 'a hook decided so' }
}

export function contextReply(context: string | undefined): PluginReply {
  return context === undefined || context.trim() === '' ? passReply : { context }
}

/** A tool call as the client makes it. */
export interface NativeCall {
  readonly tools: ToolNames
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  /** Where a tool called `apply_patch` has the text of the input. */
  readonly patchKey: string
}

/** The arguments a hook wants instead, in the client's spelling; none where the client cannot have them. */
export function changedArguments(
  call: NativeCall,
  input: unknown,
): Readonly<Record<string, unknown>> | undefined {
  const text = patchInCall(call)
  if (text !== undefined) {
    const changed = patchText(text, input)
    return changed === undefined ? undefined : { ...call.args, [call.patchKey]: changed }
  }
  return isRecord(input) ? toNative(call.tools, call.tool, input) : undefined
}

/** The text of an input, where the call is one. */
function patchInCall({
  tool,
  args,
  patchKey,
}: Pick<NativeCall, 'tool' | 'args' | 'patchKey'>): string | undefined {
  const text = tool === 'apply_patch' ? args[patchKey] : undefined
  return typeof text === 'string' ? text : undefined
}

/** The call as every hook sees it. */
export function canonicalCall(call: NativeCall): Readonly<Record<string, unknown>> {
  const text = patchInCall(call)
  if (text !== undefined) return { ...readPatch(text), native_tool_name: call.tool }
  return { ...toCanonical(call.tools, call.tool, call.args) }
}

/** Whose sub-agent a session is, as the plugin found out. */
export interface SubAgent {
  /** The session that everything began with. */
  readonly root: string
  readonly parent: string
  /** Its own session. */
  readonly lane: string
}

export function subAgentOf({ sub }: NativePayload): SubAgent | undefined {
  if (!isRecord(sub)) return undefined
  const [root, parent, lane] = [textField(sub, 'root'), textField(sub, 'parent'), textField(sub, 'lane')]
  return root === undefined || parent === undefined || lane === undefined ? undefined : { root, parent, lane }
}

/** The lane of the agent that started this one: none where that is the agent itself. */
export function laneAbove({ root, parent }: SubAgent): string | undefined {
  return parent === root ? undefined : parent
}
