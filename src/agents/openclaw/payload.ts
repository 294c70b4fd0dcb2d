import type { Envelope } from '../../engine/core/context.ts'
import type { NativePayload } from '../agent-adapter.ts'
import type { NativeCall } from '../plugin/plugin-reply.ts'
import { subAgentOf } from '../plugin/plugin-reply.ts'
import {
  definedFields,
  inputField,
  nameField,
  type PayloadRecord,
  pathField,
  recordField,
  textField,
} from '../translate/read-fields.ts'
import { openclawTools } from './tools.ts'

/** The call that a tool hook is about. */
export function openclawCall(native: NativePayload): NativeCall {
  const event = recordField(native, 'event')
  // The same name for two tools: this one runs a program that calls others, and each of those is asked about too.
  const isProgram = event.toolKind === 'code_mode_exec'
  return {
    tools: isProgram ? {} : openclawTools,
    tool: nameField(event, 'toolName'),
    args: inputField(event, 'params'),
    patchKey: 'input',
  }
}

/** The call that a result is about. A tool may be called through another one, and is what the hooks look for. */
export function openclawResultCall(native: NativePayload): NativeCall {
  const event = recordField(native, 'event')
  const tool = nameField(event, 'toolName')
  const args = inputField(event, 'args')
  const inner = tool === 'tool_call' ? textField(args, 'id')?.split(':').at(-1) : undefined
  return {
    tools: openclawTools,
    tool: inner ?? tool,
    args: inner === undefined ? args : inputField(args, 'args'),
    patchKey: 'input',
  }
}

export function openclawEnvelope(native: NativePayload): Envelope {
  const event = recordField(native, 'event')
  const ctx = recordField(native, 'ctx')
  const said = (key: string) => textField(ctx, key) ?? textField(event, key)
  const sub = subAgentOf(native)
  const session = textField(native, 'session') ?? said('sessionId') ?? said('sessionKey') ?? requesterOf(ctx)
  return {
    ...definedFields({
      session: sub?.root ?? session,
      lane: sub?.lane,
      turn: said('runId'),
      toolCall: said('toolCallId'),
      cwd: pathField(ctx, 'workspaceDir') ?? pathField(event, 'cwd'),
    }),
    raw: native,
  }
}

function requesterOf(ctx: PayloadRecord): string | undefined {
  return textField(ctx, 'requesterSessionKey')
}
