import { useMediaQuery } from '@mantine/hooks'
import { Link, Navigate, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import { isTyping, usePageKeys } from '../../frame/keyboard/shortcuts.ts'
import { useConnectionState } from '../../gateway/live.ts'
import { Decision, EventDecision, isReport, outcomeOf } from '../../parts/decision.tsx'
import { commandOf, type EventSummary, filterParams, parseFilter } from '../../parts/filter/filter.ts'
import { FilterBar } from '../../parts/filter/filter-bar.tsx'
import { agentTitle, formatClock, formatInstant, plural } from '../../parts/format.ts'
import { Empty, Failed, LoadingRows, Page } from '../../parts/layout.tsx'
import { Code, Duration } from '../../parts/values.tsx'
import { EventDrawer } from './event-drawer.tsx'
import { useEventFeed } from './event-feed.ts'
import styles from './live-page.module.css'
import { useLiveSearch } from './live-search.ts'

const ROW_HEIGHT = 36
/** On a narrower screen an event takes the whole page. */
const HAS_ROOM = '(min-width: 901px)'

/** Every event as it is decided. */
export function LivePage() {
  const { filter = '', event, change } = useLiveSearch()
  const params = useMemo(() => filterParams(parseFilter(filter)), [filter])
  const [isHovered, setHovered] = useState(false)
  const feed = useEventFeed(params, isHovered)
  const hasRoom = useMediaQuery(HAS_ROOM, undefined, { getInitialValueInEffect: false })
  const mayExplain = useMay('operator')
  if (event !== undefined && hasRoom === false && mayExplain)
    return <Navigate to="/events/$eventId" params={{ eventId: event }} replace />
  return (
    <Page
      title="Live"
      purpose="Every event as it is decided. Hovering pauses; j and k move, enter opens, f follows the session."
      command={filter === '' ? 'hookhelm events tail --follow' : commandOf('hookhelm events list', params)}
      wide
    >
      <div className={styles.bar}>
        <FilterBar
          value={filter}
          onChange={(text) => change({ filter: text || undefined }, { replace: true })}
        />
        <span className={styles.waiting} role="status">
          {feed.waiting > 0 ? `paused · ${plural(feed.waiting, 'new event')}` : <Pulse />}
        </span>
      </div>
      <div className={event === undefined ? undefined : styles.split}>
        <Feed feed={feed} isFiltered={filter !== ''} onHover={setHovered} />
        {event === undefined ? null : (
          <EventDrawer eventId={event} summary={feed.events.find(({ event_id }) => event_id === event)} />
        )}
      </div>
    </Page>
  )
}

interface FeedProps {
  readonly feed: ReturnType<typeof useEventFeed>
  readonly isFiltered: boolean
  readonly onHover: (isHovered: boolean) => void
}

function Feed({ feed, isFiltered, onHover }: FeedProps) {
  const { error, events, isLoading, retry } = feed
  if (error !== undefined && events.length === 0) return <Failed error={error} onRetry={retry} />
  if (events.length > 0)
    return (
      <EventTable
        events={events}
        onHover={onHover}
        isLoading={feed.isLoading}
        onEnd={() => {
          if (feed.hasMore && feed.error === undefined) feed.loadOlder()
        }}
      />
    )
  if (isLoading) return <LoadingRows rows={12} />
  if (isFiltered) return <Empty title="No event passes the filter">New ones appear here by themselves.</Empty>
  return (
    <Empty title="No event yet" action={<Link to="/agents">Connect an agent</Link>}>
      Events appear here by themselves as soon as a connected agent works.
    </Empty>
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
  readonly isLoading: boolean
  /** The last row is in view, and nothing is on its way. */
  readonly onEnd: () => void
}

function EventTable({ events, onHover, isLoading, onEnd }: EventTableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    // A function of its own per render would make the list measure every row anew while one scrolls.
    getItemKey: useMemo(() => (index: number) => events[index]?.event_id ?? index, [events]),
  })
  const { chosen, open } = useRowKeys(events, (index) => rows.scrollToIndex(index))
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const reachEnd = useEffectEvent(onEnd)
  useEffect(() => {
    if (!isLoading && last >= events.length - 1) reachEnd()
  }, [last, events.length, isLoading])
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
            <EventRow
              key={key}
              event={event}
              top={start}
              isChosen={event.event_id === chosen}
              onOpen={open}
            />
          )
        })}
      </div>
    </div>
  )
}

function EventRow({
  event,
  top,
  isChosen,
  onOpen,
}: Readonly<{ event: EventSummary; top: number; isChosen: boolean; onOpen: (eventId: string) => void }>) {
  const { event_id, created_at, agent, tool, what, duration_ms } = event
  const mayExplain = useMay('operator')
  const outcome = outcomeOf(event)
  const look = [styles.row, isChosen ? styles.chosen : '', outcome === 'opened' ? styles.opened : '']
  /** A click that asks for another tab or window gets the whole page. */
  const onClick = (click: MouseEvent) => {
    const isPlain = !(click.ctrlKey || click.metaKey || click.shiftKey || click.altKey)
    if (!isPlain || (mayExplain && !matchMedia(HAS_ROOM).matches)) return
    click.preventDefault()
    onOpen(event_id)
  }
  return (
    <Link
      to="/events/$eventId"
      params={{ eventId: event_id }}
      className={look.join(' ')}
      onClick={onClick}
      style={{ transform: `translateY(${top}px)` }}
      data-event={event_id}
      aria-current={isChosen}
    >
      <time className="faint" title={formatInstant(created_at)}>
        {formatClock(created_at)}
      </time>
      <span className="cut">{agentTitle(agent)}</span>
      <span className="cut">
        {isReport(event) ? 'report' : (tool ?? <code>{event.event}</code>)}{' '}
        {tool === null && !isReport(event) ? null : <small>{event.event}</small>}
      </span>
      <Code text={what ?? event.event} />
      <EventDecision event={event} />
      <By event={event} />
      <span className={styles.right}>{isReport(event) ? null : <Duration ms={duration_ms} />}</span>
    </Link>
  )
}

/** The hook that decided; otherwise the policy that let the call pass, or that a shadow hook would have acted. */
function By({ event: { hook_name, by_hook, opened, shadow } }: Readonly<{ event: EventSummary }>) {
  if (hook_name === null && by_hook === null && opened === null && shadow > 0)
    return <Decision outcome="shadow">shadow differs</Decision>
  const text = hook_name ?? (by_hook === null ? (opened ?? '') : hookLabel(hook_name, by_hook))
  return (
    <span className="cut" title={text}>
      {text}
    </span>
  )
}

interface RowKeys {
  /** The id of the chosen event. */
  readonly chosen: string | undefined
  open(eventId: string): void
}

/** `j` and `k` move the chosen row, and the event beside the list with it; `enter` opens it, `f` follows its session. */
function useRowKeys(events: readonly EventSummary[], show: (index: number) => void): RowKeys {
  const navigate = useNavigate()
  const { event: opened, change } = useLiveSearch()
  const [chosen, setChosen] = useState(opened)
  const open = (eventId: string) => {
    setChosen(eventId)
    change({ event: eventId }, { replace: opened !== undefined })
  }
  usePageKeys((pressed) => {
    if (isTyping(pressed) || pressed.metaKey || pressed.ctrlKey) return
    const index = events.findIndex(({ event_id }) => event_id === chosen)
    const event = events[index]
    const step = pressed.key === 'j' ? 1 : pressed.key === 'k' ? -1 : 0
    if (step !== 0) {
      const next = Math.min(Math.max(index + step, 0), events.length - 1)
      const id = events[next]?.event_id
      setChosen(id)
      show(next)
      if (opened !== undefined && id !== undefined) open(id)
    } else if (pressed.key === 'Enter' && event !== undefined && !isControl(pressed)) open(event.event_id)
    else if (pressed.key === 'f' && event?.session_id)
      void navigate({ to: '/live', search: { filter: `session:${event.session_id}` } })
  })
  return { chosen, open }
}

/** Enter on a link or a button does what that link or button does. */
function isControl({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('a, button') !== null
}
