import { Tabs } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { isTyping } from '../../frame/shortcuts.ts'
import { usePendingApprovals } from '../../frame/status.ts'
import { call } from '../../gateway/call.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { agentTitle, plural, showControls } from '../../parts/format.ts'
import { Empty, Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { type Approval, ApprovalCard, type CardMode } from './approval-card.tsx'
import styles from './approvals.module.css'

const keyModes: Readonly<Record<string, CardMode>> = { a: 'approve', e: 'edit', d: 'deny' }

/** What waits for a person, and what people answered. */
export function ApprovalsPage() {
  const { tab = 'waiting' } = useSearch({ from: '/approvals' })
  const navigate = useNavigate()
  const mayAnswer = useMay('approver')
  return (
    <Page
      title="Approvals"
      purpose="Calls that wait for a person. An answer counts for exactly the call that you see."
      command={tab === 'waiting' ? 'hookhelm approvals watch' : 'hookhelm approvals list'}
    >
      {mayAnswer ? (
        <Tabs
          value={tab}
          onChange={(chosen) =>
            void navigate({ to: '/approvals', search: chosen === null ? {} : { tab: chosen } })
          }
          keepMounted={false}
        >
          <Tabs.List mb="md">
            <Tabs.Tab value="waiting">Waiting</Tabs.Tab>
            <Tabs.Tab value="history">History</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="waiting">
            <Waiting />
          </Tabs.Panel>
          <Tabs.Panel value="history">
            <History />
          </Tabs.Panel>
        </Tabs>
      ) : (
        <Empty title="Answering needs the role approver">A viewer does not see the arguments of calls.</Empty>
      )}
    </Page>
  )
}

function Waiting() {
  const query = usePendingApprovals()
  return (
    <Loaded query={query} rows={4}>
      {({ approvals }) =>
        approvals.length === 0 ? (
          <Empty title="Nothing waits for you">
            A hook that answers <code>ask</code> holds the call here until a person approves or denies it. The
            agent waits as long as its own time limit allows.
          </Empty>
        ) : (
          <Cards groups={groupAlike(approvals)} />
        )
      }
    </Loaded>
  )
}

/** The oldest first: it expires first. Keys work on the chosen card. */
function Cards({ groups }: { readonly groups: readonly (readonly Approval[])[] }) {
  const [chosen, setChosen] = useState<string>()
  const [mode, setMode] = useState<CardMode>('idle')
  const ids = groups.map(([first]) => first?.approval_id ?? '')
  const current = chosen !== undefined && ids.includes(chosen) ? chosen : ids[0]
  const choose = (id: string, next: CardMode) => {
    setChosen(id)
    setMode(next)
  }
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey || current === undefined) return
    const at = ids.indexOf(current)
    const next = event.key === 'j' ? ids[at + 1] : event.key === 'k' ? ids[at - 1] : undefined
    if (next !== undefined) choose(next, 'idle')
    else if (event.key === 'Escape') setMode('idle')
    else if (keyModes[event.key] !== undefined && mode === 'idle') {
      event.preventDefault()
      choose(current, keyModes[event.key] ?? 'idle')
    }
  })
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className={layout.stack}>
      {groups.map((group) => {
        const id = group[0]?.approval_id ?? ''
        return (
          <ApprovalCard
            key={id}
            group={group}
            isChosen={id === current}
            mode={id === current ? mode : 'idle'}
            onMode={(next) => choose(id, next)}
          />
        )
      })}
      <p className={styles.keys}>
        <kbd>a</kbd> approve · <kbd>e</kbd> edit · <kbd>d</kbd> deny · <kbd>j</kbd> <kbd>k</kbd> move
      </p>
    </div>
  )
}

/** Identical calls are one card, and one answer decides all of them. */
function groupAlike(approvals: readonly Approval[]): readonly (readonly Approval[])[] {
  const groups = new Map<string, Approval[]>()
  for (const approval of approvals.toReversed())
    groups.set(approval.input_hash, [...(groups.get(approval.input_hash) ?? []), approval])
  return [...groups.values()]
}

const outcomes: Readonly<Record<Approval['status'], Outcome>> = {
  pending: 'ask',
  approved: 'allow',
  denied: 'block',
  expired: 'failed',
  cancelled: 'skip',
  superseded: 'skip',
}

type ApprovalPage = Methods['approvals.list']['result']

function History() {
  const query = useInfiniteQuery({
    queryKey: ['approvals', 'history'],
    queryFn: ({ pageParam, signal }) =>
      call('approvals.list', pageParam === '' ? { limit: 50 } : { limit: 50, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }: ApprovalPage) => (nextCursor === '' ? undefined : nextCursor),
  })
  return (
    <Panel>
      <Loaded query={query} rows={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ approvals }) => approvals)
          if (rows.length === 0) return <Empty title="No call has asked for approval yet" />
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
  )
}

function HistoryRow({ row }: { readonly row: Approval }) {
  const { status, agent, what, tool, event, event_id, decided_by, votes, created_at, edited } = row
  const message = votes.find((vote) => vote.message !== undefined)?.message
  return (
    <div className={`${layout.row} ${styles.past}`} data-approval={row.approval_id}>
      <Decision outcome={outcomes[status]}>{status}</Decision>
      <span className={styles.cut}>
        <b>{agentTitle(agent)}</b>{' '}
        <Link to="/events/$eventId" params={{ eventId: event_id }}>
          <code>{showControls(what ?? tool ?? event)}</code>
        </Link>
        {edited === null ? '' : ' · edited'}
      </span>
      <span className={styles.muted}>
        {decided_by === null ? '' : `by ${showControls(decided_by)}`}
        {message === undefined ? '' : `: ${showControls(message)}`}
        {votes.length > 1 ? ` · ${plural(votes.length, 'answer')}` : ''}
      </span>
      <Age at={created_at} />
    </div>
  )
}
