import { isRecord } from '../../engine/core/check.ts'
import { isoTime } from '../../engine/core/clock.ts'
import type { PayloadShape } from '../../engine/core/payload-shape.ts'
import { outputText } from '../translate/process-reply.ts'
import type { PayloadRecord } from '../translate/read-fields.ts'
import {
  definePayloadShape,
  pickFields,
  type ShapeSource,
  type ShapeView,
} from '../translate/shaped-event.ts'
import { lookUp } from '../translate/tool-names.ts'
import { copilotCliEvents } from './events.ts'
import { claudeNamedTools, copilotCliTools } from './tools.ts'

const rules = {
  agent: 'copilot-cli',
  events: copilotCliEvents,
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
  tools: {
    tools: copilotCliTools,
    // A patch of Copilot CLI is one text and no object.
    convert: (canonical, { command }) =>
      ['Edit', 'Write'].includes(canonical) && typeof command === 'string'
        ? { name: 'apply_patch', input: { input: command } }
        : undefined,
  },
  build: (source, nativeEvent) => ({
    ...('sessionId' in source.raw ? source.raw : {}),
    sessionId: source.envelope.session ?? '',
    timestamp: source.raw.timestamp ?? source.time,
    cwd: source.cwd,
    ...(lookUp(views, nativeEvent) ?? (({ payload }) => payload))(source),
  }),
})

const pascal = definePayloadShape({
  ...rules,
  tools: { tools: claudeNamedTools },
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

const agentName: ShapeView = ({ payload, raw }) => ({ agentName: raw.agentName ?? payload.agent_type ?? '' })

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
  postToolUseFailure: (source) => ({ ...tool(source), error: source.payload.error ?? '' }),
  userPromptSubmitted: ({ payload }) => ({ prompt: payload.prompt ?? '' }),
  sessionStart: ({ payload, raw }) => ({
    source: raw.source ?? sessionSource(payload),
    initialPrompt: raw.initialPrompt ?? payload.initial_prompt ?? '',
  }),
  sessionEnd: ({ payload }) => ({ reason: payload.reason ?? 'complete' }),
  agentStop: (source) => ({
    ...transcript(source),
    stopReason: source.payload.stop_reason ?? 'end_turn',
    stop_hook_active: source.payload.stop_hook_active ?? false,
  }),
  subagentStart: (source) => ({ ...transcript(source), ...subAgent(source), ...agentName(source) }),
  subagentStop: (source) => ({
    ...transcript(source),
    ...subAgent(source),
    ...agentName(source),
    response: source.payload.last_assistant_message ?? '',
    stopReason: source.payload.stop_reason ?? 'end_turn',
    stop_hook_active: source.payload.stop_hook_active ?? false,
  }),
  preCompact: (source) => ({
    ...transcript(source),
    trigger: source.payload.trigger ?? 'auto',
    customInstructions: source.payload.custom_instructions ?? '',
  }),
  errorOccurred: ({ payload }) => ({
    error: payload.error_details ?? { message: String(payload.error ?? ''), name: 'Error' },
    errorContext: payload.error_context ?? 'system',
    recoverable: payload.recoverable ?? false,
  }),
  notification: ({ payload }) => ({
    hook_event_name: 'Notification',
    ...pickFields(payload, 'message', 'title', 'notification_type'),
  }),
}
