import { isRecord } from '../../engine/core/schema/check.ts'
import { isoTime } from '../../engine/core/time/clock.ts'
import { outputText } from '../translate/process-reply.ts'
import type { PayloadRecord } from '../translate/read-fields.ts'
import { definePayloadShape, type ShapeSource, type ShapeView } from '../translate/shaped-event.ts'
import { geminiCliAdapter } from './adapter.ts'

const tool: ShapeView = (source) => ({
  tool_name: source.tool.name,
  tool_input: source.tool.input,
  ...serverTool(source),
})

/** Gemini CLI names a tool of an MCP server `mcp_server_tool`, and gives both names in the context. */
function serverTool({ payload, raw }: ShapeSource): PayloadRecord {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(String(payload.tool_name)) ?? []
  if (server === undefined || name === undefined) return {}
  const context = raw.mcp_context ?? { server_name: server, tool_name: name }
  return { tool_name: raw.tool_name ?? `mcp_${server}_${name}`, mcp_context: context }
}

const afterTool: ShapeView = (source) => {
  const { tool_response: response, error } = source.payload
  const text = response === undefined ? String(error ?? '') : outputText(response)
  const result =
    isRecord(response) && 'llmContent' in response ? response : { llmContent: text, returnDisplay: text }
  const failed = error === undefined || 'error' in result ? {} : { error: { message: String(error) } }
  return { ...tool(source), tool_response: { ...result, ...failed } }
}

const views: Readonly<Record<string, ShapeView>> = { BeforeTool: tool, AfterTool: afterTool }

/** Gemini CLI's hooks: its own names of events and tools, and a time in every payload. */
export const geminiCliPayloadShape = definePayloadShape({
  adapter: geminiCliAdapter,
  preferred: { Read: 'read_file', Grep: 'grep_search' },
  usual: { post_tool_use_failure: 'AfterTool' },
  afterToolBlock: 'output',
  runsInProject: true,
  // As observed: 1 is a warning, and every other code blocks if there is text.
  blocksOnExit: (code) => code !== 1,
  answerText: ({ stdout, stderr }) =>
    stdout.trim() === '' && stderr.trim().startsWith('{') ? stderr : stdout,
  views,
  build: (source, nativeEvent, fields) => ({
    ...(source.raw.hook_event_name === nativeEvent ? source.raw : {}),
    session_id: source.envelope.session ?? '',
    transcript_path: source.raw.transcript_path ?? '',
    cwd: source.cwd,
    hook_event_name: nativeEvent,
    timestamp: source.raw.timestamp ?? isoTime(source.time),
    ...fields,
  }),
  variables: ({ project, cwd, envelope: { session = '' } }) => ({
    GEMINI_PROJECT_DIR: project,
    GEMINI_CWD: cwd,
    GEMINI_SESSION_ID: session,
    CLAUDE_PROJECT_DIR: project,
  }),
})
