import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { NotifyButton } from '../../frame/approval-notifications.tsx'
import { useMay } from '../../frame/caller.ts'
import { isTyping, usePageKeys } from '../../frame/keyboard/shortcuts.ts'
import { usePendingApprovals } from '../../frame/status.ts'
import { Empty, Loaded, layout, Page } from '../../parts/layout.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { type Approval, ApprovalCard, type CardMode } from './approval-card.tsx'
import { ApprovalHistory } from './approval-history.tsx'
import { ApprovalRoutes } from './approval-routes.tsx'
import styles from './approvals.module.css'
import { Grants } from './grants.tsx'

const keyModes: Readonly<Record<string, CardMode>> = { a: 'approve', e: 'edit', d: 'deny' }

const commands: Readonly<Record<string, string>> = {
  waiting: 'hookhelm approvals watch',
  grants: 'hookhelm approvals list --granted',
  routes: 'hookhelm settings get',
}

/** What waits for a person, what people answered, what they granted, and where questions are sent. */
export function ApprovalsPage() {
  const { tab = 'waiting' } = useSearch({ from: '/approvals' })
  const navigate = useNavigate()
  const mayAnswer = useMay('approver')
  const isAdmin = useMay('admin')
  return (
    <Page
      title="Approvals"
      purpose="Calls that wait for a person. An answer counts for exactly the call that you see."
      actions={mayAnswer ? <NotifyButton /> : undefined}
      command={commands[tab] ?? 'hookhelm approvals list'}
    >
      {mayAnswer ? (
        <PageTabs
          chosen={tab}
          onChoose={(name) => void navigate({ to: '/approvals', search: { tab: name } })}
          tabs={[
            { name: 'waiting', title: 'Waiting', content: <Waiting /> },
            { name: 'history', title: 'History', content: <ApprovalHistory /> },
            { name: 'grants', title: 'Grants', content: <Grants /> },
            { name: 'routes', title: 'Routes', content: <ApprovalRoutes />, isHidden: !isAdmin },
          ]}
        />
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
function Cards({ groups }: Readonly<{ groups: readonly (readonly Approval[])[] }>) {
  const [chosen, setChosen] = useState<string>()
  const [mode, setMode] = useState<CardMode>('idle')
  const ids = groups.map(([first]) => first?.approval_id ?? '')
  const current = chosen !== undefined && ids.includes(chosen) ? chosen : ids[0]
  const choose = (id: string, next: CardMode) => {
    setChosen(id)
    setMode(next)
  }
  usePageKeys((event) => {
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

/** Identical calls are one card. */
function groupAlike(approvals: readonly Approval[]): readonly (readonly Approval[])[] {
  const groups = new Map<string, Approval[]>()
  for (const approval of approvals.toReversed())
    groups.set(approval.input_hash, [...(groups.get(approval.input_hash) ?? []), approval])
  return [...groups.values()]
}
