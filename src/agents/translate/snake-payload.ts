import type { Envelope } from '../../engine/core/context.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { inputField, nameField, pathField, textField } from './read-fields.ts'
import { type ToolNames, toCanonical } from './tool-names.ts'

interface Dialect {
  readonly tools: ToolNames
  /** The key of the turn id. */
  readonly turn?: string
}

/** Fields that only the envelope carries. */
const known = new Set(['session_id', 'cwd', 'hook_event_name', 'transcript_path'])

/** The parent agent reports the start and end of a sub-agent. */
const aboutLane = /^subagent(start|stop)$/i

/** Reads the flat snake_case payload that Claude Code introduced and other agents use. */
export function readSnakePayload(
  event: string,
  native: NativePayload,
  { tools, turn }: Dialect,
): NativeReading {
  const rest = Object.fromEntries(
    Object.entries(native).filter(([key, value]) => !known.has(key) && value !== null),
  )
  const payload = 'tool_name' in native ? { ...rest, ...toolOf(native, tools) } : rest
  return { payload, envelope: envelopeOf(native, turn, event) }
}

function toolOf(native: NativePayload, tools: ToolNames): Readonly<Record<string, unknown>> {
  return { ...toCanonical(tools, nameField(native, 'tool_name'), inputField(native, 'tool_input')) }
}

function envelopeOf(native: NativePayload, turn: string | undefined, event: string): Envelope {
  return {
    ...definedFields({
      session: textField(native, 'session_id'),
      cwd: pathField(native, 'cwd'),
      turn: turn === undefined ? undefined : textField(native, turn),
      toolCall: textField(native, 'tool_use_id'),
      lane: aboutLane.test(event) ? undefined : textField(native, 'agent_id'),
    }),
    raw: native,
  }
}
