import type { Envelope } from '../core/context.ts'

export interface MatchInput {
  readonly event: string
  /** What name matchers look at: the tool name, or the payload key the event row names. Empty where there is none. */
  readonly name: string
  readonly payload: unknown
  readonly envelope: Envelope
}

/** One condition of a hook. A part has `byName` when the name alone decides it, `when` otherwise, or both. */
export interface MatchPart {
  readonly kind: 'matcher' | 'glob' | 'names' | 'fields' | 'outcome' | 'agent_ids' | 'if_expr'
  /** As its author wrote it, for traces. */
  readonly source: string
  /** A pure function of the name, so the verdict can be kept. */
  readonly byName?: (name: string) => boolean
  /** May throw a coded error, which on a gate counts as a match. */
  readonly when?: (input: MatchInput) => boolean
}

/** All conditions of one hook, compiled. */
export interface Matcher {
  readonly parts: readonly MatchPart[]
  byName(name: string): boolean
  /** Absent when the name decides alone. */
  readonly when: ((input: MatchInput) => boolean) | undefined
}
