import type { ToolNames } from '../translate/tool-names.ts'

// Versions spell the path argument differently.
const file = { file_path: 'file_path', absolute_path: 'file_path' }
const folder = { dir_path: 'path', path: 'path' }

/** The tools of Gemini CLI. The context of a call names its MCP server and tool. */
export const geminiCliTools: ToolNames = {
  run_shell_command: { name: 'Bash' },
  read_file: { name: 'Read', keys: file },
  read_many_files: { name: 'Read', keys: { include: 'file_paths', paths: 'file_paths' } },
  write_file: { name: 'Write', keys: file },
  replace: { name: 'Edit', keys: file },
  list_directory: { name: 'LS', keys: folder },
  glob: { name: 'Glob', keys: folder },
  grep_search: { name: 'Grep', keys: { ...folder, include_pattern: 'glob', include: 'glob' } },
  search_file_content: { name: 'Grep', keys: { ...folder, include_pattern: 'glob', include: 'glob' } },
  web_fetch: { name: 'WebFetch' },
  google_web_search: { name: 'WebSearch' },
  write_todos: { name: 'TodoWrite' },
  ask_user: { name: 'AskUserQuestion' },
  invoke_agent: { name: 'Agent', keys: { agent_name: 'subagent_type' } },
  activate_skill: { name: 'Skill', keys: { name: 'skill' } },
  enter_plan_mode: { name: 'EnterPlanMode' },
  exit_plan_mode: { name: 'ExitPlanMode' },
}

export const geminiCliUnmappedTools: readonly string[] = [
  ...['complete_task', 'get_internal_docs', 'list_background_processes', 'list_mcp_resources'],
  ...['read_background_output', 'read_mcp_resource', 'save_memory', 'take_snapshot', 'update_topic'],
  ...['tracker_add_dependency', 'tracker_create_task', 'tracker_get_task', 'tracker_list_tasks'],
  ...['tracker_update_task', 'tracker_visualize'],
]
