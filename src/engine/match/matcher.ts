import { HookError } from '../core/errors/error.ts'
import type { HookConditions } from '../core/hook.ts'
import { isRecord } from '../core/schema/check.ts'
import { lazyModule } from '../core/values/lazy-module.ts'
import { agentIdsPart, fieldsPart, outcomePart } from './event-conditions.ts'
import { globPart } from './glob.ts'
import { type MatchInput, type MatchPart, throwWrongType, withCode } from './match-part.ts'
import { regexPart } from './regex.ts'
import { splitToolNames } from './tool-names.ts'
import { namesPart, toolPatternPart } from './tool-pattern.ts'

/** All conditions of one hook, compiled. */
export interface Matcher {
  readonly parts: readonly MatchPart[]
  byName(name: string): boolean
  /** Absent if the name alone decides, or if a condition looks at effects, which `explainMatch` reads. */
  readonly when: ((input: MatchInput) => boolean) | undefined
  /** Whether a condition looks at what the call does. */
  readonly readsEffects: boolean
}

/** Compiles all conditions of a hook; throws a coded error that names the condition and the position in it. */
export function compileMatcher(hook: HookConditions, event: string): Matcher {
  try {
    const matcher = combine(compileParts(hook))
    if (hook.opaque !== undefined && hook.opaque !== null && !matcher.readsEffects) throw uselessOpaque()
    return matcher
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const who = hook.id ?? hook.name
    const where = who === undefined ? `a hook on ${event}` : `hook ${who} on ${event}`
    const { code, hint, at } = error
    const options = at === undefined ? { hint, cause: error } : { hint, at, cause: error }
    throw new HookError(code, `${where}: ${error.message}`, options)
  }
}

const matchKeys = ['glob', 'names', 'fields', 'outcome', 'command']

function uselessOpaque(): HookError {
  return new HookError('config.field', '`opaque` needs a condition that looks at what a call does', {
    at: 'opaque',
    hint: 'Add `match.command`, a matcher such as Bash(rm *), or an if_expr with `shell`.',
  })
}

/** Cheap conditions come first; CEL is evaluated only if all others hold. */
function compileParts(hook: HookConditions): MatchPart[] {
  const match: unknown = hook.match ?? {}
  if (!isRecord(match)) throwWrongType('match', 'an object')
  const unknown = Object.keys(match).find((key) => !matchKeys.includes(key))
  if (unknown !== undefined) throwWrongType(`match.${unknown}`, 'glob, names, fields, outcome or command')
  const { glob, names, fields, outcome, command } = hook.match ?? {}
  const parts = [
    ifText(hook.matcher, 'matcher', (text) => toolPatternPart(text) ?? regexPart(text)),
    ifText(glob, 'match.glob', globPart),
    ifGiven(names, namesPart),
    ifGiven(hook.agent_ids, agentIdsPart),
    ifGiven(outcome, outcomePart),
    ifGiven(fields, fieldsPart),
    ifGiven(command, (given) => commandConditions().commandPart(given)),
    ifText(hook.if_expr, 'if_expr', (source) => conditions().conditionPart(source)),
  ]
  return parts.filter((part) => part !== undefined)
}

const conditions = lazyModule<typeof import('./cel/condition.ts')>(import.meta.url, './cel/condition')
const commandConditions = lazyModule<typeof import('./effects/command-condition.ts')>(
  import.meta.url,
  './effects/command-condition',
)

/** A missing or empty text is not a condition. */
function ifText(
  text: string | undefined,
  at: string,
  compile: (text: string) => MatchPart,
): MatchPart | undefined {
  return ifGiven(text, (given) => {
    if (typeof given !== 'string') throwWrongType(at, 'a string')
    return given === '' ? undefined : compile(given)
  })
}

/** `null` in JSON means the same as a missing field. */
function ifGiven<T>(
  value: T | null | undefined,
  compile: (value: T) => MatchPart | undefined,
): MatchPart | undefined {
  return value === undefined || value === null ? undefined : compile(value)
}

function combine(parts: readonly MatchPart[]): Matcher {
  const byNames = parts.flatMap(({ byName }) => byName ?? [])
  const whens = parts.flatMap(({ when }) => (when ? [withCodedErrors(when)] : []))
  const readsEffects = parts.some(({ effects }) => effects !== undefined)
  return Object.freeze({
    parts,
    readsEffects,
    byName: (name: string) => splitToolNames(name).some((one) => byNames.every((test) => test(one))),
    when:
      whens.length === 0 || readsEffects
        ? undefined
        : (input: MatchInput) => inputPerName(input).some((one) => whens.every((test) => test(one))),
  })
}

/** The same input once for each name of the tool. */
function inputPerName(input: MatchInput): readonly MatchInput[] {
  const [first, ...others] = splitToolNames(input.name)
  return first === undefined || others.length === 0
    ? [input]
    : [first, ...others].map((name) => ({ ...input, name }))
}

function withCodedErrors(when: (input: MatchInput) => boolean): (input: MatchInput) => boolean {
  return (input) => {
    try {
      return when(input)
    } catch (error) {
      throw withCode(error)
    }
  }
}
