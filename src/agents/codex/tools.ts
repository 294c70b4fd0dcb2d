import { isRecord } from '../../engine/core/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import type { ToolNames } from '../translate/tool-names.ts'

const agent = { name: 'Agent', keys: { message: 'prompt', agent_type: 'subagent_type' } }

/** Every shell tool of Codex already comes as `Bash`, and MCP tools as `mcp__server__tool`. */
export const codexTools: ToolNames = {
  // What it does is read from its text.
  apply_patch: { name: 'Edit' },
  spawn_agent: agent,
  // A namespace and a name are joined without anything between them.
  collaborationspawn_agent: agent,
  view_image: { name: 'Read', keys: { path: 'file_path' } },
  read_file: { name: 'Read' },
  list_dir: { name: 'LS', keys: { dir_path: 'path' } },
  grep_files: { name: 'Grep', keys: { include: 'glob' } },
  update_plan: { name: 'TodoWrite', keys: { plan: 'todos' } },
  request_user_input: { name: 'AskUserQuestion' },
}

/** The text of a patch, where the call is one. */
export function codexPatch(native: NativePayload): string | undefined {
  if (native.tool_name !== 'apply_patch' || !isRecord(native.tool_input)) return undefined
  const { command } = native.tool_input
  return typeof command === 'string' ? command : undefined
}
