import { Link } from '@tanstack/react-router'
import type { RunHookCall, RunHookState, RunPhase } from '../../../../../src/runs/run-timeline.ts'
import { Decision, type Outcome } from '../../../parts/decision.tsx'
import { formatDuration, formatInstant } from '../../../parts/format.ts'
import { Panel } from '../../../parts/layout.tsx'
import { useNow } from '../../../parts/values.tsx'
import styles from './run-timeline.module.css'

const outcomes: Readonly<Record<RunHookState, Outcome>> = {
  running: 'skip',
  continued: 'allow',
  changed: 'rewrite',
  blocked: 'block',
  failed: 'failed',
}

const words: Readonly<Record<RunHookState, string>> = {
  running: 'runs',
  continued: 'lets it pass',
  changed: 'changed it',
  blocked: 'blocked the run',
  failed: 'failed',
}

const observers: readonly string[] = ['on_run_finish', 'on_error', 'on_timeout']

/** What a hook did, at its point: a hook after the end of a run decides nothing. */
function describeState({ point, state, change }: RunHookCall): string {
  if (observers.includes(point) && state === 'continued') return 'followed'
  if (state === 'changed') return `changed ${change?.fields.join(', ') ?? 'it'}`
  return state === 'blocked' && point === 'on_tool_call' ? 'blocked a tool call' : words[state]
}

interface RunTimelineProps {
  readonly phases: readonly RunPhase[]
  readonly isLive: boolean
  /** The run of a hook, by the session that the hook started. */
  readonly hookRuns: ReadonlyMap<string, string>
}

/** When each hook ran and how long, between queue and end. */
export function RunTimeline({ phases, isLive, hookRuns }: RunTimelineProps) {
  const isMoving = isLive || phases.some(({ end }) => end === null)
  const now = useNow(isMoving ? 250 : 60_000)
  const begin = phases[0]?.start ?? 0
  const end = Math.max(begin + 1, ...phases.map(({ start, end: last }) => last ?? Math.max(now, start)))
  const percent = (at: number) => ((at - begin) / (end - begin)) * 100
  return (
    <Panel title="Timeline" aside="hooks and execution">
      <div className={styles.scale} aria-hidden>
        {[0, 1 / 3, 2 / 3, 1].map((part) => (
          <span key={part}>{part === 0 ? '0' : formatDuration((end - begin) * part)}</span>
        ))}
      </div>
      <ol aria-label="Phases of the run">
        {phases.map(({ kind, start, end: last, hook }, index) => {
          const took = (last ?? Math.max(now, start)) - start
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the phases of a run stay in their order
              key={`${index}-${kind}`}
              className={`${styles.lane} lined`}
              data-phase={hook?.point ?? kind}
              title={`${formatInstant(start)}, ${formatDuration(took)}`}
            >
              {hook === undefined ? (
                <span className={styles.kind}>{kind}</span>
              ) : (
                <HookName hook={hook} hookRuns={hookRuns} />
              )}
              <svg className={styles.bar} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  className={styles[hook === undefined ? kind : hook.state]}
                  x={Math.min(percent(start), 99.2)}
                  width={Math.max((took / (end - begin)) * 100, 0.8)}
                  y="0"
                  height="10"
                />
              </svg>
              <span className={`${styles.took} tabular`}>
                {last === null ? 'for ' : ''}
                {formatDuration(took)}
              </span>
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}

function HookName({
  hook,
  hookRuns,
}: Readonly<{ hook: RunHookCall; hookRuns: ReadonlyMap<string, string> }>) {
  const { point, target, state, session } = hook
  const runId = session === undefined ? undefined : hookRuns.get(session)
  return (
    <span className={styles.hook}>
      <Decision outcome={outcomes[state]}>{point}</Decision>
      <span className={`${styles.target} cut`}>
        {runId === undefined ? (
          target
        ) : (
          <Link to="/runs/$runId" params={{ runId }}>
            {target}
          </Link>
        )}{' '}
        {describeState(hook)}
      </span>
    </span>
  )
}
