import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { canonicalCall } from '../plugin/plugin-reply.ts'
import { outputText } from '../translate/process-reply.ts'
import { definedFields, type PayloadRecord, recordField, textField } from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'
import { openclawCall, openclawEnvelope, openclawResultCall } from './payload.ts'

type Said = Pick<NativeReading, 'payload' | 'event'>
type Read = (event: PayloadRecord, native: NativePayload) => Said

const toolResult: Read = (event, native) => afterCall(canonicalCall(openclawResultCall(native)), event)

const afterTool: Read = (event, native) => {
  const call = canonicalCall(openclawCall(native))
  const details = recordField(recordField(event, 'result'), 'details')
  if (details.status !== 'blocked') return afterCall(call, event)
  const reason = definedFields({ reason: textField(details, 'reason') })
  return { event: 'permission_denied', payload: { ...call, ...reason } }
}

function afterCall(call: PayloadRecord, event: PayloadRecord): Said {
  const duration = definedFields({
    duration_ms: typeof event.durationMs === 'number' ? event.durationMs : undefined,
  })
  const payload = { ...call, tool_response: event.result ?? null, ...duration }
  const error = failure(event)
  return error === undefined
    ? { payload }
    : { event: 'post_tool_use_failure', payload: { ...payload, error } }
}

/** What went wrong, where a call did not succeed. A command that ends with another code than 0 did not. */
function failure({ isError, error, result }: PayloadRecord): string | undefined {
  const { exitCode, error: detail } = recordField(isRecord(result) ? result : {}, 'details')
  if (typeof error === 'string' && error !== '') return error
  if (typeof exitCode === 'number' && exitCode !== 0) return `Exit code ${exitCode}\n${outputText(result)}`
  return isError === true ? String(detail ?? outputText(result)) : undefined
}

const prompt: Read = (event, native) => {
  if (typeof event.prompt !== 'string')
    throw new HookError('input.schema', 'event.prompt must be a text', { at: 'event.prompt' })
  return {
    payload: {
      prompt: event.prompt,
      ...definedFields({ source: textField(recordField(native, 'ctx'), 'trigger') }),
    },
  }
}

const stop: Read = (event) => ({
  payload: {
    stop_hook_active: event.stopHookActive === true,
    ...(typeof event.lastAssistantMessage === 'string'
      ? { last_assistant_message: event.lastAssistantMessage }
      : {}),
  },
})

const agentEnd: Read = (event) =>
  event.success === false
    ? { event: 'stop_failure', payload: { ...event, error: event.error ?? 'the run failed' } }
    : // The conversation itself is not sent.
      { payload: { messages: [], ...event } }

const reads: Readonly<Record<string, Read>> = {
  before_tool_call: (_, native) => ({ payload: canonicalCall(openclawCall(native)) }),
  agent_tool_result: toolResult,
  after_tool_call: afterTool,
  before_prompt_build: prompt,
  before_agent_run: prompt,
  before_agent_finalize: stop,
  agent_end: agentEnd,
  session_start: (event) => ({
    payload: { ...event, source: event.resumedFrom === undefined ? 'startup' : 'resume' },
  }),
  subagent_spawned: (event) => ({
    payload: {
      ...event,
      ...definedFields({
        agent_id: textField(event, 'childSessionKey'),
        agent_type: textField(event, 'agentId'),
      }),
    },
  }),
  subagent_ended: (event) => ({
    payload: {
      ...event,
      ...definedFields({
        agent_id: textField(event, 'targetSessionKey'),
        status: textField(event, 'outcome') ?? textField(event, 'reason'),
      }),
    },
  }),
}

export function readOpenclaw(name: string, native: NativePayload): NativeReading {
  const event = recordField(native, 'event')
  return {
    ...(lookUp(reads, name)?.(event, native) ?? { payload: event }),
    envelope: openclawEnvelope(native),
  }
}
