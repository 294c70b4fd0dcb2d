import { isRecord } from '../../engine/core/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { parseJsonOrUndefined } from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'

/** Where a camelCase key is not ours in snake_case. */
const names: Readonly<Record<string, string>> = {
  toolArgs: 'tool_input',
  toolResult: 'tool_response',
  tool_result: 'tool_response',
  response: 'last_assistant_message',
}

/** Both dialects of Copilot CLI as the one that hooks know. The spelling of the event key chooses between them. */
export function asSnake({ hookName: _, ...native }: NativePayload): NativePayload {
  return Object.fromEntries(
    Object.entries(native).map(([key, value]) => [lookUp(names, key) ?? snake(key), value]),
  )
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The arguments of a call as they came: some tools take one text, and an older client sent JSON as one. */
export function copilotArguments(native: NativePayload): unknown {
  const given = native.toolArgs ?? native.toolInput ?? native.tool_input
  if (typeof given !== 'string') return given
  const inside = parseJsonOrUndefined(given)
  return isRecord(inside) ? inside : given
}
