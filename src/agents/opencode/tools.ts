import type { ToolNames } from '../translate/tool-names.ts'

const file = { filePath: 'file_path' }

/** The tools of OpenCode. Those of MCP servers come as `server_tool`, and which part is which cannot be told. */
export const opencodeTools: ToolNames = {
  bash: { name: 'Bash' },
  read: { name: 'Read', keys: file },
  write: { name: 'Write', keys: file },
  edit: {
    name: 'Edit',
    keys: { ...file, oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
  },
  // What it does is read from its text.
  apply_patch: { name: 'Edit' },
  glob: { name: 'Glob' },
  grep: { name: 'Grep', keys: { include: 'glob' } },
  webfetch: { name: 'WebFetch' },
  websearch: { name: 'WebSearch' },
  task: { name: 'Agent' },
  todowrite: { name: 'TodoWrite' },
  skill: { name: 'Skill', keys: { name: 'skill' } },
  question: { name: 'AskUserQuestion' },
}
