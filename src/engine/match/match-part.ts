import type { Envelope } from '../core/context.ts'
import { errorText, HookError } from '../core/errors/error.ts'
import type { HookConditions, Match } from '../core/hook.ts'
import type { OpaqueMark } from '../core/shell-effects.ts'
import type { CallEffects, ReadEffects } from './effects/call-effects.ts'

/** What the conditions of a hook are evaluated on. */
export interface MatchInput {
  readonly event: string
  /** What name matchers look at: the tool name, or the payload key that the event names; empty if there is none. */
  readonly name: string
  readonly payload: unknown
  readonly envelope: Envelope
  /** Reads what the call does. Conditions that look at effects need it. */
  readonly effects?: ReadEffects
}

/** One compiled condition. It has `byName` if the name alone decides, `when` if the event does, or both. */
export interface MatchPart {
  /** The field of the hook, or of its `match`. */
  readonly kind: keyof Match | Exclude<keyof HookConditions, 'id' | 'name' | 'match' | 'opaque'>
  /** As its author wrote it, for traces. */
  readonly source: string
  /** A pure function of the name, so that its result can be cached. */
  readonly byName?: (name: string) => boolean
  /** May throw a coded error, which counts as a match on a gate. */
  readonly when?: (input: MatchInput) => boolean
  /** Why `when` does not hold, in words for the record. */
  readonly explain?: (input: MatchInput) => string
  /** In place of `when`, if the condition looks at what the call does. */
  readonly effects?: EffectCondition
}

/** A condition on what a call does. */
export interface EffectCondition {
  /** What of the call fits, in words for the record; undefined if nothing that is known does. May throw like `when`. */
  find(input: MatchInput, effects: CallEffects): string | undefined
  /** The parts of the call that cannot be known and may hide what the condition looks for. */
  hidden(input: MatchInput, effects: CallEffects): readonly OpaqueMark[]
}

/** The effects of the call; throws if the caller did not pass an analyser. */
export function effectsOf({ effects, payload, envelope }: MatchInput): CallEffects {
  if (effects === undefined) throw new HookError('config.no_shell', 'there is no analyser of shell commands')
  return effects(payload, envelope)
}

/** Refuses a condition of the wrong type. Otherwise a caller without TypeScript could get one that matches everything. */
export function throwWrongType(at: string, expected: string): never {
  throw new HookError('config.field', `${at} must be ${expected}`, { at })
}

/** Throws unless the value is a list of strings. */
export function assertTexts(value: unknown, at: string): asserts value is readonly string[] {
  if (!Array.isArray(value)) throwWrongType(at, 'a list of strings')
  const wrong = value.findIndex((entry) => typeof entry !== 'string')
  if (wrong >= 0) throwWrongType(`${at}.${wrong}`, 'a string')
}

/** An error that a getter of the payload throws has no code. */
export function withCode(error: unknown): HookError {
  if (error instanceof HookError) return error
  return new HookError('input.unreadable', `reading the payload threw: ${errorText(error)}`, { cause: error })
}

/** A value in words for the record. */
export function formatValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
