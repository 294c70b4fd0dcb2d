import { isRecord } from '../core/check.ts'
import { errorText, HookError } from '../core/error.ts'
import type { HookConditions } from '../core/hook.ts'
import { agentIdsPart } from './agent-ids.ts'
import { eachName } from './both-names.ts'
import { conditionPart } from './cel/condition.ts'
import { fieldsPart } from './fields.ts'
import { globPart } from './glob.ts'
import type { Matcher, MatchInput, MatchPart } from './matcher.ts'
import { nameRegex } from './name-regex.ts'
import { namesPart } from './names.ts'
import { outcomePart } from './outcome.ts'
import { toolPatternPart } from './tool/tool-pattern.ts'
import { wrongType } from './wrong-type.ts'

/** Compiles all conditions of a hook; throws a coded error that names the part and the place in it. */
export function compileMatcher(hook: HookConditions, event: string): Matcher {
  try {
    return combine(compileParts(hook))
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const who = hook.id ?? hook.name
    const where = who === undefined ? `a hook on ${event}` : `hook ${who} on ${event}`
    const { code, hint, at } = error
    const options = at === undefined ? { hint, cause: error } : { hint, at, cause: error }
    throw new HookError(code, `${where}: ${error.message}`, options)
  }
}

/** Cheap ones first; a condition in CEL is evaluated only when everything else holds. */
function compileParts(hook: HookConditions): MatchPart[] {
  const match: unknown = hook.match ?? {}
  if (!isRecord(match)) wrongType('match', 'an object')
  const unknown = Object.keys(match).find((key) => !['glob', 'names', 'fields', 'outcome'].includes(key))
  if (unknown !== undefined) wrongType(`match.${unknown}`, 'glob, names, fields or outcome')
  const { glob, names, fields, outcome } = hook.match ?? {}
  const parts = [
    ifText(hook.matcher, 'matcher', (text) => toolPatternPart(text) ?? nameRegex(text)),
    ifText(glob, 'match.glob', globPart),
    ifGiven(names, namesPart),
    ifGiven(hook.agent_ids, agentIdsPart),
    ifGiven(outcome, outcomePart),
    ifGiven(fields, fieldsPart),
    ifText(hook.if_expr, 'if_expr', conditionPart),
  ]
  return parts.filter((part) => part !== undefined)
}

/** A missing or empty text is no condition. */
function ifText(
  text: string | undefined,
  at: string,
  compile: (text: string) => MatchPart,
): MatchPart | undefined {
  return ifGiven(text, (given) => {
    if (typeof given !== 'string') wrongType(at, 'a string')
    return given === '' ? undefined : compile(given)
  })
}

/** JSON has `null` where TypeScript has nothing. */
function ifGiven<T>(
  value: T | null | undefined,
  compile: (value: T) => MatchPart | undefined,
): MatchPart | undefined {
  return value === undefined || value === null ? undefined : compile(value)
}

function combine(parts: readonly MatchPart[]): Matcher {
  const byNames = parts.flatMap(({ byName }) => byName ?? [])
  const whens = parts.flatMap(({ when }) => (when ? [guarded(when)] : []))
  return Object.freeze({
    parts,
    byName: (name: string) => eachName(name).some((one) => byNames.every((test) => test(one))),
    when:
      whens.length === 0
        ? undefined
        : (input: MatchInput) => eachInput(input).some((one) => whens.every((test) => test(one))),
  })
}

function eachInput(input: MatchInput): readonly MatchInput[] {
  const [first, ...others] = eachName(input.name)
  return first === undefined || others.length === 0
    ? [input]
    : [first, ...others].map((name) => ({ ...input, name }))
}

/** A payload with a getter that throws must not reach the dispatcher as a stranger's error. */
function guarded(when: (input: MatchInput) => boolean): (input: MatchInput) => boolean {
  return (input) => {
    try {
      return when(input)
    } catch (error) {
      if (error instanceof HookError) throw error
      throw new HookError('input.unreadable', `reading the payload threw: ${errorText(error)}`, {
        cause: error,
      })
    }
  }
}
