import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { outputText } from '../translate/process-reply.ts'
import type { PayloadRecord } from '../translate/read-fields.ts'
import { definePayloadShape, type ShapeSource } from '../translate/shaped-event.ts'
import { claudeCodeAdapter } from './adapter.ts'

/** Fields of our payload that Claude Code does not have. */
const ours = new Set(['native_tool_name', 'tool_input', 'tool_response'])

/** Our payloads have Claude Code's names, so only what the envelope carries is added. */
export const claudeCodePayloadShape = definePayloadShape({
  adapter: claudeCodeAdapter,
  afterToolBlock: 'context',
  readsFailedOutput: true,
  build: (source, nativeEvent) => ({
    ...source.raw,
    ...claudeFields(source, nativeEvent),
    ...(source.payload.tool_response === undefined
      ? {}
      : { tool_response: toolResponse(source.tool.name, source.payload.tool_response) }),
  }),
  variables: ({ project, envelope: { session = '' } }) => ({
    CLAUDE_PROJECT_DIR: project,
    CLAUDE_CODE_SESSION_ID: session,
    CLAUDECODE: '1',
  }),
})

/** The fields that Claude Code, and the agents that follow it, give to every hook. */
export function claudeFields(source: ShapeSource, nativeEvent: string): PayloadRecord {
  const { payload, envelope, raw, cwd, tool } = source
  const rest = Object.fromEntries(Object.entries(payload).filter(([key]) => !ours.has(key)))
  return {
    session_id: raw.session_id ?? envelope.session ?? '',
    transcript_path: raw.transcript_path ?? '',
    cwd,
    hook_event_name: nativeEvent,
    permission_mode: 'default',
    ...definedFields({ agent_id: envelope.lane }),
    ...rest,
    ...(tool.name !== '' &&
      definedFields({ tool_name: tool.name, tool_input: tool.input, tool_use_id: envelope.toolCall })),
  }
}

/** Other agents report the output of a shell as one text. */
function toolResponse(tool: string, response: unknown): unknown {
  if (tool !== 'Bash' || (isRecord(response) && 'stdout' in response)) return response
  return { stdout: outputText(response), stderr: '', interrupted: false, isImage: false }
}
