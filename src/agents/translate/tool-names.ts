import { HookError } from '../../engine/core/errors/error.ts'

/** The canonical name of one native tool, and its arguments if they are spelled differently. */
export interface ToolName {
  readonly name: string
  /** Native → canonical. Several native arguments may map to one, if versions of an agent differ. */
  readonly keys?: Readonly<Record<string, string>>
}

/** Native tool name → canonical tool. Tools that are not listed keep their name and arguments. */
export type ToolNames = Readonly<Record<string, ToolName>>

type Input = Readonly<Record<string, unknown>>

/** The tool call with canonical names, as hooks of every agent see it. */
export function toCanonical(tools: ToolNames, native: string, input: Input): CanonicalTool {
  const known = lookUp(tools, native)
  if (known === undefined) return { tool_name: native, tool_input: input }
  const renamed = known.keys === undefined ? input : rename(input, known.keys)
  return known.name === native
    ? { tool_name: native, tool_input: renamed }
    : { tool_name: known.name, native_tool_name: native, tool_input: renamed }
}

export interface CanonicalTool {
  readonly tool_name: string
  /** The native name. Hooks match either name. */
  readonly native_tool_name?: string
  readonly tool_input: Input
}

/** Changed arguments with native names. If there are several spellings, the one in `original`. */
export function toNative(tools: ToolNames, native: string, input: Input, original: Input = {}): Input {
  const known = lookUp(tools, native)
  if (known?.keys === undefined) return input
  const back = new Map<string, string>()
  for (const [theirs, ours] of Object.entries(known.keys))
    if (!back.has(ours) || Object.hasOwn(original, theirs)) back.set(ours, theirs)
  return rename(input, Object.fromEntries(back))
}

/**
 * The argument that the tool really reads gets the canonical name. A model must not hide it behind an extra argument of
 * that name.
 */
function rename(input: Input, keys: Readonly<Record<string, string>>): Input {
  const taken = new Map<string, string>()
  for (const [from, to] of Object.entries(keys)) {
    if (!Object.hasOwn(input, from)) continue
    const other = taken.get(to)
    // The tool reads only one of them, and hooks must not see the other.
    if (other !== undefined)
      throw new HookError('input.schema', `${other} and ${from} are two spellings of one argument`, {
        at: from,
      })
    taken.set(to, from)
  }
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      const wanted = lookUp(keys, key)
      if (wanted !== undefined) return [wanted, value]
      return [taken.has(key) ? `${key}_unused` : key, value]
    }),
  )
}

/** Finds a row. The name comes from outside, so inherited keys such as `constructor` must not match. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** The canonical name of an MCP tool, in Claude Code's spelling. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${plain(server)}__${plain(tool)}`
}

function plain(name: string): string {
  return name.replace(/[^\w-]/g, '_')
}
