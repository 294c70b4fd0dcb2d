import type { Decision } from '../../engine/core/decision.ts'
import type { EventRow } from '../../engine/core/event.ts'
import type { Trace, TraceHook } from '../../engine/core/records/trace.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { type ConditionTerm, evaluateTerms } from '../../engine/match/cel/condition-terms.ts'
import type { MatchInput } from '../../engine/match/match-part.ts'
import { textNote } from '../../hook-files/answer-mode.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { isCatalogueName } from './effective-hooks.ts'

/** The `if_expr` of a hook, term by term. */
export interface ExplainedCondition {
  readonly terms: readonly ConditionTerm[]
  /** The hook has changed since the event, so these may not be the terms that decided. */
  readonly changedSince?: true
}

export interface ExplainedHook extends TraceHook {
  readonly condition?: ExplainedCondition
  /** What becomes of text that it prints, if that does not make its answer invalid. */
  readonly printed?: string
}

/** A trace whose hooks show the terms of their conditions. */
export interface ExplainedTrace extends Trace {
  readonly hooks: readonly ExplainedHook[]
}

/** What explains a hook, as it is known now. */
export interface KnownCondition extends Partial<Parameters<typeof textNote>[0]> {
  readonly if_expr?: string | null
  readonly updated_at?: number
}

interface ExplainedEvent {
  readonly input: MatchInput
  readonly steps: NonNullable<Decision['steps']>
  readonly time: number
}

const MAX_VALUE = 120

/**
 * Adds the terms of each `if_expr` that was evaluated, and which hooks that apply take text for a log. A hook that follows a rewrite saw the changed input, so its terms
 * are evaluated on that.
 */
export function explainConditions(
  trace: Trace,
  find: (hook: string) => KnownCondition | undefined,
  event: ExplainedEvent,
): ExplainedTrace {
  const order = trace.hooks.map(({ hook }) => hook)
  const hooks = trace.hooks.map((hook, index): ExplainedHook => {
    const { if_expr, updated_at = 0, handler_type, ...known } = find(hook.hook) ?? {}
    const note =
      hook.matched !== false && handler_type !== undefined && isCatalogueName(event.input.event)
        ? textNote({ ...known, handler_type }, catalogue[event.input.event])
        : undefined
    const noted = { ...hook, ...definedFields({ printed: note }) }
    if (!if_expr || !wasEvaluated(hook)) return noted
    const terms = explainTerms(if_expr, inputBefore(order.slice(0, index), event))
    return { ...noted, condition: { terms, ...(updated_at > event.time ? { changedSince: true } : {}) } }
  })
  return { ...trace, hooks }
}

/** The terms of an `if_expr` for an event, without secrets. */
export function explainTerms(source: string, input: MatchInput): readonly ConditionTerm[] {
  return evaluateTerms(source, input).map(redactTerm)
}

/** An `if_expr` is evaluated last, so a hook that misses by another condition never came to it. */
function wasEvaluated({ matched, because = '' }: TraceHook): boolean {
  return matched !== false || because.startsWith('if_expr')
}

function inputBefore(earlier: readonly string[], { input, steps }: ExplainedEvent): MatchInput {
  const last = steps.findLast(({ hook }) => earlier.includes(hook))
  const rewrites = rewrittenField(input.event)
  if (last === undefined || rewrites === undefined || !isRecord(input.payload)) return input
  return { ...input, payload: { ...input.payload, [rewrites]: last.after } }
}

/** The field of the payload that hooks of the event can change. */
function rewrittenField(event: string): string | undefined {
  if (!isCatalogueName(event)) return undefined
  const row: EventRow = catalogue[event]
  return row.rewrites
}

/** A term and its value may hold a secret of the payload, or one that its author wrote. */
function redactTerm({ source, value, ...term }: ConditionTerm): ConditionTerm {
  return {
    ...term,
    source: redact(source, source.length * 4),
    ...(value === undefined ? {} : { value: redact(value, MAX_VALUE) }),
  }
}
