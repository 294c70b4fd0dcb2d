import type { Decision } from '../../engine/core/decision.ts'
import type { Execution } from '../../engine/core/records/sink.ts'
import type { TraceHook } from '../../engine/core/records/trace.ts'
import type { ShellEffects } from '../../engine/core/shell-effects.ts'
import { visibleJson, visibleLine } from '../../engine/core/values/visible-text.ts'
import type { ConditionTerm } from '../../engine/match/cel/condition-terms.ts'
import { formatShellEffects } from '../../shell/format-effects.ts'
import type { ExplainedHook } from '../../stored-hooks/saving/explain-conditions.ts'
import { formatTable } from '../output.ts'

/** Formats a decision and its trace for people. */
export function explainDecision(decision: Decision, effects?: ShellEffects): string {
  const { trace, kind, by, reason, steps = [], context = [], opened = [], ignored = [] } = decision
  const nameOf = (id: string) => trace?.hooks.find(({ hook }) => hook === id)?.name ?? id
  const rows = (trace?.hooks ?? []).flatMap((hook) => [
    [symbolOf(hook), hook.name ?? hook.hook, withHookName(hook, explainHook(hook))],
    ...explainCondition(hook),
  ])
  return [
    visibleLine(
      `${trace?.event} ${trace?.subject} → ${kind.toUpperCase()}${by === undefined ? '' : ` by ${nameOf(by)}`}`,
    ),
    ...(reason === undefined
      ? []
      : [`  ${visibleLine(by === undefined ? reason : reason.replaceAll(by, nameOf(by)))}`]),
    '',
    rows.length === 0 ? 'no hook listens to this event' : formatTable(rows),
    ...steps.map(
      ({ hook, before, after }) =>
        `\n${nameOf(hook)} changed the input\n  - ${visibleJson(before)}\n  + ${visibleJson(after)}`,
    ),
    ...(effects === undefined ? [] : [`\n${formatShellEffects(effects)}`]),
    ...context.map((text) => `\nadded context: ${visibleLine(text)}`),
    ...(trace?.files ?? []).map((text) => `\nhook file: ${text}`),
    ...ignored.map(({ hook, reason: why }) => `\nnot applied: ${nameOf(hook)}: ${visibleLine(why)}`),
    ...opened.map(
      ({ hook, because, code }) => `\nallowed although ${nameOf(hook)} failed (${because}, ${code})`,
    ),
  ].join('\n')
}

const symbols: Readonly<Record<Execution['decision'], string>> = {
  allow: '✓',
  ask: '?',
  block: '✗',
  error: '!',
  timeout: '!',
  skipped: '-',
  late: '!',
  aborted: '!',
}

function symbolOf({ matched, executions }: TraceHook): string {
  const last = executions.at(-1)
  if (last === undefined) return matched === false ? '·' : '-'
  if (last.decision === 'skipped' && last.facts?.opaque !== undefined) return '~'
  return last.decision === 'allow' && isUnreadable(last) ? '~' : symbols[last.decision]
}

function explainHook({ executions, because }: TraceHook): string {
  if (executions.length === 0) return because ?? 'did not run'
  return executions.map(explainExecution).join(', then ')
}

/** Failures name their hook by its id, which people do not know. */
function withHookName({ hook, name = hook }: TraceHook, text: string): string {
  return text.replaceAll(hook, name)
}

function explainCondition({ condition, printed }: ExplainedHook): readonly string[][] {
  const note = printed === undefined ? [] : [['', '', `it ${printed}`]]
  if (condition === undefined) return note
  const since = condition.changedSince ? ' (the hook has changed since this event)' : ''
  return [['', '', `if ${formatTerms(condition.terms)}${since}`], ...note]
}

/** A term as it comes from a gateway, which may be of another version. */
type TermFields = Readonly<Partial<Record<keyof ConditionTerm, unknown>>>

/** The terms of a condition on one line: `tool_name == "exec" ✓ and size(tool_input.cmd) > 80 ✗ 12`. */
export function formatTerms(terms: readonly TermFields[]): string {
  return terms
    .flatMap(({ join, source, holds, value, problem }) => [
      join,
      source,
      holds === 'failed' ? '!' : holds ? '✓' : '✗',
      value,
      problem,
    ])
    .filter((part) => part !== undefined)
    .join(' ')
}

export const unreadableText = 'it answered text that is not a decision'

/** An allow for want of an answer must not look like one. */
function isUnreadable({ facts }: Execution): boolean {
  return facts?.unreadable === true
}

function explainExecution(execution: Execution): string {
  const { decision, shadow, recheck, reason, durationMs, facts } = execution
  const kind = [shadow ? 'shadow' : '', recheck ? 'recheck' : '', decision]
    .filter((part) => part !== '')
    .join(' ')
  const time = durationMs === undefined ? '' : ` in ${durationMs.toFixed(1)} ms`
  const printed = typeof facts?.printed === 'string' ? ` (it printed ${JSON.stringify(facts.printed)})` : ''
  const flag = isUnreadable(execution) ? ` (${unreadableText})` : ''
  const matched = typeof facts?.matched === 'string' ? ` (it ${facts.matched})` : ''
  return `${kind}${time}${reason === undefined ? '' : `: ${reason}`}${matched}${flag}${printed}`
}
