import type { Envelope } from '../../engine/core/context.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { type Fields, part } from '../plugin/fields.ts'
import type { NativeCall } from '../plugin/plugin-reply.ts'
import { subAgentOf } from '../plugin/sub-agent.ts'
import { inputOf, nameOf, only, pathOf, textOf } from '../translate/read-fields.ts'
import { opencodeTools } from './tools.ts'

/** What an event of the bus is about. */
export function propertiesOf(native: NativePayload): Fields {
  return part(part(native, 'event'), 'properties')
}

/** The call that a tool hook is about. Before it runs its arguments may still be changed, so they are in the output. */
export function callOf(native: NativePayload): NativeCall {
  const input = part(native, 'input')
  const holder = Object.hasOwn(input, 'args') ? input : part(native, 'output')
  return callWith(nameOf(input, 'tool'), inputOf(holder, 'args'))
}

export function callWith(tool: string, args: Fields): NativeCall {
  return { tools: opencodeTools, tool, args, patchKey: 'patchText' }
}

export function envelopeOf(native: NativePayload): Envelope {
  const input = part(native, 'input')
  const properties = propertiesOf(native)
  const sub = subAgentOf(native)
  return {
    ...only({
      session: sub?.root ?? textOf(input, 'sessionID') ?? textOf(properties, 'sessionID'),
      lane: sub?.lane,
      turn: textOf(part(part(native, 'output'), 'message'), 'id'),
      toolCall: textOf(input, 'callID') ?? callIn(properties),
      cwd: pathOf(native, 'directory'),
    }),
    raw: native,
  }
}

function callIn(properties: Fields): string | undefined {
  return textOf(part(properties, 'part'), 'callID') ?? textOf(part(properties, 'tool'), 'callID')
}
