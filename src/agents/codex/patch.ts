import { isRecord } from '../../engine/core/check.ts'
import type { NativePayload } from '../agent-adapter.ts'

/** The text of a patch, where the call is one. */
export function codexPatch(native: NativePayload): string | undefined {
  if (native.tool_name !== 'apply_patch' || !isRecord(native.tool_input)) return undefined
  const { command } = native.tool_input
  return typeof command === 'string' ? command : undefined
}
