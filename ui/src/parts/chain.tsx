import type { Execution } from '../../../src/engine/core/sink.ts'
import type { Trace, TraceHook } from '../../../src/engine/core/trace.ts'
import styles from './chain.module.css'
import { Decision, type Outcome } from './decision.tsx'
import { formatDuration } from './format.ts'
import { Tag } from './layout.tsx'

interface ChainProps {
  readonly trace: Pick<Trace, 'hooks'>
  /** The hook that decided. */
  readonly by: string | undefined
  /** Hooks that changed the input. */
  readonly rewriters: ReadonlySet<string>
  /** Hooks whose failure a policy allowed. */
  readonly opened: ReadonlySet<string>
}

interface Step {
  readonly hook: TraceHook
  readonly outcome: Outcome
  readonly word: string
  readonly text: string
  readonly start: number
  readonly ms: number
}

/** The hooks of an event in their order, each with what it did, why, and when. */
export function Chain({ trace, by, rewriters, opened }: ChainProps) {
  const steps = readSteps(trace.hooks, by, rewriters, opened)
  const total = Math.max(...steps.map(({ start, ms }) => start + ms), 0)
  return (
    <ol className={styles.chain} aria-label="Hooks in their order">
      {total === 0 ? null : (
        <li className={styles.scale} aria-hidden>
          {[0, 0.5, 1].map((part) => (
            <small key={part}>{part === 0 ? '0' : formatDuration(total * part)}</small>
          ))}
        </li>
      )}
      {steps.map(({ hook, outcome, word, text, start, ms }, index) => (
        <li
          key={hook.hook}
          className={[styles.step, hook.hook === by && outcome === 'block' ? styles.blocked : ''].join(' ')}
        >
          <span className={styles.number}>{index + 1}</span>
          <Decision outcome={outcome}>{word}</Decision>
          <span className={styles.name} title={hook.name ?? hook.hook}>
            {hook.name ?? hook.hook}
          </span>
          <span className={styles.text}>
            {text.replaceAll(hook.hook, hook.name ?? hook.hook)}{' '}
            {opened.has(hook.hook) ? <Tag>its policy lets the call pass</Tag> : null}
          </span>
          <svg className={styles.bar} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect
              className={styles[outcome]}
              x={ms === 0 ? 0 : (start / total) * 100}
              width={ms === 0 ? 0 : Math.max((ms / total) * 100, 0.8)}
              y="0"
              height="8"
            />
          </svg>
        </li>
      ))}
    </ol>
  )
}

function readSteps(
  hooks: readonly TraceHook[],
  by: string | undefined,
  rewriters: ReadonlySet<string>,
  opened: ReadonlySet<string>,
): readonly Step[] {
  const decider = hooks.findIndex(({ hook }) => hook === by)
  let start = 0
  return hooks.map((hook, index) => {
    const ms = hook.executions.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0)
    const step = {
      hook,
      start,
      ms,
      ...describe(hook, { rewriters, opened, isAfterBlock: decider >= 0 && index > decider }),
    }
    start += ms
    return step
  })
}

interface Surroundings {
  readonly rewriters: ReadonlySet<string>
  readonly opened: ReadonlySet<string>
  readonly isAfterBlock: boolean
}

function describe(
  hook: TraceHook,
  { rewriters, opened, isAfterBlock }: Surroundings,
): Pick<Step, 'outcome' | 'word' | 'text'> {
  const last = hook.executions.at(-1)
  if (last === undefined)
    return hook.matched === false || !isAfterBlock
      ? { outcome: 'skip', word: 'skipped', text: hook.because ?? 'did not run' }
      : { outcome: 'skip', word: 'not reached', text: 'the chain ended before it' }
  const text = hook.executions.map(reasonOf).filter(Boolean).join(', then ')
  if (last.shadow)
    return { outcome: 'shadow', word: `would ${wordOf(last)}`, text: text || 'recorded, not applied' }
  if (opened.has(hook.hook)) return { outcome: 'opened', word: 'failed', text }
  if (last.decision === 'error' || last.decision === 'timeout')
    return { outcome: 'failed', word: last.decision === 'timeout' ? 'too slow' : 'failed', text }
  if (last.decision === 'skipped' || last.decision === 'aborted' || last.decision === 'late')
    return { outcome: 'skip', word: last.decision, text }
  if (last.decision === 'allow' && rewriters.has(hook.hook))
    return { outcome: 'rewrite', word: 'rewrote', text }
  if (last.decision === 'allow' && last.facts?.unreadable === true)
    return { outcome: 'opened', word: 'unreadable', text: text || 'it answered text that is not a decision' }
  return { outcome: last.decision, word: words[last.decision], text }
}

const words = { allow: 'allowed', ask: 'asked', block: 'blocked' } as const

function wordOf({ decision }: Execution): string {
  return decision === 'allow' || decision === 'ask' || decision === 'block' ? decision : 'fail'
}

function reasonOf({ reason, code, durationMs, recheck }: Execution): string {
  const time = durationMs === undefined ? undefined : formatDuration(durationMs)
  return [recheck ? 'asked again' : undefined, reason, code, time]
    .filter((part) => part !== undefined)
    .join(' · ')
}
