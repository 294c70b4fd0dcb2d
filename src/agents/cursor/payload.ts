import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativeEvent, NativePayload } from '../agent-adapter.ts'
import { readFields } from '../translate/field-map.ts'
import { inputField, nameField, parseJsonOrUndefined } from '../translate/read-fields.ts'
import { lookUp, mcpToolName, toCanonical } from '../translate/tool-names.ts'
import { cursorEvents } from './events.ts'
import { cursorTools } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>
type View = (native: NativePayload) => Fields

/** An MCP tool, with the full name if the server is named. */
const serverTool: View = (native) => {
  const tool = nameField(native, 'tool_name')
  const { mcp_server_name: server } = native
  const input = inputField(native, 'tool_input')
  return typeof server === 'string' && server !== ''
    ? { tool_name: mcpToolName(server, tool), native_tool_name: `MCP:${tool}`, tool_input: input }
    : { tool_name: `MCP:${tool}`, tool_input: input }
}

const anyTool: View = (native) => ({
  ...toCanonical(cursorTools, nameField(native, 'tool_name'), inputField(native, 'tool_input')),
})

const shell: View = (native) => ({
  tool_name: 'Bash',
  native_tool_name: 'Shell',
  tool_input: { command: nameField(native, 'command') },
})

const reading: View = (native) => ({
  tool_name: 'Read',
  tool_input: { file_path: nameField(native, 'file_path') },
})

const lasted: View = ({ duration }) => (typeof duration === 'number' ? { duration_ms: duration } : {})

/** The result is JSON in a text. */
function unpacked(value: unknown): unknown {
  return typeof value === 'string' ? (parseJsonOrUndefined(value) ?? value) : value
}

const views: Readonly<Record<string, View>> = {
  preToolUse: anyTool,
  beforeMCPExecution: serverTool,
  beforeShellExecution: shell,
  beforeReadFile: reading,
  beforeTabFileRead: reading,
  postToolUse: (native) => ({
    ...anyTool(native),
    ...lasted(native),
    tool_response: unpacked(native.tool_output),
  }),
  postToolUseFailure: (native) => ({ ...anyTool(native), ...lasted(native) }),
  afterShellExecution: (native) => ({ ...shell(native), ...lasted(native), tool_response: native.output }),
  afterMCPExecution: (native) => ({
    ...serverTool(native),
    ...lasted(native),
    tool_response: unpacked(native.result_json),
  }),
  sessionStart: () => ({ source: 'startup' }),
}

/** Fields that the envelope already has, or that hooks do not need. */
const known = new Set([
  ...['conversation_id', 'generation_id', 'hook_event_name', 'cursor_version', 'workspace_roots'],
  ...['user_email', 'transcript_path', 'session_id', 'cwd', 'command', 'tool_output', 'result_json'],
])

/** The payload of our event. */
export function cursorPayload(event: string, native: NativePayload): Fields {
  const rest = Object.entries(native).filter(([key, value]) => !known.has(key) && value !== null)
  const { fields = {} }: NativeEvent = lookUp(cursorEvents, event) ?? {}
  const view = { ...readFields(fields, native), ...lookUp(views, event)?.(native) }
  const present = Object.entries(view).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries([...rest, ...present])
}

/** Without a cwd, the agent works in its first workspace. */
export function cursorCwd({ cwd, workspace_roots: roots }: NativePayload): string | undefined {
  const first: unknown = Array.isArray(roots) ? roots[0] : undefined
  return [cwd, first].find((path): path is string => typeof path === 'string' && path !== '')
}

/** The arguments, if they are an object that can be changed. */
export function cursorArguments({ tool_input: input }: NativePayload): Fields {
  return isRecord(input) ? input : {}
}
