import type { Decision } from '../engine/core/decision.ts'
import type { Execution } from '../engine/core/sink.ts'
import type { TraceHook } from '../engine/core/trace.ts'
import { table } from './output.ts'

/** A decision with its trace as a person reads it. */
export function explained(decision: Decision): string {
  const { trace, kind, by, reason, steps = [], context = [], opened = [] } = decision
  const rows = (trace?.hooks ?? []).map((hook) => [mark(hook), hook.name ?? hook.hook, fate(hook)])
  return [
    `${trace?.event} ${trace?.subject} → ${kind.toUpperCase()}${by === undefined ? '' : ` by ${by}`}`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    '',
    rows.length === 0 ? 'no hook listens to this event' : table(rows),
    ...steps.map(
      ({ hook, before, after }) =>
        `\n${hook} changed the input\n  - ${JSON.stringify(before)}\n  + ${JSON.stringify(after)}`,
    ),
    ...context.map((text) => `\nadded context: ${text}`),
    ...opened.map(({ hook, because, code }) => `\nopen although ${hook} failed (${because}, ${code})`),
  ].join('\n')
}

function mark({ matched, executions }: TraceHook): string {
  const last = executions.at(-1)
  if (last === undefined) return matched === false ? '·' : '-'
  return {
    allow: '✓',
    ask: '?',
    block: '✗',
    error: '!',
    timeout: '!',
    skipped: '-',
    late: '!',
    aborted: '!',
  }[last.decision]
}

function fate({ executions, because }: TraceHook): string {
  if (executions.length === 0) return because ?? 'did not run'
  return executions.map(told).join(', then ')
}

function told({ decision, shadow, recheck, reason, durationMs }: Execution): string {
  const kind = [shadow ? 'shadow' : '', recheck ? 'again' : '', decision]
    .filter((part) => part !== '')
    .join(' ')
  const time = durationMs === undefined ? '' : ` in ${durationMs.toFixed(1)} ms`
  return `${kind}${time}${reason === undefined ? '' : `: ${reason}`}`
}
