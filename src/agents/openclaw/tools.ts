import type { ToolNames } from '../translate/tool-names.ts'

const file = { path: 'file_path' }

/** The tools of OpenClaw that do what tools of other agents do. */
export const openclawTools: ToolNames = {
  exec: { name: 'Bash' },
  read: { name: 'Read', keys: file },
  write: { name: 'Write', keys: file },
  edit: { name: 'Edit', keys: file },
  // What it does is read from its text.
  apply_patch: { name: 'Edit' },
  ls: { name: 'LS' },
  web_fetch: { name: 'WebFetch' },
  web_search: { name: 'WebSearch' },
  sessions_spawn: { name: 'Agent', keys: { task: 'prompt', agentId: 'subagent_type' } },
  ask_user: { name: 'AskUserQuestion' },
}
