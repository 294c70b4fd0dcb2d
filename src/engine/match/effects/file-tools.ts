import { readPaths, readTexts } from '../input-texts.ts'

const fileTools = /^((Multi|Notebook)?Edit|(Notebook)?Read|Write|Grep|Delete|apply_patch)$/

/**
 * A shell line with the tool as its program and its paths as arguments. The analyser knows our names of tools that work on
 * files, and the usual ones of MCP servers and programs, as it knows `cp` and `rm`.
 */
export function fileToolLines(tool: string, input: unknown): readonly string[] {
  const texts = [
    ...readTexts(input, ['source', 'from']),
    ...readPaths(input),
    ...readTexts(input, ['destination', 'to']),
  ]
  // A file of a repository on a server is no file of this machine.
  if (texts.length === 0 || readTexts(input, ['repo']).length > 0) return []
  const name = readTexts(input, ['command']).includes('view') ? 'Read' : tool.split(/__|\W/).at(-1)
  return [`${name} -- ${texts.map(asShellWord).join(' ')}`]
}

/** Whether the tool works on files, so that its `command` is no shell line but a patch. */
export function isFileTool(tool: unknown): boolean {
  return typeof tool === 'string' && fileTools.test(tool)
}

/** A text as one word of a shell line. */
export function asShellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
