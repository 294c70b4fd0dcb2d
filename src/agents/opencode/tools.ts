import type { ToolNames } from '../translate/tool-names.ts'

const file = { filePath: 'file_path' }

/** The tools of OpenCode. MCP tools are named `server_tool`, which does not show where the server's name ends. */
export const opencodeTools: ToolNames = {
  bash: { name: 'Bash' },
  read: { name: 'Read', keys: file },
  write: { name: 'Write', keys: file },
  edit: {
    name: 'Edit',
    keys: { ...file, oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
  },
  // `readPatch` finds the files in the text of the patch.
  apply_patch: { name: 'Edit' },
  glob: { name: 'Glob' },
  grep: { name: 'Grep', keys: { include: 'glob' } },
  webfetch: { name: 'WebFetch' },
  websearch: { name: 'WebSearch' },
  task: { name: 'Agent' },
  todowrite: { name: 'TodoWrite' },
  skill: { name: 'Skill', keys: { name: 'skill' } },
  question: { name: 'AskUserQuestion' },
  list: { name: 'LS' },
  multiedit: { name: 'Edit', keys: file },
  plan_enter: { name: 'EnterPlanMode' },
  plan_exit: { name: 'ExitPlanMode' },
}

export const opencodeUnmappedTools: readonly string[] = ['batch', 'codesearch', 'lsp', 'todoread']
