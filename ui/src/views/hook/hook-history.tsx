import { Link } from '@tanstack/react-router'
import type { ExecutionDecision } from '../../../../src/engine/core/records/sink.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { usePages } from '../../gateway/use-pages.ts'
import { OlderButton } from '../../parts/buttons/older-button.tsx'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { formatInstant } from '../../parts/format.ts'
import { Empty, LoadedList, layout, Panel } from '../../parts/layout.tsx'
import { CopyCommand, Duration } from '../../parts/values.tsx'
import styles from './hook.module.css'

/** How the execution of one hook looks. */
export const executionOutcomes: Readonly<Record<ExecutionDecision, Outcome>> = {
  allow: 'allow',
  ask: 'ask',
  block: 'block',
  error: 'failed',
  timeout: 'failed',
  skipped: 'skip',
  late: 'skip',
  aborted: 'skip',
}

/** Every execution of a hook, newest first. */
export function HookHistory({ hookId }: Readonly<{ hookId: string }>) {
  const query = usePages('hooks.history', { hookId, limit: 50 })
  useRefreshOnEvents(['hooks.history'])
  return (
    <Panel title="Executions" aside={<CopyCommand text={`hookhelm hooks history --hook-id ${hookId}`} />}>
      <LoadedList
        query={query}
        rows={8}
        of={({ pages }) => pages.flatMap(({ executions }) => executions)}
        empty={<Empty title="It has not run yet" />}
      >
        {(row) => (
          <Link
            key={row.id}
            to="/events/$eventId"
            params={{ eventId: row.event_id }}
            className={`${layout.row} ${styles.execution}`}
          >
            <span className="muted">{formatInstant(row.created_at)}</span>
            <Decision outcome={row.shadow ? 'shadow' : executionOutcomes[row.decision]}>
              {row.shadow ? `would ${row.decision}` : row.decision}
            </Decision>
            <span className="cut">{[row.code, row.error].filter(Boolean).join(' · ')}</span>
            <span className="muted">
              <Duration ms={row.duration_ms} />
            </span>
          </Link>
        )}
      </LoadedList>
      <OlderButton query={query} variant="subtle" fullWidth mt={0}>
        Older executions
      </OlderButton>
    </Panel>
  )
}
