/** What the tools of files do with a path, as the start of the shell line that does the same. */
const fileTools: Readonly<Record<string, string>> = {
  Write: '> ',
  Edit: '> ',
  MultiEdit: '> ',
  NotebookEdit: '> ',
  Read: '< ',
  NotebookRead: '< ',
  Grep: '< ',
  Delete: 'rm -- ',
}

/** The shell line that does the same as the tool with a path; undefined if the tool does not work on files. */
export function fileToolLine(tool: string, path: string): string | undefined {
  return isFileTool(tool) ? `${fileTools[tool]}${asShellWord(path)}` : undefined
}

/** Whether the tool works on files, so that its `command` is no shell line but a patch. */
export function isFileTool(tool: unknown): boolean {
  return typeof tool === 'string' && Object.hasOwn(fileTools, tool)
}

/** A text as one word of a shell line. */
export function asShellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
