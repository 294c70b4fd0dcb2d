import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { type PayloadRecord, recordField } from '../translate/read-fields.ts'
import {
  definePayloadShape,
  pickFields,
  type ShapeSource,
  type ShapeView,
} from '../translate/shaped-event.ts'
import { cursorAdapter } from './adapter.ts'

function commonFields({ envelope, payload, raw, project }: ShapeSource, nativeEvent: string): PayloadRecord {
  return {
    conversation_id: envelope.session ?? '',
    generation_id: envelope.turn ?? '',
    model: raw.model ?? payload.model ?? '',
    hook_event_name: nativeEvent,
    cursor_version: raw.cursor_version ?? '',
    workspace_roots: raw.workspace_roots ?? [project],
    user_email: raw.user_email ?? null,
    transcript_path: raw.transcript_path ?? null,
  }
}

const tool: ShapeView = ({ tool, payload, envelope, cwd, raw }) => ({
  tool_name: raw.tool_name ?? serverTool(payload) ?? tool.name,
  tool_input: tool.input,
  tool_use_id: payload.tool_use_id ?? envelope.toolCall ?? '',
  cwd,
})

/** Cursor names the tool of an MCP server `MCP:tool`, without the server. */
function serverTool({ tool_name: name }: PayloadRecord): string | undefined {
  const [, , inner] = /^mcp__(.+?)__(.+)$/.exec(String(name)) ?? []
  return inner === undefined ? undefined : `MCP:${inner}`
}

/** The arguments of the tool with our names, whichever spelling Cursor used. */
function argumentsOf({ payload }: ShapeSource): PayloadRecord {
  return recordField(payload, 'tool_input')
}

const shell: ShapeView = (source) => ({
  command: argumentsOf(source).command ?? '',
  cwd: source.cwd,
  sandbox: source.payload.sandbox ?? false,
})

const mcp: ShapeView = ({ tool, payload }) => {
  const [, server, inner] = /^mcp__(.+?)__(.+)$/.exec(String(payload.tool_name)) ?? []
  return {
    tool_name: inner ?? tool.name.replace(/^MCP:/, ''),
    tool_input: JSON.stringify(tool.input),
    ...definedFields({ mcp_server_name: server }),
    ...pickFields(payload, 'mcp_server_name', 'url'),
  }
}

/** Cursor gives the content of the file to the hook, and guards look for secrets in it. */
const reading: ShapeView = (source) => {
  const file = String(argumentsOf(source).file_path ?? '')
  return { file_path: file, content: source.payload.content ?? readText(file, source.cwd) }
}

const MAX_CONTENT = 1_048_576

/** The beginning of a file. Empty if there is no such regular file. */
function readText(file: string, cwd: string): string {
  if (file === '') return ''
  let opened: number | undefined
  try {
    // O_NONBLOCK: opening a named pipe would block otherwise.
    opened = openSync(isAbsolute(file) ? file : resolve(cwd, file), constants.O_RDONLY | constants.O_NONBLOCK)
    if (!fstatSync(opened).isFile()) return ''
    const bytes = Buffer.alloc(MAX_CONTENT)
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, MAX_CONTENT, 0))
  } catch {
    return ''
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

const duration: ShapeView = ({ payload }) => ({ duration: payload.duration_ms ?? payload.duration ?? 0 })

function asJsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function outputOf(response: unknown): string {
  if (typeof response === 'string') return response
  const fields = typeof response === 'object' && response !== null ? { ...response } : {}
  const text = 'output' in fields ? fields.output : 'stdout' in fields ? fields.stdout : undefined
  return typeof text === 'string' ? text : asJsonText(response)
}

const edits: ShapeView = (source) => {
  const { file_path: file, old_string: before, new_string: after, content } = argumentsOf(source)
  return {
    file_path: source.payload.file_path ?? file ?? '',
    edits: source.payload.edits ?? [{ old_string: before ?? '', new_string: after ?? content ?? '' }],
  }
}

const session: ShapeView = ({ envelope }) => ({ session_id: envelope.session ?? '' })

const views: Readonly<Record<string, ShapeView>> = {
  preToolUse: tool,
  postToolUse: (source) => ({
    ...tool(source),
    ...duration(source),
    tool_output: asJsonText(source.payload.tool_response ?? ''),
  }),
  postToolUseFailure: (source) => ({
    ...tool(source),
    ...duration(source),
    error_message: String(source.payload.error ?? ''),
  }),
  beforeShellExecution: shell,
  afterShellExecution: (source) => ({
    ...pickFields(shell(source), 'command', 'sandbox'),
    ...duration(source),
    output: outputOf(source.payload.tool_response ?? ''),
  }),
  beforeMCPExecution: mcp,
  afterMCPExecution: (source) => ({
    ...mcp(source),
    ...duration(source),
    result_json: asJsonText(source.payload.tool_response ?? ''),
  }),
  beforeReadFile: reading,
  beforeTabFileRead: reading,
  afterFileEdit: edits,
  afterTabFileEdit: edits,
  sessionStart: session,
  sessionEnd: session,
  subagentStart: ({ payload, envelope }) => ({
    parent_conversation_id: payload.parent_conversation_id ?? envelope.session ?? '',
    tool_call_id: payload.tool_call_id ?? envelope.toolCall ?? '',
  }),
  preCompact: ({ payload }) => ({ ...payload, trigger: payload.trigger ?? 'auto' }),
}

/** Cursor's hooks. Its older events concern one kind of tool and have the arguments at the top level. */
export const cursorPayloadShape = definePayloadShape({
  adapter: cursorAdapter,
  afterToolBlock: 'context',
  runsInProject: true,
  views,
  build: (source, nativeEvent, fields) => ({
    ...(source.raw.hook_event_name === nativeEvent ? source.raw : {}),
    ...commonFields(source, nativeEvent),
    ...fields,
  }),
  variables: ({ project, raw }) => ({
    CURSOR_PROJECT_DIR: project,
    CURSOR_VERSION: String(raw.cursor_version ?? ''),
    CURSOR_USER_EMAIL: String(raw.user_email ?? ''),
    CLAUDE_PROJECT_DIR: project,
  }),
})
