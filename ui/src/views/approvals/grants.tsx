import { Link } from '@tanstack/react-router'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { agentTitle, formatClock, showControls } from '../../parts/format.ts'
import { Empty, Failed, LoadedList, layout, Panel } from '../../parts/layout.tsx'
import styles from './approvals.module.css'

/** Calls that are not asked about for a while, because a person said so. */
export function Grants() {
  const query = useMethod('approvals.list', { granted: true, limit: 200 }, { refetchInterval: 30_000 })
  const revoke = useAction('approvals.revoke')
  return (
    <Panel title="Granted for a while" aside="identical calls of one session">
      <Failed error={revoke.error} />
      <LoadedList
        query={query}
        rows={3}
        of={({ approvals }) => approvals}
        empty={
          <Empty title="No grant is in force">
            When you approve a call, you can let identical calls of the same session pass for a while.
          </Empty>
        }
      >
        {({ approval_id, agent, what, tool, event, event_id, session_id, ...row }) => (
          <div key={approval_id} className={`${layout.row} ${styles.grant}`} data-approval={approval_id}>
            <span className="cut">
              <b>{agentTitle(agent)}</b>{' '}
              <Link to="/events/$eventId" params={{ eventId: event_id }}>
                <code>{showControls(what ?? tool ?? event)}</code>
              </Link>
            </span>
            <span className={styles.muted}>
              by {showControls(row.decided_by ?? 'a person')} until {formatClock(row.granted_until ?? 0)}
              {session_id === null ? '' : ` · session ${session_id.slice(0, 12)}`}
            </span>
            <Confirmed
              word="Revoke"
              sure="Revoke: the next such call asks again"
              onDo={() => revoke.mutate({ approval_id })}
            />
          </div>
        )}
      </LoadedList>
    </Panel>
  )
}
