import type { Decision } from '../engine/core/decision.ts'
import type { Execution } from '../engine/core/sink.ts'
import type { TraceHook } from '../engine/core/trace.ts'
import { formatTable } from './output.ts'

/** Formats a decision and its trace for people. */
export function explainDecision(decision: Decision): string {
  const { trace, kind, by, reason, steps = [], context = [], opened = [] } = decision
  const nameOf = (id: string) => trace?.hooks.find(({ hook }) => hook === id)?.name ?? id
  const rows = (trace?.hooks ?? []).map((hook) => [symbolOf(hook), hook.name ?? hook.hook, explainHook(hook)])
  return [
    `${trace?.event} ${trace?.subject} → ${kind.toUpperCase()}${by === undefined ? '' : ` by ${nameOf(by)}`}`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    '',
    rows.length === 0 ? 'no hook listens to this event' : formatTable(rows),
    ...steps.map(
      ({ hook, before, after }) =>
        `\n${nameOf(hook)} changed the input\n  - ${JSON.stringify(before)}\n  + ${JSON.stringify(after)}`,
    ),
    ...context.map((text) => `\nadded context: ${text}`),
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
  return last.decision === 'allow' && isUnreadable(last) ? '~' : symbols[last.decision]
}

function explainHook({ executions, because }: TraceHook): string {
  if (executions.length === 0) return because ?? 'did not run'
  return executions.map(explainExecution).join(', then ')
}

/** An allow for want of an answer must not look like one. */
function isUnreadable({ facts }: Execution): boolean {
  return facts?.unreadable === true
}

function explainExecution(execution: Execution): string {
  const { decision, shadow, recheck, reason, durationMs } = execution
  const kind = [shadow ? 'shadow' : '', recheck ? 'recheck' : '', decision]
    .filter((part) => part !== '')
    .join(' ')
  const time = durationMs === undefined ? '' : ` in ${durationMs.toFixed(1)} ms`
  const flag = isUnreadable(execution) ? ' (it answered text that is not a decision)' : ''
  return `${kind}${time}${reason === undefined ? '' : `: ${reason}`}${flag}`
}
