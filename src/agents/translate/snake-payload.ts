import type { Envelope } from '../../engine/core/context.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { definedFields, inputField, nameField, pathField, textField } from './read-fields.ts'
import { type ToolNames, toCanonical } from './tool-names.ts'

interface Dialect {
  readonly tools: ToolNames
  /** Where the payload names the turn. */
  readonly turn?: string
}

/** What the envelope says, and the payload need not say again. */
const known = new Set(['session_id', 'cwd', 'hook_event_name', 'transcript_path'])

/** A sub-agent that starts or ends is told of by the agent above it. */
const aboutLane = /^subagent(start|stop)$/i

/** The payload that Claude Code began and others follow: snake_case, one flat object. */
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
