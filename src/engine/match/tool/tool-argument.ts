import { posix } from 'node:path'
import { isRecord } from '../../core/check.ts'
import type { MatchInput } from '../matcher.ts'

/** What a `Tool(pattern)` is held against: one argument of the call, in each of its spellings. */
export interface ToolArgument {
  readonly texts: readonly string[]
  readonly shell: boolean
}

const shellKeys = ['command', 'cmd', 'script'] as const
const pathKeys = ['file_path', 'filePath', 'path', 'notebook_path'] as const
/** One argument each: a pattern for one file must see it among others. */
const pathLists = ['file_paths', 'paths'] as const
const otherKeys = ['code', 'url', 'query', 'pattern', 'prompt'] as const

/**
 * Every known argument, not only the first: the model writes the input, and an extra `command: "ls"` must not hide
 * the `script` that really runs. A tool with none of them is searched in all its texts.
 */
export function toolArguments({ payload, envelope }: MatchInput): readonly ToolArgument[] {
  const toolInput = isRecord(payload) ? own(payload, 'tool_input') : undefined
  if (typeof toolInput === 'string') return [{ texts: [toolInput], shell: true }]
  if (!isRecord(toolInput)) return nothing
  const known = [
    ...present(toolInput, shellKeys).map((text) => ({ texts: [text], shell: true })),
    ...present(toolInput, pathKeys).map((text) => ({
      texts: pathSpellings(text, envelope.cwd),
      shell: false,
    })),
    ...pathLists
      .flatMap((key) => texts(own(toolInput, key)))
      .map((text) => ({
        texts: pathSpellings(text, envelope.cwd),
        shell: false,
      })),
    ...present(toolInput, otherKeys).map((text) => ({ texts: [text], shell: false })),
  ]
  if (known.length > 0) return known
  const rest = present(toolInput, Object.keys(toolInput))
  return rest.length > 0 ? [{ texts: rest, shell: true }] : nothing
}

/** A call without arguments has the empty one, which `Tool(*)` fits. */
const nothing: readonly ToolArgument[] = [{ texts: [''], shell: false }]

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function present(input: Record<string, unknown>, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const value = own(input, key)
    if (typeof value === 'string') return [value]
    const isTexts =
      Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
    return isTexts ? [value.join(' ')] : []
  })
}

/** As written, without detours, and seen from the working directory. */
function pathSpellings(path: string, cwd: string | undefined): string[] {
  const plain = posix.normalize(path)
  const base = cwd === undefined || cwd === '/' ? undefined : `${posix.normalize(cwd).replace(/\/$/, '')}/`
  const inside = base !== undefined && plain.startsWith(base) ? [plain.slice(base.length)] : []
  return [path, plain, ...inside]
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
