import { HookError } from '../core/errors/error.ts'
import type { OpaqueMark } from '../core/shell-effects.ts'
import { effectsOf, formatValue, type MatchInput, type MatchPart, withCode } from './match-part.ts'
import type { Matcher } from './matcher.ts'
import { splitToolNames } from './tool-names.ts'

/** The condition that decided. */
interface DecidingPart {
  readonly part: MatchPart['kind']
  readonly source: string
}

/** Whether a hook matches, and if not, why. */
export type MatchReport =
  | {
      readonly result: 'matched'
      /** What the call does that fits, if a condition looks at effects. */
      readonly found?: string
    }
  | ({
      readonly result: 'missed'
      readonly because: string
      /** What cannot be known about the call, if it may be what the hook looks for. */
      readonly hidden?: readonly OpaqueMark[]
    } & DecidingPart)
  /** A condition could not be evaluated. Counts as a match on a gate and as none elsewhere. */
  | ({ readonly result: 'failed'; readonly error: HookError } & DecidingPart)

const MATCHED: MatchReport = { result: 'matched' }

/**
 * Evaluates all conditions, or those that the name alone does not decide, and explains the first that does not hold. The report is
 * result and explanation in one, so that no condition is evaluated twice. A tool may have several names, and one that matches suffices.
 */
export function explainMatch(matcher: Matcher, input: MatchInput, withNames = true): MatchReport {
  let missed: MatchReport | undefined
  for (const name of splitToolNames(input.name)) {
    const report = evaluateParts(matcher, { ...input, name }, withNames)
    if (report.result !== 'missed') return report
    if (missed === undefined || ('hidden' in report && !('hidden' in missed))) missed = report
  }
  return missed ?? MATCHED
}

/** The effects of the call may hide what a condition looks for only if all other conditions hold, so they are evaluated too. */
function evaluateParts({ parts }: Matcher, input: MatchInput, withNames: boolean): MatchReport {
  let hidden: MatchReport | undefined
  const found: string[] = []
  for (const part of parts) {
    const which = { part: part.kind, source: part.source }
    try {
      if (withNames && part.byName && !part.byName(input.name))
        return { result: 'missed', ...which, because: explainName(part, input.name) }
      if (part.when && !part.when(input))
        return { result: 'missed', ...which, because: explainCondition(part, input) }
      if (part.effects === undefined) continue
      const fits = part.effects.find(input, effectsOf(input))
      if (fits) found.push(fits)
      if (fits !== undefined) continue
      const miss = explainEffects(part, input)
      if (!('hidden' in miss)) return miss
      hidden ??= miss
    } catch (error) {
      return { result: 'failed', ...which, error: withCode(error) }
    }
  }
  if (hidden !== undefined) return hidden
  return found.length === 0 ? MATCHED : { result: 'matched', found: [...new Set(found)].join('; ') }
}

/** Throws if the line was too large to read: then nothing is known about what it does. */
function explainEffects(part: MatchPart, input: MatchInput): MatchReport {
  const hidden = part.effects?.hidden(input, effectsOf(input)) ?? []
  const limit = hidden.find(({ reason }) => reason === 'budget')
  if (limit !== undefined)
    throw new HookError('match.shell_limit', `the shell line cannot be read as a whole: ${limit.detail}`)
  const miss = { result: 'missed', part: part.kind, source: part.source } as const
  if (hidden.length === 0) return { ...miss, because: explainCondition(part, input) }
  return { ...miss, because: `${explainCondition(part, input)}, but ${describeMarks(hidden)}`, hidden }
}

/** What cannot be known about a line, in words for the record. */
export function describeMarks(marks: readonly OpaqueMark[]): string {
  const [first, ...others] = [...new Set(marks.map(({ detail }) => detail))]
  return others.length === 0 ? `${first}` : `${first}, and ${others.length} more`
}

/** Why a name does not match, by the first condition that does not hold. */
export function explainNameMiss({ parts }: Matcher, name: string): string {
  const [first = name] = splitToolNames(name)
  const part = parts.find((each) => each.byName !== undefined && !each.byName(first))
  return part === undefined ? 'the name does not match' : explainName(part, first)
}

function explainName({ kind, source }: MatchPart, name: string): string {
  if (name === '') return `${kind} ${source} needs a name, and this event has none`
  return kind === 'names'
    ? `names ${source} do not include ${formatValue(name)}`
    : `${kind} ${source} does not match ${formatValue(name)}`
}

function explainCondition({ kind, source, explain }: MatchPart, input: MatchInput): string {
  if (explain !== undefined) return explain(input)
  switch (kind) {
    case 'if_expr':
      return 'if_expr is false'
    case 'command':
      return 'the call runs no command of match.command'
    default:
      return `${kind} ${source} does not match the arguments of this ${input.name} call`
  }
}
