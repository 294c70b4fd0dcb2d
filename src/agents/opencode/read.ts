import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { type Fields, part } from '../plugin/fields.ts'
import { canonicalCall } from '../plugin/native-call.ts'
import { laneAbove, subAgentOf } from '../plugin/sub-agent.ts'
import { own } from '../translate/own.ts'
import { inputOf, nameOf, only, pathOf, textOf } from '../translate/read-fields.ts'
import { callOf, callWith, envelopeOf, propertiesOf } from './payload.ts'

type Said = Pick<NativeReading, 'payload' | 'event'>
type Read = (native: NativePayload) => Said

const afterTool: Read = (native) => {
  const call = canonicalCall(callOf(native))
  const error = failure(native.output, String(call.native_tool_name ?? call.tool_name))
  if (error === undefined) return { payload: { ...call, tool_response: native.output } }
  return { event: 'post_tool_use_failure', payload: { ...call, error, tool_response: native.output ?? null } }
}

/** What went wrong, where a call that returned did not succeed. */
function failure(output: unknown, tool: string): string | undefined {
  if (!isRecord(output)) return 'the call has no result'
  const { exit } = part(output, 'metadata')
  if (tool === 'bash' && exit !== undefined && exit !== 0)
    return `Exit code ${exit ?? 'unknown'}\n${String(output.output ?? '')}`
  if (tool === 'invalid' || output.isError === true) return String(output.output ?? 'the call failed')
  return undefined
}

const thrownCall: Read = (native) => {
  const failed = part(propertiesOf(native), 'part')
  const state = part(failed, 'state')
  const call = canonicalCall(callWith(nameOf(failed, 'tool'), inputOf(state, 'input')))
  return { payload: { ...call, error: String(state.error ?? 'the call failed') } }
}

/** The words of the user. What the client adds to them, the text of a file for instance, is marked. */
const prompt: Read = (native) => {
  const { parts } = part(native, 'output')
  if (!Array.isArray(parts))
    throw new HookError('input.schema', 'output.parts must be a list', { at: 'output.parts' })
  const said = parts.filter(
    (each): each is Fields => isRecord(each) && each.type === 'text' && each.synthetic !== true,
  )
  const source = subAgentOf(native) === undefined ? {} : { source: 'subagent' }
  return { payload: { prompt: said.map(({ text }) => String(text ?? '')).join('\n'), ...source } }
}

const sessionCreated: Read = (native) => {
  const info = part(propertiesOf(native), 'info')
  const sub = subAgentOf(native)
  if (sub === undefined) return { payload: { source: 'startup', ...only({ title: textOf(info, 'title') }) } }
  const agent = only({ agent_type: textOf(info, 'agent'), title: textOf(info, 'title') })
  return { event: 'subagent_start', payload: { agent_id: sub.lane, ...agent } }
}

const sessionIdle: Read = (native) => {
  const sub = subAgentOf(native)
  return sub === undefined ? { payload: {} } : { event: 'subagent_stop', payload: { agent_id: sub.lane } }
}

const sessionError: Read = (native) => {
  const { error } = propertiesOf(native)
  const message = isRecord(error) ? textOf(part(error, 'data'), 'message') : undefined
  return {
    payload: { error: message ?? (isRecord(error) ? error.name : error) ?? 'unknown', details: error },
  }
}

const permissionAsked: Read = (native) => {
  const asked = propertiesOf(native)
  const about = inputOf(asked, 'metadata')
  const file = only({ file_path: pathOf(about, 'filepath') })
  const call = canonicalCall(callWith(nameOf(asked, 'permission'), { ...about, ...file }))
  return { payload: { ...call, patterns: asked.patterns } }
}

const reads: Readonly<Record<string, Read>> = {
  'tool.execute.before': (native) => ({ payload: canonicalCall(callOf(native)) }),
  'tool.execute.after': afterTool,
  'message.part.updated': thrownCall,
  'chat.message': prompt,
  'command.execute.before': (native) => {
    const input = part(native, 'input')
    return {
      payload: only({ command_name: textOf(input, 'command'), command_args: textOf(input, 'arguments') }),
    }
  },
  'experimental.session.compacting': () => ({ payload: {} }),
  'session.compacted': () => ({ payload: {} }),
  'session.created': sessionCreated,
  'session.deleted': () => ({ payload: { reason: 'deleted' } }),
  'session.idle': sessionIdle,
  'session.error': sessionError,
  'permission.asked': permissionAsked,
  'file.edited': (native) => ({ payload: only({ file_path: pathOf(propertiesOf(native), 'file') }) }),
  'chat.params': (native) => {
    const model = textOf(part(part(native, 'input'), 'model'), 'id')
    return { payload: { ...only({ model }), request: part(native, 'output') } }
  },
}

export function readOpencode(event: string, native: NativePayload): NativeReading {
  const said = own(reads, event)?.(native) ?? { payload: propertiesOf(native) }
  const { lane, ...envelope } = envelopeOf(native)
  const isAboutLane = said.event === 'subagent_start' || said.event === 'subagent_stop'
  const sub = subAgentOf(native)
  // A sub-agent that starts or ends is told of by the agent above it.
  const teller = isAboutLane && sub !== undefined ? laneAbove(sub) : lane
  return { ...said, envelope: { ...envelope, ...only({ lane: teller }) } }
}
