import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { parseJsonOrUndefined } from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'

/** camelCase keys whose snake_case form differs from ours. */
const names: Readonly<Record<string, string>> = {
  toolArgs: 'tool_input',
  toolResult: 'tool_response',
  tool_result: 'tool_response',
  response: 'last_assistant_message',
}

/** Converts both payload formats of Copilot CLI to snake_case. The spelling of the event key chooses between them. */
export function asSnake({ hookName: _, ...native }: NativePayload): NativePayload {
  return Object.fromEntries(
    Object.entries(native).map(([key, value]) => [lookUp(names, key) ?? snake(key), value]),
  )
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The arguments of a call. Some tools take one text, and older versions sent JSON as text. */
export function copilotArguments(native: NativePayload): unknown {
  const given = native.toolArgs ?? native.toolInput ?? native.tool_input
  if (typeof given !== 'string') return given
  const inside = parseJsonOrUndefined(given)
  return isRecord(inside) ? inside : given
}
