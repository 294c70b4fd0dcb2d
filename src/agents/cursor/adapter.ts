import { codingAgent } from '../../engine/core/coding-agents.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { CommandAgentAdapter } from '../agent-adapter.ts'
import { textField } from '../translate/read-fields.ts'
import { cursorEvents } from './events.ts'
import { cursorCwd, cursorPayload } from './payload.ts'
import { cursorReply } from './reply.ts'
import { cursorTools } from './tools.ts'

/** Cursor: command hooks in its own format. Written from its documentation, not checked by running it. */
export const cursorAdapter: CommandAgentAdapter = {
  ...codingAgent('cursor'),
  checked: 'documentation of 2026',
  proof: 'documentation',
  transport: 'command',
  events: cursorEvents,
  tools: cursorTools,
  unmappedTools: [],
  read(event, native) {
    const session = textField(native, 'conversation_id') ?? textField(native, 'session_id')
    const parent = textField(native, 'parent_conversation_id')
    return {
      payload: cursorPayload(event, native),
      envelope: {
        ...definedFields({
          session,
          turn: textField(native, 'generation_id'),
          toolCall: textField(native, 'tool_use_id') ?? textField(native, 'tool_call_id'),
          cwd: cursorCwd(native),
        }),
        raw: native,
      },
      ...(parent === undefined || parent === session ? {} : { parentSession: parent }),
    }
  },
  reply: cursorReply,
}
