import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { isTyping } from '../../frame/shortcuts.ts'
import { useConnectionState } from '../../gateway/live.ts'
import { Decision, outcomeOf } from '../../parts/decision.tsx'
import { type EventSummary, filterParams, parseFilter } from '../../parts/filter.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { agentTitle, formatClock, formatInstant, plural } from '../../parts/format.ts'
import { Empty, Failed, LoadingRows, Page } from '../../parts/layout.tsx'
import { Code, Duration } from '../../parts/values.tsx'
import { useEventFeed } from './event-feed.ts'
import styles from './live-page.module.css'

const route = getRouteApi('/live')
const ROW_HEIGHT = 36

/** Every event as it is decided. */
export function LivePage() {
  const { filter = '' } = route.useSearch()
  const navigate = useNavigate()
  const params = useMemo(() => filterParams(parseFilter(filter)), [filter])
  const [isHovered, setHovered] = useState(false)
  const feed = useEventFeed(params, isHovered)
  return (
    <Page
      title="Live"
      purpose="Every event as it is decided. Hovering pauses; j, k and enter move and open."
      wide
    >
      <div className={styles.bar}>
        <FilterBar
          value={filter}
          onChange={(text) =>
            void navigate({ to: '/live', search: text === '' ? {} : { filter: text }, replace: true })
          }
        />
        <span className={styles.waiting} role="status">
          {feed.waiting > 0 ? `paused · ${plural(feed.waiting, 'new event')}` : <Pulse />}
        </span>
      </div>
      {feed.error !== undefined && feed.events.length === 0 ? (
        <Failed error={feed.error} onRetry={feed.retry} />
      ) : feed.events.length > 0 ? (
        <EventTable
          events={feed.events}
          onHover={setHovered}
          onEnd={() => {
            if (feed.hasMore) feed.loadOlder()
          }}
        />
      ) : feed.isLoading ? (
        <LoadingRows rows={12} />
      ) : filter === '' ? (
        <Empty title="No event yet" action={<Link to="/agents">Connect an agent</Link>}>
          Events appear here by themselves as soon as a connected agent works.
        </Empty>
      ) : (
        <Empty title="No event passes the filter">New ones appear here by themselves.</Empty>
      )}
    </Page>
  )
}

/** Whether events arrive now. */
function Pulse() {
  const state = useConnectionState()
  return (
    <>
      <span className={state === 'open' ? styles.on : styles.off} aria-hidden />
      {state === 'open' ? 'live' : 'waiting for the gateway'}
    </>
  )
}

interface EventTableProps {
  readonly events: readonly EventSummary[]
  readonly onHover: (isHovered: boolean) => void
  /** The last row came into view. */
  readonly onEnd: () => void
}

function EventTable({ events, onHover, onEnd }: EventTableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    // A function of its own per render would make the list measure every row anew while one scrolls.
    getItemKey: useMemo(() => (index: number) => events[index]?.event_id ?? index, [events]),
  })
  const chosen = useRowKeys(events, (index) => rows.scrollToIndex(index))
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const reachEnd = useEffectEvent(onEnd)
  useEffect(() => {
    if (last >= events.length - 1) reachEnd()
  }, [last, events.length])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only pauses the feed
    <div
      ref={scroller}
      className={styles.table}
      onMouseEnter={() => onHover(true)}
      onMouseLeave={() => onHover(false)}
    >
      <div className={styles.head} aria-hidden>
        <span>time</span>
        <span>agent</span>
        <span>event</span>
        <span>what</span>
        <span>decision</span>
        <span>by</span>
        <span className={styles.right}>took</span>
      </div>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {shown.map(({ index, key, start }) => {
          const event = events[index]
          return event === undefined ? null : (
            <EventRow key={key} event={event} top={start} isChosen={event.event_id === chosen} />
          )
        })}
      </div>
    </div>
  )
}

interface EventRowProps {
  readonly event: EventSummary
  readonly top: number
  readonly isChosen: boolean
}

function EventRow({ event, top, isChosen }: EventRowProps) {
  const { event_id, created_at, agent, tool, what, duration_ms } = event
  const outcome = outcomeOf(event)
  const look = [styles.row, isChosen ? styles.chosen : '', outcome === 'opened' ? styles.opened : '']
  return (
    <Link
      to="/events/$eventId"
      params={{ eventId: event_id }}
      className={look.join(' ')}
      style={{ transform: `translateY(${top}px)` }}
      data-event={event_id}
      aria-current={isChosen}
    >
      <time className={styles.faint} title={formatInstant(created_at)}>
        {formatClock(created_at)}
      </time>
      <span className={styles.cut}>{agentTitle(agent)}</span>
      <span className={styles.cut}>
        {tool ?? <code>{event.event}</code>} {tool === null ? null : <small>{event.event}</small>}
      </span>
      <Code text={what ?? ''} />
      <Decision outcome={outcome} />
      <By event={event} />
      <span className={styles.right}>
        <Duration ms={duration_ms} />
      </span>
    </Link>
  )
}

/** The hook that decided; otherwise the policy that let the call pass, or that a shadow hook would have acted. */
function By({ event: { hook_name, by_hook, opened, shadow } }: { readonly event: EventSummary }) {
  if (hook_name === null && by_hook === null && opened === null && shadow > 0)
    return <Decision outcome="shadow">shadow differs</Decision>
  const text = hook_name ?? by_hook ?? opened ?? ''
  return (
    <span className={styles.cut} title={text}>
      {text}
    </span>
  )
}

/** `j` and `k` move the chosen row, `enter` opens it, `f` follows its session. Returns the chosen event's id. */
function useRowKeys(events: readonly EventSummary[], show: (index: number) => void): string | undefined {
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<string>()
  const onKey = useEffectEvent((pressed: KeyboardEvent) => {
    if (isTyping(pressed) || pressed.metaKey || pressed.ctrlKey) return
    const index = events.findIndex(({ event_id }) => event_id === chosen)
    const event = events[index]
    const step = pressed.key === 'j' ? 1 : pressed.key === 'k' ? -1 : 0
    if (step !== 0) {
      const next = Math.min(Math.max(index + step, 0), events.length - 1)
      setChosen(events[next]?.event_id)
      show(next)
    } else if (pressed.key === 'Enter' && event !== undefined)
      void navigate({ to: '/events/$eventId', params: { eventId: event.event_id } })
    else if (pressed.key === 'f' && event?.session_id)
      void navigate({ to: '/live', search: { filter: `session:${event.session_id}` } })
  })
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return chosen
}
