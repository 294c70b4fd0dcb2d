import { isRecord } from '../../engine/core/check.ts'

type Input = Readonly<Record<string, unknown>>

const headers = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '] as const

/** What a patch touches: the files in the order they are named, and whether it only makes new ones. */
export interface PatchedFiles {
  readonly paths: readonly string[]
  readonly onlyAdds: boolean
}

/** Reads the headers of a patch. Errs towards finding a file where there is none: a line of its text may look like one. */
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

/** As Codex trims: one blank more than we know of, and a header behind it would be seen there only. */
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
 * A patch as the tool that hooks know: `Write` when it only makes files, `Edit` otherwise, with the paths that are written
 * in its text. What really counts is still the text, in `command`.
 */
export function readPatch(patch: string): PatchCall {
  const { paths, onlyAdds } = patchedFiles(patch)
  const [first] = paths
  return {
    tool_name: onlyAdds ? 'Write' : 'Edit',
    // One patch may do both, and Codex asks the hooks of either.
    native_tool_name: ['apply_patch', 'Edit', 'Write'],
    tool_input: {
      command: patch,
      ...(first === undefined ? {} : { file_path: first, file_paths: paths }),
    },
  }
}

/**
 * The text of a changed patch. None where a hook changed something else: paths are only a reading of the text, and a new
 * one beside the old text would change nothing.
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
