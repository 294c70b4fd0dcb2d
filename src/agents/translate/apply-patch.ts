import { isRecord } from '../../engine/core/schema/check.ts'

type Input = Readonly<Record<string, unknown>>

const headers = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '] as const

/** The files of a patch in the order of their headers, and whether it only creates files. */
export interface PatchedFiles {
  readonly paths: readonly string[]
  readonly onlyAdds: boolean
}

/**
 * Reads the headers of a patch. A content line that looks like a header counts as one: a false file is safer than a
 * missed one.
 */
export function patchedFiles(patch: string): PatchedFiles {
  const found = patch.split('\n').flatMap((line) => {
    const text = trimmed(line)
    const header = headers.find((each) => text.startsWith(each))
    return header === undefined ? [] : [{ header, path: trimmed(text.slice(header.length)) }]
  })
  return {
    paths: [...new Set(found.map(({ path }) => path))],
    onlyAdds: found.length > 0 && found.every(({ header }) => header === headers[0]),
  }
}

const blank = /[\s\u0085]/

/** Trims the same blanks as Codex. Otherwise Codex would find a header that we miss. */
function trimmed(line: string): string {
  let [from, to] = [0, line.length]
  while (from < to && blank.test(line.charAt(from))) from++
  while (to > from && blank.test(line.charAt(to - 1))) to--
  return line.slice(from, to)
}

type PatchCall = {
  readonly tool_name: string
  readonly native_tool_name: readonly string[]
  readonly tool_input: Input
}

/**
 * A patch as a canonical tool call: `Write` if it only creates files, `Edit` otherwise, with the paths from its text.
 * `command` holds the text, which is what counts.
 */
export function readPatch(patch: string): PatchCall {
  const { paths, onlyAdds } = patchedFiles(patch)
  const [first] = paths
  return {
    tool_name: onlyAdds ? 'Write' : 'Edit',
    // One patch may do both, and Codex runs the hooks of either tool.
    native_tool_name: ['apply_patch', 'Edit', 'Write'],
    tool_input: {
      command: patch,
      ...(first === undefined ? {} : { file_path: first, file_paths: paths }),
    },
  }
}

/**
 * The text of a changed patch. Undefined if a hook changed another field: the paths are only read from the text, so
 * changing them alone has no effect.
 */
export function patchText(original: string, changed: unknown): string | undefined {
  if (!isRecord(changed) || typeof changed.command !== 'string') return undefined
  const before = readPatch(original).tool_input
  const after = readPatch(changed.command).tool_input
  const others = Object.entries(changed).filter(([key]) => key !== 'command')
  const follows = ([key, value]: readonly [string, unknown]) =>
    same(value, before[key]) || same(value, after[key])
  return others.every(follows) ? changed.command : undefined
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
