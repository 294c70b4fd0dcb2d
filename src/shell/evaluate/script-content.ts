import {
  describeField,
  type ShellText,
  substitutedFile,
  type WordField,
  withoutTrailingNewlines,
} from '../expand/shell-text.ts'
import { certainPath } from './resolve-path.ts'
import type { ShellFrame } from './shell-run.ts'
import type { ShellState } from './shell-state.ts'

const MAX_SCRIPT_LENGTH = 65_536

/** The file of an argument, also of a process substitution; undefined if it is not certain. */
function filePath(file: WordField, state: ShellState): string | undefined {
  return substitutedFile(file) ?? certainPath(file, state.cwd)
}

/**
 * The text of a file as a value: what the line wrote, or a piece that names the file. The content of a file on disk never
 * becomes part of an argument, because effects are shown to people and stored.
 */
export function fileText(file: WordField, state: ShellState): ShellText | undefined {
  const path = filePath(file, state)
  if (path === undefined) return undefined
  return state.files.get(path) ?? [{ source: `$(cat ${path})`, file: path }]
}

/** The content of a script that a shell runs: as the line wrote it, or as it is on disk. Undefined if it cannot be read. */
export function scriptContent(file: WordField, state: ShellState, frame: ShellFrame): ShellText | undefined {
  if (frame.remote !== undefined) return undefined
  const path = filePath(file, state)
  if (path === undefined) return undefined
  return state.files.get(path) ?? readScript(path, frame)
}

function readScript(path: string, { run }: ShellFrame): ShellText | undefined {
  const text = run.context.readFile?.(path)
  return text === undefined || text.length > MAX_SCRIPT_LENGTH || text.includes('\0') ? undefined : [text]
}

/** Code with the files that it consists of in place of their names: `cat script.sh | sh`. */
export function withFileContents(code: ShellText, state: ShellState, frame: ShellFrame): ShellText {
  return code.flatMap((piece): ShellText => {
    if (typeof piece === 'string' || piece.file === undefined || frame.remote !== undefined) return [piece]
    const content = state.files.get(piece.file) ?? readScript(piece.file, frame) ?? [piece]
    return piece.isTrimmed ? withoutTrailingNewlines(content) : content
  })
}

/** Why a script is opaque. */
export function describeUnreadScript(file: WordField): string {
  return `the script ${describeField(file)} cannot be read, or is too large`
}
