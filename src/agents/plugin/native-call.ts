import { readPatch } from '../translate/apply-patch.ts'
import { toCanonical } from '../translate/tool-names.ts'
import { type NativeCall, patchInCall } from './plugin-reply.ts'

/** The call as every hook sees it. */
export function canonicalCall(call: NativeCall): Readonly<Record<string, unknown>> {
  const text = patchInCall(call)
  if (text !== undefined) return { ...readPatch(text), native_tool_name: call.tool }
  return { ...toCanonical(call.tools, call.tool, call.args) }
}
