import type { RewriteStep } from '../../../../src/engine/core/decision.ts'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import type { Execution } from '../../../../src/engine/core/records/sink.ts'
import type { TraceHook } from '../../../../src/engine/core/records/trace.ts'
import type {
  ExplainedCondition,
  ExplainedHook,
  ExplainedTrace,
} from '../../../../src/stored-hooks/saving/explain-conditions.ts'
import { Decision, type Outcome, roleOf } from '../../parts/decision.tsx'
import { fieldsOf } from '../../parts/form/fields.ts'
import { formatDuration } from '../../parts/format.ts'
import { Tag } from '../../parts/layout.tsx'
import styles from './chain.module.css'

interface ChainProps {
  readonly trace: Pick<ExplainedTrace, 'hooks'>
  /** The hook that decided. */
  readonly by: string | undefined
  /** The changes of the input. */
  readonly rewrites: readonly RewriteStep[]
  /** Hooks whose failure a policy allowed. */
  readonly opened: ReadonlySet<string>
}

interface Step {
  readonly hook: ExplainedHook
  readonly outcome: Outcome
  readonly word: string
  readonly text: string
  readonly start: number
  readonly ms: number
}

/** The hooks of an event in their order, each with what it did, why, and when. */
export function Chain({ trace, by, rewrites, opened }: ChainProps) {
  const steps = readSteps({ trace, by, rewrites, opened })
  const total = Math.max(...steps.map(({ start, ms }) => start + ms), 0)
  return (
    <ol aria-label="Hooks in their order">
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
          className={[
            styles.step,
            'lined',
            hook.hook === by && outcome === 'block' ? styles.blocked : '',
          ].join(' ')}
        >
          <span className={styles.number}>{index + 1}</span>
          <Decision outcome={outcome}>{word}</Decision>
          <span className={`${styles.name} cut`} title={hookLabel(hook.name, hook.hook)}>
            {hookLabel(hook.name, hook.hook)}
          </span>
          <span className={styles.text}>
            {nameHooks(text, trace.hooks)}{' '}
            {opened.has(hook.hook) ? <Tag>its policy lets the call pass</Tag> : null}
            {hook.condition === undefined ? null : (
              <>
                <Terms terms={hook.condition.terms} />
                {hook.condition.changedSince ? <Tag>the hook has changed since</Tag> : null}
              </>
            )}
          </span>
          <svg className={styles.bar} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect
              fill={`var(--${outcome === 'allow' ? 'allow-bar' : roleOf(outcome)})`}
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

/** Failures name their hook by its id; people know its name. */
export function nameHooks(text: string, hooks: readonly TraceHook[]): string {
  return hooks.reduce((named, { hook, name }) => named.replaceAll(hook, hookLabel(name, hook)), text)
}

/** A condition term by term, each with its result and the value that decided. */
export function Terms({ terms }: Readonly<{ terms: ExplainedCondition['terms'] }>) {
  return (
    <span className={styles.condition}>
      {terms.map(({ join = 'if', source, holds, value, problem }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same term may occur twice
        <span key={index} className={styles.term}>
          {join} <code>{source}</code>{' '}
          {holds === 'failed' ? (
            <span className={styles.failed}>{problem}</span>
          ) : (
            <span className={holds ? styles.true : styles.false} role="img" aria-label={String(holds)}>
              {holds ? '✓' : '✗'}
            </span>
          )}
          {value === undefined ? null : <code className={styles.value}>{value}</code>}
        </span>
      ))}
    </span>
  )
}

function readSteps({ trace: { hooks }, by, rewrites, opened }: ChainProps): readonly Step[] {
  const decider = hooks.findIndex(({ hook }) => hook === by)
  const rewriters = new Map(rewrites.map(({ hook, before, after }) => [hook, describeChange(before, after)]))
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

/** Which fields a hook changed: `changed command, added timeout`. */
export function describeChange(before: unknown, after: unknown): string {
  const [old, now] = [before, after].map((value) => Object.entries(fieldsOf(value)))
  const known = new Map(old)
  const added = (now ?? []).filter(([name]) => !known.has(name))
  const changed = (now ?? []).filter(
    ([name, value]) => known.has(name) && JSON.stringify(known.get(name)) !== JSON.stringify(value),
  )
  const removed = (old ?? []).filter(([name]) => !(now ?? []).some(([other]) => other === name))
  return Object.entries({ changed, added, removed })
    .filter(([, fields]) => fields.length > 0)
    .map(([verb, fields]) => `${verb} ${fields.map(([name]) => name).join(', ')}`)
    .join('; ')
}

interface Surroundings {
  /** What each hook that changed the input changed. */
  readonly rewriters: ReadonlyMap<string, string>
  readonly opened: ReadonlySet<string>
  readonly isAfterBlock: boolean
}

/** Whether a hook was skipped because a part of the call is not known and may be what the hook looks for. */
export function isUncertain({ executions }: Pick<ExplainedHook, 'executions'>): boolean {
  const last = executions.at(-1)
  return last?.decision === 'skipped' && last.facts?.opaque !== undefined
}

/** The terms of a condition show more than the recorded reason. */
function skipReason({ because = 'did not run', condition }: ExplainedHook): string {
  return condition !== undefined && because === 'if_expr is false' ? '' : because
}

function describe(
  hook: ExplainedHook,
  { rewriters, opened, isAfterBlock }: Surroundings,
): Pick<Step, 'outcome' | 'word' | 'text'> {
  const last = hook.executions.at(-1)
  if (last === undefined)
    return hook.matched === false || !isAfterBlock
      ? { outcome: 'skip', word: 'skipped', text: skipReason(hook) }
      : { outcome: 'skip', word: 'not reached', text: 'the chain ended before it' }
  const text = hook.executions.map(reasonOf).filter(Boolean).join(', then ')
  if (last.shadow)
    return { outcome: 'shadow', word: `would ${wordOf(last)}`, text: text || 'recorded, not applied' }
  if (opened.has(hook.hook)) return { outcome: 'opened', word: 'failed', text }
  if (last.decision === 'error' || last.decision === 'timeout')
    return { outcome: 'failed', word: last.decision === 'timeout' ? 'too slow' : 'failed', text }
  if (isUncertain(hook)) return { outcome: 'opened', word: 'not certain', text }
  if (last.decision === 'skipped' || last.decision === 'aborted' || last.decision === 'late')
    return { outcome: 'skip', word: last.decision, text }
  const change = rewriters.get(hook.hook)
  if (last.decision === 'allow' && change !== undefined)
    return { outcome: 'rewrite', word: 'rewrote', text: [change, text].filter(Boolean).join(' · ') }
  if (last.decision === 'allow' && last.facts?.unreadable === true)
    return {
      outcome: 'opened',
      word: 'unreadable',
      text: `it answered text that is not a decision · ${text}`,
    }
  return { outcome: last.decision, word: words[last.decision], text }
}

const words = { allow: 'allowed', ask: 'asked', block: 'blocked' } as const

function wordOf({ decision }: Execution): string {
  return decision === 'allow' || decision === 'ask' || decision === 'block' ? decision : 'fail'
}

function reasonOf({ reason, code, durationMs, recheck, facts }: Execution): string {
  const time = durationMs === undefined ? undefined : formatDuration(durationMs)
  const matched = typeof facts?.matched === 'string' ? facts.matched : undefined
  const printed = typeof facts?.printed === 'string' ? `it printed “${facts.printed}”` : undefined
  return [recheck ? 'asked again' : undefined, reason, matched, printed, code, time]
    .filter((part) => part !== undefined)
    .join(' · ')
}
