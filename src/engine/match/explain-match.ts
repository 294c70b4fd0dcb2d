import { errorText, HookError } from '../core/error.ts'
import { failingField, readOutcome } from './event-conditions.ts'
import type { MatchInput, MatchPart } from './match-part.ts'
import type { Matcher } from './matcher.ts'
import { splitToolNames } from './tool-names.ts'

/** The condition that decided. */
interface DecidingPart {
  readonly part: MatchPart['kind']
  readonly source: string
}

/** Whether a hook matches, and if not, why. */
export type MatchReport =
  | { readonly result: 'matched' }
  | ({ readonly result: 'missed'; readonly because: string } & DecidingPart)
  /** A condition could not be evaluated. Counts as a match on a gate and as none elsewhere. */
  | ({ readonly result: 'failed'; readonly error: HookError } & DecidingPart)

const MATCHED: MatchReport = { result: 'matched' }

/** Evaluates all conditions and explains the first that does not hold. */
export function explainMatch(matcher: Matcher, input: MatchInput): MatchReport {
  const [first, ...others] = splitToolNames(input.name).map((name) =>
    explainInput(matcher, { ...input, name }),
  )
  return [first, ...others].find((report) => report?.result !== 'missed') ?? first ?? MATCHED
}

/**
 * Evaluates the conditions that the name alone does not decide. The report is result and explanation in one, so that no
 * condition is evaluated twice.
 */
export function evaluateConditions(matcher: Matcher, input: MatchInput): MatchReport {
  let missed: MatchReport | undefined
  for (const name of splitToolNames(input.name)) {
    const report = evaluateWhens(matcher, { ...input, name })
    if (report.result !== 'missed') return report
    missed ??= report
  }
  return missed ?? MATCHED
}

function evaluateWhens({ parts }: Matcher, input: MatchInput): MatchReport {
  for (const part of parts) {
    if (part.when === undefined) continue
    const which = { part: part.kind, source: part.source }
    try {
      if (!part.when(input)) return { result: 'missed', ...which, because: explainCondition(part, input) }
    } catch (error) {
      return { result: 'failed', ...which, error: withCode(error) }
    }
  }
  return MATCHED
}

function explainInput(matcher: Matcher, input: MatchInput): MatchReport {
  for (const part of matcher.parts) {
    const which = { part: part.kind, source: part.source }
    try {
      if (part.byName && !part.byName(input.name))
        return { result: 'missed', ...which, because: explainName(part, input.name) }
      if (part.when && !part.when(input))
        return { result: 'missed', ...which, because: explainCondition(part, input) }
    } catch (error) {
      return { result: 'failed', ...which, error: withCode(error) }
    }
  }
  return MATCHED
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

function explainCondition({ kind, source }: MatchPart, input: MatchInput): string {
  switch (kind) {
    case 'fields':
      return explainField(source, input.payload)
    case 'outcome':
      return `outcome is ${formatValue(readOutcome(input))}, not ${source}`
    case 'agent_ids': {
      const { agentId, agent } = input.envelope
      const who = agentId ?? agent
      return who === undefined ? 'the event names no agent' : `agent ${formatValue(who)} is not in agent_ids`
    }
    case 'if_expr':
      return 'if_expr is false'
    default:
      return `${kind} ${source} does not match the arguments of this ${input.name} call`
  }
}

function explainField(source: string, payload: unknown): string {
  const failing = failingField(JSON.parse(source), payload)
  if (!failing) return 'fields do not match'
  const { path, actual, expected } = failing
  const found = actual === undefined ? 'is missing' : `is ${formatValue(actual)}`
  return `fields ${path} ${found}, not ${formatValue(expected)}`
}

function formatValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** An error that a getter of the payload throws has no code. */
function withCode(error: unknown): HookError {
  if (error instanceof HookError) return error
  return new HookError('input.unreadable', `reading the payload threw: ${errorText(error)}`, { cause: error })
}
