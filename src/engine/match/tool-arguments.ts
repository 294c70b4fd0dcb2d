import { posix } from 'node:path'
import type { Envelope } from '../core/context.ts'
import { isRecord } from '../core/schema/check.ts'
import { asShellWord, isFileTool } from './effects/file-tools.ts'
import { isTexts, ownValue, readPaths, readTexts } from './input-texts.ts'
import type { MatchInput } from './match-part.ts'

/** Where a path is compared. */
export interface FilePlace extends Pick<Envelope, 'cwd' | 'project'> {
  /** The home folder of the caller, if it is known. */
  readonly homes?: readonly string[] | undefined
}

/** One argument of a tool call, in every spelling that a `Tool(pattern)` is compared with. */
export interface ToolArgument {
  readonly texts: readonly string[]
  /** The shell lines that the argument may be; none if it is no shell command. */
  readonly lines: readonly string[]
}

const shellKeys = ['command', 'cmd', 'script'] as const
const otherKeys = ['code', 'url', 'query', 'pattern', 'prompt'] as const

/**
 * The arguments of a tool call: every known key, not only the first, because the model writes the input and an extra
 * `command: "ls"` must not hide the `script` that runs. If the call has no known key, all its texts count.
 */
export function toolArguments({ payload, envelope }: MatchInput): readonly ToolArgument[] {
  const toolInput = isRecord(payload) ? ownValue(payload, 'tool_input') : undefined
  if (typeof toolInput === 'string') return [{ texts: [toolInput], lines: [toolInput] }]
  if (!isRecord(toolInput)) return NO_ARGUMENTS
  const plain = (text: string): ToolArgument => ({ texts: [text], lines: [] })
  const isFile = isRecord(payload) && isFileTool(payload.tool_name)
  const known = [
    ...(isFile ? readTexts(toolInput, shellKeys).map(plain) : shellArguments(toolInput)),
    ...readPaths(toolInput).map((text) => ({ texts: pathSpellings(text, envelope), lines: [] })),
    ...readTexts(toolInput, otherKeys).map(plain),
  ]
  if (known.length > 0) return known
  const rest = readTexts(toolInput, Object.keys(toolInput))
  return rest.length > 0 ? [{ texts: rest, lines: rest }] : NO_ARGUMENTS
}

/** A call without arguments has one empty argument, which `Tool(*)` matches. */
const NO_ARGUMENTS: readonly ToolArgument[] = [{ texts: [''], lines: [] }]

function shellArguments(toolInput: Record<string, unknown>): ToolArgument[] {
  return shellKeys.flatMap((key) => {
    const value = ownValue(toolInput, key)
    if (typeof value === 'string') return [{ texts: [value], lines: [value] }]
    if (!isTexts(value)) return []
    // A list is the arguments of a program, in which no shell looks for quotes.
    return [{ texts: [value.join(' ')], lines: [value.map(asShellWord).join(' ')] }]
  })
}

/** The shell lines of a call of any tool; those of a tool that works on files are none. */
export function shellLines(payload: unknown): readonly string[] {
  if (!isRecord(payload) || isFileTool(payload.tool_name)) return []
  const toolInput = ownValue(payload, 'tool_input')
  if (typeof toolInput === 'string') return payload.tool_name === 'Bash' ? [toolInput] : []
  return isRecord(toolInput) ? shellArguments(toolInput).flatMap(({ lines }) => lines) : []
}

/**
 * The path as written, normalized, and relative to the working directory and to the folder where the session began: `.` for
 * these folders themselves, and `~/` for what is in a home folder.
 */
export function pathSpellings(path: string, { cwd, project, homes = [] }: FilePlace): string[] {
  const plain = posix.normalize(path)
  const inside = [cwd, project].flatMap((folder) => {
    const base =
      folder === undefined || folder === '/' ? undefined : `${posix.normalize(folder).replace(/\/$/, '')}/`
    if (base === `${plain}/`) return ['.']
    return base !== undefined && plain.startsWith(base) ? [plain.slice(base.length)] : []
  })
  const inHome = homes.flatMap((home) =>
    plain === home || plain.startsWith(`${home}/`) ? [`~${plain.slice(home.length)}`] : [],
  )
  return [...new Set([path, plain, ...inside, ...inHome])]
}
