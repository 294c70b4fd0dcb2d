import type { HookOptions } from '../../engine/hook-definition.ts'
import { readToolPattern } from '../../engine/match/tool-pattern.ts'
import type { ToolNames } from '../translate/tool-names.ts'

/** The fields of a hook that say when it applies. */
export type ConditionFields = Pick<HookOptions, 'matcher' | 'match' | 'if_expr' | 'enabled'>

/** Our matchers read `Tool(x)` as a pattern over arguments. A group around it makes it a regular expression. */
export function unanchoredMatcher(matcher: string): string {
  return readToolPattern(matcher) === undefined ? matcher : `(?:${matcher})`
}

export function matchesEverything(matcher: string): boolean {
  return matcher === '' || matcher === '*' || matcher === '.*'
}

/** Tools of other agents that change a file too. An agent without them guards every change with its own tools. */
const alsoEdits = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']

/**
 * A regular expression over the agent's own tool names. Hooks see the tools of every agent under one name, so the
 * result matches that name too: `run_shell_command` also matches `Bash`.
 */
export function toolMatcher(matcher: string, tools: ToolNames): string {
  const pattern = compileOrUndefined(matcher)
  if (pattern === undefined) return matcher
  const natives = Object.entries(tools).filter(([native]) => pattern.test(native))
  const meant = natives.flatMap(([native, { name }]) => {
    if (native === 'apply_patch') return alsoEdits
    return name === 'Edit' ? alsoEdits.filter((tool) => tool !== 'Write') : [name]
  })
  const others = [...new Set(meant)].filter((name) => !pattern.test(name))
  const alternatives = [
    unanchoredMatcher(matcher),
    // Cursor names a tool of an MCP server without the server.
    ...(matcher.includes('MCP:') ? [matcher.replaceAll('MCP:', 'mcp__.+?__')] : []),
    ...(others.length === 0 ? [] : [`^(?:${others.join('|')})$`]),
  ]
  return alternatives.length === 1 ? unanchoredMatcher(matcher) : alternatives.map(group).join('|')
}

function group(pattern: string): string {
  return pattern.startsWith('(?:') || /^[\w^$()?:|]+$/.test(pattern) === false ? `(?:${pattern})` : pattern
}

/** A matcher that does not compile is left as it is; the check of the hook reports it with its position. */
function compileOrUndefined(matcher: string): RegExp | undefined {
  try {
    return new RegExp(matcher)
  } catch {
    return undefined
  }
}

/** A condition in CEL: the field of the payload contains a match of the regular expression. */
export function fieldMatches(field: string, pattern: string): ConditionFields {
  return { if_expr: `${field}.matches(${JSON.stringify(pattern)})` }
}
