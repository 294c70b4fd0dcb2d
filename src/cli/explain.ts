import type { Decision } from '../engine/core/decision.ts'
import type { Execution } from '../engine/core/sink.ts'
import type { TraceHook } from '../engine/core/trace.ts'
import { command } from './command.ts'
import { withLocal } from './local.ts'
import { print, table } from './output.ts'
import { eventArgs, exitCodeOf, send } from './send.ts'

export const explainCommand = command({
  name: 'explain',
  about: 'Send an event through the hooks and say why it was decided so',
  args: eventArgs,
  run: (args) =>
    withLocal(args, async ({ hooks }) => {
      const decision = await send(hooks, args.event, args, { trace: true })
      print(args.json ? decision : explained(decision))
      return exitCodeOf(decision)
    }),
})

function explained(decision: Decision): string {
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
