import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { claudeFields } from '../claude-code/payload-shape.ts'
import { readPatch } from '../translate/apply-patch.ts'
import { outputText } from '../translate/process-reply.ts'
import type { PayloadRecord } from '../translate/read-fields.ts'
import { definePayloadShape, type NativeToolCall } from '../translate/shaped-event.ts'
import { codexAdapter } from './adapter.ts'

/** Codex's hooks: Claude Code's fields, its own tools, and a patch for every change of a file. */
export const codexPayloadShape = definePayloadShape({
  adapter: codexAdapter,
  preferred: { Agent: 'spawn_agent', Read: 'read_file' },
  convert: asPatch,
  revert: readChangedPatch,
  afterToolBlock: 'output',
  build: (source, nativeEvent) => {
    const { payload, envelope, raw } = source
    const { tool_response: response } = payload
    return {
      ...raw,
      ...claudeFields(source, nativeEvent),
      ...(raw.transcript_path === undefined ? { transcript_path: null } : {}),
      ...definedFields({ turn_id: envelope.turn }),
      model: raw.model ?? payload.model ?? '',
      ...(response === undefined
        ? {}
        : { tool_response: source.tool.name === 'Bash' ? outputText(response) : response }),
    }
  },
})

/** Codex changes files with patches only, so that its guards look for paths in the text of a patch. */
function asPatch(canonical: string, input: PayloadRecord): NativeToolCall | undefined {
  if (!['Edit', 'Write', 'MultiEdit', 'NotebookEdit'].includes(canonical)) return undefined
  const { command, file_path: path, notebook_path: notebook } = input
  if (typeof command === 'string') return { name: 'apply_patch', input: { command } }
  const file = String(path ?? notebook ?? '')
  const patch =
    canonical === 'Write'
      ? [`*** Add File: ${file}`, ...marked('+', input.content)]
      : [`*** Update File: ${file}`, ...editsOf(input).flatMap(hunk)]
  return {
    name: 'apply_patch',
    input: { command: ['*** Begin Patch', ...patch, '*** End Patch', ''].join('\n') },
  }
}

function editsOf(input: PayloadRecord): readonly PayloadRecord[] {
  return Array.isArray(input.edits) ? input.edits.filter(isRecord) : [input]
}

function hunk({ old_string, new_string, new_source }: PayloadRecord): readonly string[] {
  return ['@@', ...marked('-', old_string), ...marked('+', new_string ?? new_source)]
}

function marked(sign: '+' | '-', text: unknown): readonly string[] {
  return typeof text === 'string' && text !== '' ? text.split('\n').map((line) => `${sign}${line}`) : []
}

/** A changed patch is an input of ours only if the call was a patch. Another input is refused by the engine. */
function readChangedPatch(changed: PayloadRecord, payload: PayloadRecord): PayloadRecord | undefined {
  const { tool_input: input } = payload
  const wasPatch = isRecord(input) && 'file_path' in input && 'command' in input
  return wasPatch && typeof changed.command === 'string' ? readPatch(changed.command).tool_input : undefined
}
