import type { ToolName, ToolNames } from '../translate/tool-names.ts'

const file = { path: 'file_path' }
const edit = { ...file, old_str: 'old_string', new_str: 'new_string' }
const write = { ...file, file_text: 'content' }
const agent = { agent_type: 'subagent_type' }
/** Input to an open shell runs there. */
const typed: ToolName = { name: 'Bash', keys: { input: 'command' } }

/** The tools of Copilot CLI. MCP tools keep their name: `server-tool` does not show where the server's name ends. */
export const copilotCliTools: ToolNames = {
  bash: { name: 'Bash' },
  powershell: { name: 'Bash' },
  search_bash: { name: 'Bash' },
  write_bash: typed,
  write_powershell: typed,
  view: { name: 'Read', keys: file },
  create: { name: 'Write', keys: write },
  edit: { name: 'Edit', keys: edit },
  str_replace: { name: 'Edit', keys: edit },
  insert: { name: 'Edit', keys: edit },
  undo_edit: { name: 'Edit', keys: file },
  str_replace_editor: { name: 'Edit', keys: { ...edit, file_text: 'content' } },
  apply_patch: { name: 'Edit' },
  grep: { name: 'Grep' },
  rg: { name: 'Grep' },
  glob: { name: 'Glob' },
  web_fetch: { name: 'WebFetch' },
  web_search: { name: 'WebSearch' },
  task: { name: 'Agent', keys: agent },
  ask_user: { name: 'AskUserQuestion' },
  update_todo: { name: 'TodoWrite' },
  skill: { name: 'Skill' },
}

/** Under a key of Claude Code, tools have Claude Code's names but their own arguments. */
export const claudeNamedTools: ToolNames = {
  Read: { name: 'Read', keys: file },
  Write: { name: 'Write', keys: write },
  Edit: { name: 'Edit', keys: { ...edit, file_text: 'content' } },
  Agent: { name: 'Agent', keys: agent },
}

export const copilotCliUnmappedTools: readonly string[] = [
  ...[
    'fetch_copilot_cli_documentation',
    'list_agents',
    'read_agent',
    'write_agent',
    'session_store_sql',
    'sql',
  ],
  ...['list_bash', 'read_bash', 'stop_bash', 'list_powershell', 'read_powershell', 'stop_powershell'],
]
