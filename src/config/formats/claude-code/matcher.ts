import type { HookOptions } from '../../../engine/hook-definition.ts'
import { readToolPattern } from '../../../engine/match/tool-pattern.ts'

interface Condition {
  readonly fields: Pick<HookOptions, 'matcher' | 'match' | 'enabled'>
  readonly notes: readonly string[]
}

/**
 * A matcher of Claude Code: `*` or nothing for every name, a list of names, else a regular expression that may fit
 * anywhere. `if` is a permission rule such as `Bash(git *)`, and both must hold.
 */
export function claudeMatcher(matcher: string, rule: string | undefined): Condition {
  const names = exactNames(matcher)
  const all = matcher === '' || matcher === '*'
  if (rule === undefined || rule === '') {
    if (all) return { fields: {}, notes: [] }
    return { fields: names === undefined ? { matcher: asRegex(matcher) } : { match: { names } }, notes: [] }
  }
  const tool = readToolPattern(rule)?.tool ?? rule
  // A list of names may hold such rules too, so that one and a regular expression fit into one hook.
  if (names === undefined)
    return { fields: { ...(all ? {} : { matcher: asRegex(matcher) }), match: { names: [rule] } }, notes: [] }
  if (names.includes(tool)) return { fields: { match: { names: [rule] } }, notes: [] }
  return {
    fields: { match: { names: [rule] }, enabled: false },
    notes: [`matcher ${matcher} and if ${rule} never hold together, so the hook is switched off`],
  }
}

function exactNames(matcher: string): string[] | undefined {
  if (matcher === '' || !/^[\w\s,|-]+$/.test(matcher)) return undefined
  return matcher
    .split(/[,|]/)
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Our own matchers read `Tool(x)` as a rule about arguments; a group around it makes it a regular expression. */
export function asRegex(matcher: string): string {
  return readToolPattern(matcher) === undefined ? matcher : `(?:${matcher})`
}
