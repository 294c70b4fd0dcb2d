import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Methods } from '../../../../src/client/index.ts'
import { call } from '../../gateway/call.ts'
import { Decision } from '../../parts/decision.tsx'
import { showControls } from '../../parts/format.ts'
import { layout, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { RunStatus } from '../runs/run-status.tsx'
import styles from './recovery.module.css'

export type Firing = Methods['rules.history']['result']['firings'][number]
export type FiringAction = Firing['actions'][number]
type FiringFilter = Methods['rules.history']['params']

export function useFirings(filter: FiringFilter) {
  return useQuery({
    queryKey: ['firings', filter],
    queryFn: ({ signal }) => call('rules.history', filter, signal),
  })
}

const runStatuses = {
  pending: 'pending',
  started: 'running',
  executed: 'completed',
  failed: 'failed',
} as const

interface ActionStatusProps {
  readonly status: FiringAction['status']
  readonly children?: string
}

/** How an action ended, with its own shape. */
export function ActionStatus({ status, children = status }: ActionStatusProps) {
  return status === 'skipped' ? (
    <Decision outcome="skip">{children}</Decision>
  ) : (
    <RunStatus run={{ status: runStatuses[status], block_reason: null }}>{children}</RunStatus>
  )
}

/** Each firing as a row that opens its graph. */
export function FiringRows({ firings }: { readonly firings: readonly Firing[] }) {
  return firings.map(({ firing_id, rule_id, event, outcome, actions, created_at }) => (
    <Link
      key={firing_id}
      to="/recovery/firings/$firingId"
      params={{ firingId: firing_id }}
      className={`${layout.row} ${styles.firing}`}
      data-firing={firing_id}
    >
      <span className={styles.cut}>
        <b>{showControls(rule_id)}</b>{' '}
        <span className={styles.muted}>
          {event} · {outcome}
        </span>
      </span>
      <span className={styles.results}>
        {actions.map(({ position, action_id, status }) => (
          <ActionStatus key={position} status={status}>
            {showControls(action_id)}
          </ActionStatus>
        ))}
      </span>
      <span className={styles.age}>
        <Age at={created_at} />
      </span>
    </Link>
  ))
}

interface RelatedFiringsProps {
  readonly title: string
  readonly filter: FiringFilter
}

/** The firings that belong to an event or a run; nothing if there are none. */
export function RelatedFirings({ title, filter }: RelatedFiringsProps) {
  const { data } = useFirings({ ...filter, limit: 20 })
  if (data === undefined || data.firings.length === 0) return null
  return (
    <Panel title={title} aside="recovery rules">
      <FiringRows firings={data.firings} />
    </Panel>
  )
}
