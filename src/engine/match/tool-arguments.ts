import { posix } from 'node:path'
import { isRecord } from '../core/check.ts'
import type { MatchInput } from './match-part.ts'

/** One argument of a tool call, in every spelling that a `Tool(pattern)` is compared with. */
export interface ToolArgument {
  readonly texts: readonly string[]
  /** Whether the text may be a shell command. */
  readonly shell: boolean
}

const shellKeys = ['command', 'cmd', 'script'] as const
const pathKeys = ['file_path', 'filePath', 'path', 'notebook_path'] as const
/** Each path of a list is an argument of its own, so that a pattern for one file finds it among others. */
const pathLists = ['file_paths', 'paths'] as const
const otherKeys = ['code', 'url', 'query', 'pattern', 'prompt'] as const

/**
 * The arguments of a tool call: every known key, not only the first, because the model writes the input and an extra
 * `command: "ls"` must not hide the `script` that runs. If the call has no known key, all its texts count.
 */
export function toolArguments({ payload, envelope }: MatchInput): readonly ToolArgument[] {
  const toolInput = isRecord(payload) ? own(payload, 'tool_input') : undefined
  if (typeof toolInput === 'string') return [{ texts: [toolInput], shell: true }]
  if (!isRecord(toolInput)) return NO_ARGUMENTS
  const known = [
    ...textsAt(toolInput, shellKeys).map((text) => ({ texts: [text], shell: true })),
    ...textsAt(toolInput, pathKeys).map((text) => ({
      texts: pathSpellings(text, envelope.cwd),
      shell: false,
    })),
    ...pathLists
      .flatMap((key) => textsIn(own(toolInput, key)))
      .map((text) => ({
        texts: pathSpellings(text, envelope.cwd),
        shell: false,
      })),
    ...textsAt(toolInput, otherKeys).map((text) => ({ texts: [text], shell: false })),
  ]
  if (known.length > 0) return known
  const rest = textsAt(toolInput, Object.keys(toolInput))
  return rest.length > 0 ? [{ texts: rest, shell: true }] : NO_ARGUMENTS
}

/** A call without arguments has one empty argument, which `Tool(*)` matches. */
const NO_ARGUMENTS: readonly ToolArgument[] = [{ texts: [''], shell: false }]

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function textsAt(input: Record<string, unknown>, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const value = own(input, key)
    if (typeof value === 'string') return [value]
    const isTexts =
      Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
    return isTexts ? [value.join(' ')] : []
  })
}

/** The path as written, normalized, and relative to the working directory. */
function pathSpellings(path: string, cwd: string | undefined): string[] {
  const plain = posix.normalize(path)
  const base = cwd === undefined || cwd === '/' ? undefined : `${posix.normalize(cwd).replace(/\/$/, '')}/`
  const inside = base !== undefined && plain.startsWith(base) ? [plain.slice(base.length)] : []
  return [path, plain, ...inside]
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
