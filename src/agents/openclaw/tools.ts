import type { ToolNames } from '../translate/tool-names.ts'

const file = { path: 'file_path' }

/** The tools of OpenClaw that other agents have too. */
export const openclawTools: ToolNames = {
  exec: { name: 'Bash' },
  bash: { name: 'Bash' },
  read: { name: 'Read', keys: file },
  write: { name: 'Write', keys: file },
  edit: { name: 'Edit', keys: file },
  // `readPatch` finds the files in the text of the patch.
  apply_patch: { name: 'Edit' },
  ls: { name: 'LS' },
  web_fetch: { name: 'WebFetch' },
  web_search: { name: 'WebSearch' },
  sessions_spawn: { name: 'Agent', keys: { task: 'prompt', agentId: 'subagent_type' } },
  ask_user: { name: 'AskUserQuestion' },
}

export const openclawUnmappedTools: readonly string[] = [
  ...['process', 'code_execution', 'x_search', 'memory_search', 'memory_get', 'view_image', 'pdf', 'tts'],
  ...['image_generate', 'music_generate', 'video_generate', 'tool_call', 'tool_describe', 'tool_search'],
  ...['sessions', 'sessions_list', 'sessions_history', 'sessions_search', 'sessions_send', 'sessions_yield'],
  ...['conversations_list', 'conversations_send', 'conversations_turn', 'subagents', 'session_status'],
  ...[
    'suggest_task',
    'dismiss_task',
    'browser',
    'screen',
    'theme',
    'dashboard',
    'terminal',
    'portal',
    'canvas',
  ],
  ...['show_widget', 'heartbeat_respond', 'automations', 'cron', 'gateway', 'plugins', 'openclaw', 'message'],
  ...['nodes', 'computer', 'agents_list', 'get_goal', 'create_goal', 'update_goal', 'progress_card'],
  ...['skill_workshop'],
]
