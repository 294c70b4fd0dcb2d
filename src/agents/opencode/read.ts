import type { Envelope } from '../../engine/core/context.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { canonicalCall, laneAbove, type NativeCall, subAgentOf } from '../plugin/plugin-reply.ts'
import {
  inputField,
  nameField,
  type PayloadRecord,
  pathField,
  recordField,
  textField,
} from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'
import { opencodeTools } from './tools.ts'

/** The properties of a bus event. */
function opencodeProperties(native: NativePayload): PayloadRecord {
  return recordField(recordField(native, 'event'), 'properties')
}

/** The call of a tool hook. Before the call, the arguments can still be changed, so they are in the output. */
export function opencodeCall(native: NativePayload): NativeCall {
  const input = recordField(native, 'input')
  const holder = Object.hasOwn(input, 'args') ? input : recordField(native, 'output')
  return opencodeCallWith(nameField(input, 'tool'), inputField(holder, 'args'))
}

function opencodeCallWith(tool: string, args: PayloadRecord): NativeCall {
  return { tools: opencodeTools, tool, args, patchKey: 'patchText' }
}

function opencodeEnvelope(native: NativePayload): Envelope {
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

type EventReading = Pick<NativeReading, 'payload' | 'event'>
type Read = (native: NativePayload) => EventReading

const afterTool: Read = (native) => {
  const call = canonicalCall(opencodeCall(native))
  const error = failure(native.output, String(call.native_tool_name ?? call.tool_name))
  if (error === undefined) return { payload: { ...call, tool_response: native.output } }
  return { event: 'post_tool_use_failure', payload: { ...call, error, tool_response: native.output ?? null } }
}

/** The error of a call that returned without success. */
function failure(output: unknown, tool: string): string | undefined {
  if (!isRecord(output)) return 'the call has no result'
  const { exit } = recordField(output, 'metadata')
  if (tool === 'bash' && exit !== undefined && exit !== 0)
    return `Exit code ${exit ?? 'unknown'}\n${String(output.output ?? '')}`
  if (tool === 'invalid' || output.isError === true) return String(output.output ?? 'the call failed')
  return undefined
}

const thrownCall: Read = (native) => {
  const failed = recordField(opencodeProperties(native), 'part')
  const state = recordField(failed, 'state')
  const call = canonicalCall(opencodeCallWith(nameField(failed, 'tool'), inputField(state, 'input')))
  return { payload: { ...call, error: String(state.error ?? 'the call failed') } }
}

/** The user's text. Text that OpenCode adds, such as the content of a file, is marked. */
const prompt: Read = (native) => {
  const { parts } = recordField(native, 'output')
  if (!Array.isArray(parts))
    throw new HookError('input.schema', 'output.parts must be a list', { at: 'output.parts' })
  const texts = parts.filter(
    (each): each is PayloadRecord => isRecord(each) && each.type === 'text' && each.synthetic !== true,
  )
  const source = subAgentOf(native) === undefined ? {} : { source: 'subagent' }
  return { payload: { prompt: texts.map(({ text }) => String(text ?? '')).join('\n'), ...source } }
}

const sessionCreated: Read = (native) => {
  const info = recordField(opencodeProperties(native), 'info')
  const sub = subAgentOf(native)
  if (sub === undefined)
    return { payload: { source: 'startup', ...definedFields({ title: textField(info, 'title') }) } }
  const agent = definedFields({ agent_type: textField(info, 'agent'), title: textField(info, 'title') })
  return { event: 'subagent_start', payload: { agent_id: sub.lane, ...agent } }
}

const sessionIdle: Read = (native) => {
  const sub = subAgentOf(native)
  return sub === undefined ? { payload: {} } : { event: 'subagent_stop', payload: { agent_id: sub.lane } }
}

const sessionError: Read = (native) => {
  const { error } = opencodeProperties(native)
  const message = isRecord(error) ? textField(recordField(error, 'data'), 'message') : undefined
  return {
    payload: { error: message ?? (isRecord(error) ? error.name : error) ?? 'unknown', details: error },
  }
}

const permissionAsked: Read = (native) => {
  const asked = opencodeProperties(native)
  const about = inputField(asked, 'metadata')
  const file = definedFields({ file_path: pathField(about, 'filepath') })
  const call = canonicalCall(opencodeCallWith(nameField(asked, 'permission'), { ...about, ...file }))
  return { payload: { ...call, patterns: asked.patterns } }
}

const reads: Readonly<Record<string, Read>> = {
  'tool.execute.before': (native) => ({ payload: canonicalCall(opencodeCall(native)) }),
  'tool.execute.after': afterTool,
  'message.part.updated': thrownCall,
  'chat.message': prompt,
  'command.execute.before': (native) => {
    const input = recordField(native, 'input')
    return {
      payload: definedFields({
        command_name: textField(input, 'command'),
        command_args: textField(input, 'arguments'),
      }),
    }
  },
  'experimental.session.compacting': () => ({ payload: {} }),
  'session.compacted': () => ({ payload: {} }),
  'session.created': sessionCreated,
  'session.deleted': () => ({ payload: { reason: 'deleted' } }),
  'session.idle': sessionIdle,
  'session.error': sessionError,
  'permission.asked': permissionAsked,
  'file.edited': (native) => ({
    payload: definedFields({ file_path: pathField(opencodeProperties(native), 'file') }),
  }),
  'chat.params': (native) => {
    const model = textField(recordField(recordField(native, 'input'), 'model'), 'id')
    return { payload: { ...definedFields({ model }), request: recordField(native, 'output') } }
  },
}

export function readOpencode(event: string, native: NativePayload): NativeReading {
  const reading = lookUp(reads, event)?.(native) ?? { payload: opencodeProperties(native) }
  const { lane, ...envelope } = opencodeEnvelope(native)
  const isAboutLane = reading.event === 'subagent_start' || reading.event === 'subagent_stop'
  const sub = subAgentOf(native)
  // The parent agent reports the start and end of a sub-agent.
  const reporter = isAboutLane && sub !== undefined ? laneAbove(sub) : lane
  return { ...reading, envelope: { ...envelope, ...definedFields({ lane: reporter }) } }
}
