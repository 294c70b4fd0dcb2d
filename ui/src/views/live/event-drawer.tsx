import { CloseButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import { isTyping, usePageKeys } from '../../frame/keyboard/shortcuts.ts'
import { EventDecision } from '../../parts/decision.tsx'
import { Facts } from '../../parts/facts.tsx'
import type { EventSummary } from '../../parts/filter/filter.ts'
import { agentTitle, formatInstant } from '../../parts/format.ts'
import { Empty, LoadingRows } from '../../parts/layout.tsx'
import styles from './live-page.module.css'
import { useLiveSearch } from './live-search.ts'

/** Loaded when an event is opened first. */
const EventDetails = lazy(async () => ({ default: (await import('../event/event-page.tsx')).EventDetails }))

interface EventDrawerProps {
  readonly eventId: string
  /** Undefined if the list does not have the event. */
  readonly summary: EventSummary | undefined
}

/** The event that was opened, beside the list, so that one can go on reading the list. */
export function EventDrawer({ eventId, summary }: EventDrawerProps) {
  const mayExplain = useMay('operator')
  const { change } = useLiveSearch()
  const close = () => change({ event: undefined }, { replace: true })
  usePageKeys((pressed) => {
    // A dialog above the page closes first.
    if (pressed.key === 'Escape' && !isTyping(pressed) && document.querySelector('[role=dialog]') === null)
      close()
  })
  return (
    <aside className={styles.drawer} aria-label="Event">
      <div className={styles.tools}>
        {mayExplain ? (
          <Link to="/events/$eventId" params={{ eventId }}>
            Open as a page
          </Link>
        ) : (
          <span className="faint">The request and the chain need the role operator.</span>
        )}
        <CloseButton aria-label="Close the event" title="close (esc)" onClick={close} />
      </div>
      {mayExplain ? (
        <Suspense fallback={<LoadingRows rows={8} />}>
          <EventDetails eventId={eventId} />
        </Suspense>
      ) : (
        <SummaryDetails summary={summary} />
      )}
    </aside>
  )
}

/** What a viewer may know of an event. */
function SummaryDetails({ summary }: Pick<EventDrawerProps, 'summary'>) {
  if (summary === undefined) return <Empty title="The list does not have this event" />
  const { what, agent, folder, tool, event, hook_name, by_hook, reason, opened, session_id } = summary
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ['decision', <EventDecision key="decision" event={summary} />],
    ['by', by_hook === null ? hook_name : hookLabel(hook_name, by_hook)],
    ['reason', reason],
    ['although', opened],
    ['agent', agentTitle(agent)],
    ['folder', folder],
    ['event', [event, tool].filter(Boolean).join(' · ')],
    ['at', formatInstant(summary.created_at)],
    [
      'session',
      session_id === null ? null : (
        <Link key="session" to="/sessions/$sessionId" params={{ sessionId: session_id }}>
          {session_id}
        </Link>
      ),
    ],
  ]
  return (
    <div className={styles.summary}>
      <h2>
        <code>{what ?? event}</code>
      </h2>
      <Facts facts={facts} className={styles.facts} />
    </div>
  )
}
