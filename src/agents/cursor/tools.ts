import type { ToolNames } from '../translate/tool-names.ts'

// Cursor does not document these arguments, so every observed spelling is listed.
const file = { file_path: 'file_path', path: 'file_path', target_file: 'file_path' }
const texts = {
  old_string: 'old_string',
  old_str: 'old_string',
  new_string: 'new_string',
  new_str: 'new_string',
}
const edit = { name: 'Edit', keys: { ...file, ...texts } }

/** The tools of Cursor. */
export const cursorTools: ToolNames = {
  Shell: { name: 'Bash' },
  Read: { name: 'Read', keys: file },
  Write: { name: 'Write', keys: { ...file, content: 'content', contents: 'content' } },
  StrReplace: edit,
  Edit: edit,
  Grep: { name: 'Grep' },
  Delete: { name: 'Delete', keys: file },
  Task: { name: 'Agent' },
}
