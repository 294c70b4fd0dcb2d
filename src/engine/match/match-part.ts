import type { Envelope } from '../core/context.ts'
import { HookError } from '../core/error.ts'

/** What the conditions of a hook are evaluated on. */
export interface MatchInput {
  readonly event: string
  /** What name matchers look at: the tool name, or the payload key that the event names; empty if there is none. */
  readonly name: string
  readonly payload: unknown
  readonly envelope: Envelope
}

/** One compiled condition. It has `byName` if the name alone decides, `when` if the event does, or both. */
export interface MatchPart {
  readonly kind: 'matcher' | 'glob' | 'names' | 'fields' | 'outcome' | 'agent_ids' | 'if_expr'
  /** As its author wrote it, for traces. */
  readonly source: string
  /** A pure function of the name, so that its result can be cached. */
  readonly byName?: (name: string) => boolean
  /** May throw a coded error, which counts as a match on a gate. */
  readonly when?: (input: MatchInput) => boolean
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
