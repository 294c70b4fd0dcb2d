import { isRecord } from '../../engine/core/schema/check.ts'
import type { PayloadShape } from '../../engine/core/schema/payload-shape.ts'
import { isoTime } from '../../engine/core/time/clock.ts'
import { outputText } from '../translate/process-reply.ts'
import type { PayloadRecord } from '../translate/read-fields.ts'
import { definePayloadShape, patchIn, type ShapeSource, type ShapeView } from '../translate/shaped-event.ts'
import { copilotCliAdapter } from './adapter.ts'
import { claudeNamedTools } from './tools.ts'

function sessionSource({ source }: PayloadRecord): unknown {
  return source === undefined || source === 'startup' ? 'new' : source
}

function toolArguments({ tool }: ShapeSource): unknown {
  return tool.name === 'apply_patch' ? tool.input.input : tool.input
}

const tool: ShapeView = (source) => ({
  toolName: source.tool.name,
  toolArgs: toolArguments(source),
  ...(source.payload.agent_type === undefined ? {} : subAgent(source)),
})
const transcript: ShapeView = ({ raw }) => ({ transcriptPath: raw.transcriptPath ?? '' })
const subAgent: ShapeView = ({ payload, raw, envelope }) => ({
  agentId: payload.agent_id ?? envelope.lane ?? '',
  agentType: payload.agent_type ?? '',
  parentAgentId: raw.parentAgentId ?? envelope.session ?? '',
})

const agent: ShapeView = (source) => ({
  ...transcript(source),
  ...subAgent(source),
  agentName: source.raw.agentName ?? source.payload.agent_type ?? '',
})

function toolResult(response: unknown): unknown {
  if (isRecord(response) && 'textResultForLlm' in response) return response
  return { resultType: 'success', textResultForLlm: outputText(response) }
}

const views: Readonly<Record<string, ShapeView>> = {
  preToolUse: tool,
  permissionRequest: (source) => ({
    hookName: 'permissionRequest',
    toolName: source.tool.name,
    toolInput: toolArguments(source),
    permissionSuggestions: source.raw.permissionSuggestions ?? [],
  }),
  postToolUse: (source) => ({ ...tool(source), toolResult: toolResult(source.payload.tool_response) }),
  postToolUseFailure: tool,
  sessionStart: ({ payload, raw }) => ({ source: raw.source ?? sessionSource(payload) }),
  agentStop: transcript,
  subagentStart: agent,
  subagentStop: agent,
  preCompact: transcript,
  errorOccurred: ({ payload }) => ({
    error: payload.error_details ?? { message: String(payload.error ?? ''), name: 'Error' },
    errorContext: payload.error_context ?? 'system',
    recoverable: payload.recoverable ?? false,
  }),
  notification: () => ({ hook_event_name: 'Notification' }),
}

const rules = {
  adapter: copilotCliAdapter,
  afterToolBlock: 'context',
  runsInProject: true,
  // A line of progress is shown to the user and is no answer.
  answerText: ({ stdout }: { readonly stdout: string }) =>
    stdout
      .split('\n')
      .filter((line) => !/^\s*\{\s*"type"\s*:\s*"progress"/.test(line))
      .join('\n'),
  variables: ({ project }: ShapeSource) => ({ COPILOT_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project }),
} as const

const camel = definePayloadShape({
  ...rules,
  // A patch of Copilot CLI is one text and no object.
  convert: patchIn('input'),
  views,
  build: (source, _nativeEvent, fields) => ({
    ...('sessionId' in source.raw ? source.raw : {}),
    sessionId: source.envelope.session ?? '',
    timestamp: source.raw.timestamp ?? source.time,
    cwd: source.cwd,
    ...fields,
  }),
})

const pascal = definePayloadShape({
  ...rules,
  tools: claudeNamedTools,
  build: ({ payload, raw, envelope, time, cwd, tool }, nativeEvent) => {
    const { native_tool_name: _, ...rest } = payload
    return {
      ...raw,
      ...rest,
      hook_event_name: nativeEvent,
      session_id: envelope.session ?? '',
      timestamp: raw.timestamp ?? isoTime(time),
      cwd,
      ...(tool.name === '' ? {} : { tool_name: tool.name, tool_input: tool.input }),
      ...(nativeEvent === 'SessionStart' ? { source: raw.source ?? sessionSource(payload) } : {}),
    }
  },
})

/** Copilot CLI has two forms. The spelling of the event in the hook file chooses between them. */
export const copilotCliPayloadShape: PayloadShape = {
  ...camel,
  shape(payload, context, nativeEvent) {
    const form = nativeEvent !== undefined && /^[A-Z]/.test(nativeEvent) ? pascal : camel
    return form.shape(payload, context, nativeEvent)
  },
}
