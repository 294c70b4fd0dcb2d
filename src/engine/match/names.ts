import { HookError } from '../core/error.ts'
import type { MatchPart } from './matcher.ts'
import { compileToolPattern, readToolPattern } from './tool/tool-pattern.ts'
import { requireTexts } from './wrong-type.ts'

/** Exact names; an entry with a parenthesis is a `Tool(pattern)`. One of them must fit; an empty list stands for all. */
export function namesPart(names: readonly string[]): MatchPart | undefined {
  requireTexts(names, 'match.names')
  if (names.length === 0) return undefined
  const exact = new Set(names.filter((name) => !name.includes('(')))
  const patterns = names.flatMap((name, index) => (name.includes('(') ? [toolPatternAt(name, index)] : []))
  const source = names.join(', ')
  if (patterns.length === 0) return { kind: 'names', source, byName: (name) => exact.has(name) }
  return {
    kind: 'names',
    source,
    byName: (name) => exact.has(name) || patterns.some(({ tool }) => tool === name),
    when: (input) =>
      exact.has(input.name) || patterns.some(({ tool, fits }) => tool === input.name && fits(input)),
  }
}

function toolPatternAt(text: string, index: number) {
  const at = `match.names.${index}`
  const pattern = readToolPattern(text)
  if (pattern) return { tool: pattern.tool, fits: compileToolPattern(pattern.inside, at) }
  throw new HookError('match.syntax', `${at} is neither a name nor a Tool(pattern)`, {
    at,
    hint: 'Write it as Bash(git push*); regular expressions belong in `matcher`.',
  })
}
