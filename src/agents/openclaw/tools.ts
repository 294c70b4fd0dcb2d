import type { ToolNames } from '../translate/tool-names.ts'

const file = { path: 'file_path' }

/** The tools of OpenClaw that other agents have too. */
export const openclawTools: ToolNames = {
  exec: { name: 'Bash' },
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
