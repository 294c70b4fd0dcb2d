import type { Envelope } from '../../engine/core/context.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { NativePayload, NativeReading } from '../agent-adapter.ts'
import { canonicalCall, type NativeCall, subAgentOf } from '../plugin/plugin-reply.ts'
import { outputText } from '../translate/process-reply.ts'
import {
  inputField,
  nameField,
  type PayloadRecord,
  pathField,
  recordField,
  textField,
} from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'
import { openclawTools } from './tools.ts'

/** The call of a tool hook. */
export function openclawCall(native: NativePayload): NativeCall {
  const event = recordField(native, 'event')
  // Two tools share this name. This one runs a program that calls other tools, each of which has its own event.
  const isProgram = event.toolKind === 'code_mode_exec'
  return {
    tools: isProgram ? {} : openclawTools,
    tool: nameField(event, 'toolName'),
    args: inputField(event, 'params'),
    patchKey: 'input',
  }
}

/** The call that a result belongs to. A tool may be called through another one; hooks match the inner one. */
function openclawResultCall(native: NativePayload): NativeCall {
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

function openclawEnvelope(native: NativePayload): Envelope {
  const event = recordField(native, 'event')
  const ctx = recordField(native, 'ctx')
  const field = (key: string) => textField(ctx, key) ?? textField(event, key)
  const sub = subAgentOf(native)
  const session =
    textField(native, 'session') ?? field('sessionId') ?? field('sessionKey') ?? requesterOf(ctx)
  return {
    ...definedFields({
      session: sub?.root ?? session,
      lane: sub?.lane,
      turn: field('runId'),
      toolCall: field('toolCallId'),
      cwd: pathField(ctx, 'workspaceDir') ?? pathField(event, 'cwd'),
    }),
    raw: native,
  }
}

function requesterOf(ctx: PayloadRecord): string | undefined {
  return textField(ctx, 'requesterSessionKey')
}

type EventReading = Pick<NativeReading, 'payload' | 'event'>
type Read = (event: PayloadRecord, native: NativePayload) => EventReading

const toolResult: Read = (event, native) => afterCall(canonicalCall(openclawResultCall(native)), event)

const afterTool: Read = (event, native) => {
  const call = canonicalCall(openclawCall(native))
  const details = recordField(recordField(event, 'result'), 'details')
  if (details.status !== 'blocked') return afterCall(call, event)
  const reason = definedFields({ reason: textField(details, 'reason') })
  return { event: 'permission_denied', payload: { ...call, ...reason } }
}

function afterCall(call: PayloadRecord, event: PayloadRecord): EventReading {
  const duration = definedFields({
    duration_ms: typeof event.durationMs === 'number' ? event.durationMs : undefined,
  })
  const payload = { ...call, tool_response: event.result ?? null, ...duration }
  const error = failure(event)
  return error === undefined
    ? { payload }
    : { event: 'post_tool_use_failure', payload: { ...payload, error } }
}

/** The error of a failed call. A command that exits with a code other than 0 failed. */
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
