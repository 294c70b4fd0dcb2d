import { errorText, HookError } from '../core/error.ts'
import { eachName } from './both-names.ts'
import { failingField } from './fields.ts'
import type { Matcher, MatchInput, MatchPart } from './matcher.ts'
import { readOutcome } from './outcome.ts'

interface Part {
  readonly part: MatchPart['kind']
  readonly source: string
}

export type MatchReport =
  | { readonly result: 'matched' }
  | ({ readonly result: 'missed'; readonly because: string } & Part)
  /** Counts as a match on a gate, as none elsewhere. */
  | ({ readonly result: 'failed'; readonly error: HookError } & Part)

/** Names the first part that does not hold, and says why in a sentence. */
export function explainMatch(matcher: Matcher, input: MatchInput): MatchReport {
  const [first, ...others] = eachName(input.name).map((name) => explainOne(matcher, { ...input, name }))
  return [first, ...others].find((report) => report?.result !== 'missed') ?? first ?? { result: 'matched' }
}

/**
 * Evaluates the conditions that the name alone does not decide. The report is the verdict and its explanation in one,
 * so that no condition is evaluated twice.
 */
export function evaluateConditions(matcher: Matcher, input: MatchInput): MatchReport {
  let missed: MatchReport | undefined
  for (const name of eachName(input.name)) {
    const report = evaluateWhens(matcher, { ...input, name })
    if (report.result !== 'missed') return report
    missed ??= report
  }
  return missed ?? MATCHED
}

const MATCHED: MatchReport = { result: 'matched' }

function evaluateWhens({ parts }: Matcher, input: MatchInput): MatchReport {
  for (const part of parts) {
    if (part.when === undefined) continue
    const where = { part: part.kind, source: part.source }
    try {
      if (!part.when(input)) return { result: 'missed', ...where, because: missedInput(part, input) }
    } catch (error) {
      return { result: 'failed', ...where, error: coded(error) }
    }
  }
  return MATCHED
}

function explainOne(matcher: Matcher, input: MatchInput): MatchReport {
  for (const part of matcher.parts) {
    const where = { part: part.kind, source: part.source }
    try {
      if (part.byName && !part.byName(input.name))
        return { result: 'missed', ...where, because: missedName(part, input.name) }
      if (part.when && !part.when(input))
        return { result: 'missed', ...where, because: missedInput(part, input) }
    } catch (error) {
      return { result: 'failed', ...where, error: coded(error) }
    }
  }
  return { result: 'matched' }
}

/** Why a name does not match: the first part that refuses it. */
export function explainNameMiss({ parts }: Matcher, name: string): string {
  const [first = name] = eachName(name)
  const part = parts.find((each) => each.byName !== undefined && !each.byName(first))
  return part === undefined ? 'the name does not match' : missedName(part, first)
}

function missedName({ kind, source }: MatchPart, name: string): string {
  if (name === '') return `${kind} ${source} needs a name, and this event has none`
  return kind === 'names'
    ? `names ${source} do not include ${shown(name)}`
    : `${kind} ${source} does not match ${shown(name)}`
}

function missedInput({ kind, source }: MatchPart, input: MatchInput): string {
  switch (kind) {
    case 'fields':
      return missedField(source, input.payload)
    case 'outcome':
      return `outcome is ${shown(readOutcome(input))}, not ${source}`
    case 'agent_ids': {
      const { agentId, agent } = input.envelope
      const who = agentId ?? agent
      return who === undefined ? 'the event names no agent' : `agent ${shown(who)} is not in agent_ids`
    }
    case 'if_expr':
      return 'if_expr is false'
    default:
      return `${kind} ${source} does not match the arguments of this ${input.name} call`
  }
}

function missedField(source: string, payload: unknown): string {
  const failing = failingField(JSON.parse(source), payload)
  if (!failing) return 'fields do not match'
  const { path, actual, expected } = failing
  const found = actual === undefined ? 'is missing' : `is ${shown(actual)}`
  return `fields ${path} ${found}, not ${shown(expected)}`
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function coded(error: unknown): HookError {
  if (error instanceof HookError) return error
  return new HookError('input.unreadable', `reading the payload threw: ${errorText(error)}`, { cause: error })
}
