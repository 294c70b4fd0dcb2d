import { Button, Select, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { approvalStatuses } from '../../../../src/approvals/stored/approval-tables.ts'
import { usePages } from '../../gateway/use-pages.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { agentTitle, plural, showControls } from '../../parts/format.ts'
import { Empty, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import type { Approval } from './approval-card.tsx'
import styles from './approvals.module.css'

const outcomes: Readonly<Record<Approval['status'], Outcome>> = {
  pending: 'ask',
  approved: 'allow',
  denied: 'block',
  expired: 'failed',
  cancelled: 'skip',
  superseded: 'skip',
}

/** What people answered, newest first. The filters are in the address. */
export function ApprovalHistory() {
  const { status, agent, hook, session } = useSearch({ from: '/approvals' })
  const wanted = approvalStatuses.find((known) => known === status)
  const query = usePages('approvals.list', {
    limit: 50,
    status: wanted,
    agent,
    hook_id: hook,
    session_id: session,
  })
  const isFiltered = [wanted, agent, hook, session].some((each) => each !== undefined)
  return (
    <>
      <Filters />
      <Panel>
        <Loaded query={query} rows={6}>
          {({ pages }) => {
            const rows = pages.flatMap(({ approvals }) => approvals)
            if (rows.length === 0)
              return (
                <Empty
                  title={isFiltered ? 'No request fits these filters' : 'No call has asked for approval yet'}
                />
              )
            return (
              <>
                {rows.map((row) => (
                  <HistoryRow key={row.approval_id} row={row} />
                ))}
                {query.hasNextPage ? (
                  <button type="button" className={styles.more} onClick={() => void query.fetchNextPage()}>
                    Older
                  </button>
                ) : null}
              </>
            )
          }}
        </Loaded>
      </Panel>
    </>
  )
}

function Filters() {
  const search = useSearch({ from: '/approvals' })
  const navigate = useNavigate()
  const [agent, setAgent] = useState(search.agent ?? '')
  const set = (name: 'status' | 'agent' | 'hook' | 'session', value: string) => {
    void navigate({
      to: '/approvals',
      search: { ...search, tab: 'history', [name]: value || undefined },
      replace: true,
    })
  }
  return (
    <form
      className={styles.filters}
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault()
        set('agent', agent.trim())
      }}
    >
      <Select
        aria-label="Status"
        placeholder="any status"
        data={approvalStatuses}
        value={search.status ?? null}
        onChange={(value) => set('status', value ?? '')}
        clearable
      />
      <TextInput
        aria-label="Agent"
        placeholder="any agent"
        value={agent}
        onChange={({ currentTarget }) => setAgent(currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Filter
      </Button>
      {(['hook', 'session'] as const).map((name) =>
        search[name] === undefined ? null : (
          <button key={name} type="button" className={styles.chip} onClick={() => set(name, '')}>
            {name}:{search[name].slice(0, 12)} ×
          </button>
        ),
      )}
    </form>
  )
}

function HistoryRow({ row }: Readonly<{ row: Approval }>) {
  const { status, agent, what, tool, event, event_id, decided_by, votes, created_at, edited } = row
  const message = votes.find((vote) => vote.message !== undefined)?.message
  return (
    <div className={`${layout.row} ${styles.past}`} data-approval={row.approval_id}>
      <Decision outcome={outcomes[status]}>{status}</Decision>
      <span className="cut">
        <b>{agentTitle(agent)}</b>{' '}
        <Link to="/events/$eventId" params={{ eventId: event_id }}>
          <code>{showControls(what ?? tool ?? event)}</code>
        </Link>
        {edited === null ? '' : ' · edited'}
      </span>
      <span className={styles.muted} title={votes.map(({ by, from }) => `${by} from ${from}`).join('\n')}>
        {decided_by === null ? '' : `by ${showControls(decided_by)}`}
        {message === undefined ? '' : `: ${showControls(message)}`}
        {votes.length > 1 ? ` · ${plural(votes.length, 'answer')}` : ''}
      </span>
      <Age at={created_at} />
    </div>
  )
}
