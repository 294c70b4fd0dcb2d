import { HookError } from '../../engine/core/error.ts'

/** How one tool of a client is called here, and its arguments where they are spelled differently. */
export interface ToolName {
  readonly name: string
  /** Theirs → ours. Several of theirs may be one of ours, where versions of a client spell it differently. */
  readonly keys?: Readonly<Record<string, string>>
}

/** Native tool name → ours. What is not listed keeps its name and its arguments. */
export type ToolNames = Readonly<Record<string, ToolName>>

type Input = Readonly<Record<string, unknown>>

/** The tool call as every hook sees it, whichever client it comes from. */
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
  /** As the client calls it; hooks match either name. */
  readonly native_tool_name?: string
  readonly tool_input: Input
}

/** Changed arguments, spelled as the client wants them: as in `original`, where there are several ways. */
export function toNative(tools: ToolNames, native: string, input: Input, original: Input = {}): Input {
  const known = lookUp(tools, native)
  if (known?.keys === undefined) return input
  const back = new Map<string, string>()
  for (const [theirs, ours] of Object.entries(known.keys))
    if (!back.has(ours) || Object.hasOwn(original, theirs)) back.set(ours, theirs)
  return rename(input, Object.fromEntries(back))
}

/**
 * The key that the tool really reads has the name that hooks look at: a model that adds an argument of that name must not
 * hide the real one behind it.
 */
function rename(input: Input, keys: Readonly<Record<string, string>>): Input {
  const taken = new Map<string, string>()
  for (const [from, to] of Object.entries(keys)) {
    if (!Object.hasOwn(input, from)) continue
    const other = taken.get(to)
    // Only one of them is what the tool reads, and a hook must not be shown the other.
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

/** A row of a table. The name comes from outside, and `constructor` must not be found. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** The name that hooks know a tool of an MCP server by, as Claude Code spells it. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${plain(server)}__${plain(tool)}`
}

function plain(name: string): string {
  return name.replace(/[^\w-]/g, '_')
}
