import { Link } from '@tanstack/react-router'
import type { Params, Result } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision } from '../../parts/decision.tsx'
import { layout, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { RunStatus } from '../runs/run-status.tsx'
import styles from './recovery.module.css'

export type Firing = Result<'rules.history'>['firings'][number]
export type FiringAction = Firing['actions'][number]

const runStatuses = {
  pending: 'pending',
  started: 'running',
  executed: 'completed',
  failed: 'failed',
} as const

/** How an action ended, with its own shape. */
export function ActionStatus({
  status,
  children = status,
}: Readonly<{ status: FiringAction['status']; children?: string }>) {
  return status === 'skipped' ? (
    <Decision outcome="skip">{children}</Decision>
  ) : (
    <RunStatus run={{ status: runStatuses[status], block_reason: null }}>{children}</RunStatus>
  )
}

/** A firing as a row that opens its graph. */
export function FiringRow({ firing }: Readonly<{ firing: Firing }>) {
  const { firing_id, rule_id, event, outcome, actions, created_at } = firing
  return (
    <Link
      to="/recovery/firings/$firingId"
      params={{ firingId: firing_id }}
      className={`${layout.row} ${styles.firing}`}
      data-firing={firing_id}
    >
      <span className="cut">
        <b>{rule_id}</b>{' '}
        <span className="muted small">
          {event} · {outcome}
        </span>
      </span>
      <span className={styles.results}>
        {actions.map(({ position, action_id, status }) => (
          <ActionStatus key={position} status={status}>
            {action_id}
          </ActionStatus>
        ))}
      </span>
      <span className={styles.age}>
        <Age at={created_at} />
      </span>
    </Link>
  )
}

/** The firings that belong to an event or a run; nothing if there are none. */
export function RelatedFirings({
  title,
  filter,
}: Readonly<{ title: string; filter: Params<'rules.history'> }>) {
  const { data } = useMethod('rules.history', { ...filter, limit: 20 })
  if (data === undefined || data.firings.length === 0) return null
  return (
    <Panel title={title} aside="recovery rules">
      {data.firings.map((firing) => (
        <FiringRow key={firing.firing_id} firing={firing} />
      ))}
    </Panel>
  )
}
