import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import type { ToolNames } from '../translate/tool-names.ts'

const agent = { name: 'Agent', keys: { message: 'prompt', agent_type: 'subagent_type' } }

/** Codex reports every shell tool as `Bash`, and MCP tools as `mcp__server__tool`. */
export const codexTools: ToolNames = {
  // `readPatch` finds the files in the text of the patch.
  apply_patch: { name: 'Edit' },
  spawn_agent: agent,
  // Codex joins a namespace and a name without a separator.
  collaborationspawn_agent: agent,
  view_image: { name: 'Read', keys: { path: 'file_path' } },
  read_file: { name: 'Read' },
  list_dir: { name: 'LS', keys: { dir_path: 'path' } },
  grep_files: { name: 'Grep', keys: { include: 'glob' } },
  update_plan: { name: 'TodoWrite', keys: { plan: 'todos' } },
  request_user_input: { name: 'AskUserQuestion' },
}

/** The text of a patch, if the call is one. */
export function codexPatch(native: NativePayload): string | undefined {
  if (native.tool_name !== 'apply_patch' || !isRecord(native.tool_input)) return undefined
  const { command } = native.tool_input
  return typeof command === 'string' ? command : undefined
}

/** `write_stdin` is missing here: Codex runs no hook for it. */
export const codexUnmappedTools: readonly string[] = [
  ...['close_agent', 'resume_agent', 'send_input', 'wait_agent', 'create_goal', 'get_goal', 'update_goal'],
]
