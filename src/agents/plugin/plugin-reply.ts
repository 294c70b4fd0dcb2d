import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload, PluginReply } from '../agent-adapter.ts'
import { patchText, readPatch } from '../translate/apply-patch.ts'
import { textField } from '../translate/read-fields.ts'
import { type ToolNames, toCanonical, toNative } from '../translate/tool-names.ts'

/** No objection: the agent continues as if Hookhelm were not installed. */
export const passReply: PluginReply = Object.freeze({})

export function pluginRefusal(message: string): PluginReply {
  return { block: message.trim() || 'a hook gave no reason' }
}

export function contextReply(context: string | undefined): PluginReply {
  return context === undefined || context.trim() === '' ? passReply : { context }
}

/** A tool call of the agent. */
export interface NativeCall {
  readonly tools: ToolNames
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  /** The argument of `apply_patch` that holds the patch. */
  readonly patchKey: string
}

/** The changed arguments with the agent's argument names. Undefined if the agent cannot apply them. */
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

/** The text of a patch, if the call is one. */
function patchInCall({
  tool,
  args,
  patchKey,
}: Pick<NativeCall, 'tool' | 'args' | 'patchKey'>): string | undefined {
  const text = tool === 'apply_patch' ? args[patchKey] : undefined
  return typeof text === 'string' ? text : undefined
}

/** The call with canonical names, as hooks see it. */
export function canonicalCall(call: NativeCall): Readonly<Record<string, unknown>> {
  const text = patchInCall(call)
  if (text !== undefined) return { ...readPatch(text), native_tool_name: call.tool }
  return { ...toCanonical(call.tools, call.tool, call.args) }
}

/** The sub-agent of a session, as the plugin found out. */
export interface SubAgent {
  /** The top-level session. */
  readonly root: string
  readonly parent: string
  /** The sub-agent's own session. */
  readonly lane: string
}

export function subAgentOf({ sub }: NativePayload): SubAgent | undefined {
  if (!isRecord(sub)) return undefined
  const [root, parent, lane] = [textField(sub, 'root'), textField(sub, 'parent'), textField(sub, 'lane')]
  return root === undefined || parent === undefined || lane === undefined ? undefined : { root, parent, lane }
}

/** The lane of the parent agent. Undefined if the parent is the top-level agent. */
export function laneAbove({ root, parent }: SubAgent): string | undefined {
  return parent === root ? undefined : parent
}
