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
import { opencodeTools } from './tools.ts'

/** What an event of the bus is about. */
export function opencodeProperties(native: NativePayload): PayloadRecord {
  return recordField(recordField(native, 'event'), 'properties')
}

/** The call that a tool hook is about. Before it runs its arguments may still be changed, so they are in the output. */
export function opencodeCall(native: NativePayload): NativeCall {
  const input = recordField(native, 'input')
  const holder = Object.hasOwn(input, 'args') ? input : recordField(native, 'output')
  return opencodeCallWith(nameField(input, 'tool'), inputField(holder, 'args'))
}

export function opencodeCallWith(tool: string, args: PayloadRecord): NativeCall {
  return { tools: opencodeTools, tool, args, patchKey: 'patchText' }
}

export function opencodeEnvelope(native: NativePayload): Envelope {
  const input = recordField(native, 'input')
  const properties = opencodeProperties(native)
  const sub = subAgentOf(native)
  return {
    ...definedFields({
      session: sub?.root ?? textField(input, 'sessionID') ?? textField(properties, 'sessionID'),
      lane: sub?.lane,
      turn: textField(recordField(recordField(native, 'output'), 'message'), 'id'),
      toolCall: textField(input, 'callID') ?? callIn(properties),
      cwd: pathField(native, 'directory'),
    }),
    raw: native,
  }
}

function callIn(properties: PayloadRecord): string | undefined {
  return (
    textField(recordField(properties, 'part'), 'callID') ??
    textField(recordField(properties, 'tool'), 'callID')
  )
}
