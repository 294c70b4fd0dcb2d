import type { Envelope } from '../../engine/core/context.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { type Fields, part } from '../plugin/fields.ts'
import type { NativeCall } from '../plugin/plugin-reply.ts'
import { subAgentOf } from '../plugin/sub-agent.ts'
import { inputOf, nameOf, only, pathOf, textOf } from '../translate/read-fields.ts'
import { openclawTools } from './tools.ts'

/** The call that a tool hook is about. */
export function callOf(native: NativePayload): NativeCall {
  const event = part(native, 'event')
  // The same name for two tools: this one runs a program that calls others, and each of those is asked about too.
  const isProgram = event.toolKind === 'code_mode_exec'
  return {
    tools: isProgram ? {} : openclawTools,
    tool: nameOf(event, 'toolName'),
    args: inputOf(event, 'params'),
    patchKey: 'input',
  }
}

/** The call that a result is about. A tool may be called through another one, and is what the hooks look for. */
export function resultCallOf(native: NativePayload): NativeCall {
  const event = part(native, 'event')
  const tool = nameOf(event, 'toolName')
  const args = inputOf(event, 'args')
  const inner = tool === 'tool_call' ? textOf(args, 'id')?.split(':').at(-1) : undefined
  return {
    tools: openclawTools,
    tool: inner ?? tool,
    args: inner === undefined ? args : inputOf(args, 'args'),
    patchKey: 'input',
  }
}

export function envelopeOf(native: NativePayload): Envelope {
  const event = part(native, 'event')
  const ctx = part(native, 'ctx')
  const said = (key: string) => textOf(ctx, key) ?? textOf(event, key)
  const sub = subAgentOf(native)
  const session = textOf(native, 'session') ?? said('sessionId') ?? said('sessionKey') ?? requesterOf(ctx)
  return {
    ...only({
      session: sub?.root ?? session,
      lane: sub?.lane,
      turn: said('runId'),
      toolCall: said('toolCallId'),
      cwd: pathOf(ctx, 'workspaceDir') ?? pathOf(event, 'cwd'),
    }),
    raw: native,
  }
}

function requesterOf(ctx: Fields): string | undefined {
  return textOf(ctx, 'requesterSessionKey')
}
