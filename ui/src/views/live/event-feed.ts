import { useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../gateway/call.ts'
import { useSubscription } from '../../gateway/live.ts'
import { type EventFilter, type EventSummary, passesFilter } from '../../parts/filter.ts'

const PAGE = 200
/** Older rows leave, so that a page that stays open for days keeps its memory. */
const MAX_ROWS = 100_000

interface EventFeed {
  /** Newest first. */
  readonly events: readonly EventSummary[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  readonly hasMore: boolean
  /** How many events wait while the feed is paused. */
  readonly waiting: number
  loadOlder(): void
  retry(): void
}

/** Recorded events, newest first, that grows at the top as events arrive and at the bottom on request. */
export function useEventFeed(filter: EventFilter, isPaused: boolean): EventFeed {
  const key = JSON.stringify(filter)
  const [events, setEvents] = useState<readonly EventSummary[]>([])
  const [cursor, setCursor] = useState<string>()
  const [error, setError] = useState<Error>()
  const [isLoading, setLoading] = useState(true)
  const [waiting, setWaiting] = useState(0)
  const arrived = useRef<EventSummary[]>([])
  const frame = useRef(0)
  const paused = useRef(isPaused)
  /** Ends what is on its way when the list starts over, for example with another filter. */
  const leaving = useRef(new AbortController())

  /** Many events may arrive within one frame of the screen; they are shown together. */
  const show = useCallback(() => {
    frame.current = 0
    if (paused.current) {
      setWaiting(arrived.current.length)
      return
    }
    const fresh = arrived.current.splice(0).reverse()
    setWaiting(0)
    if (fresh.length > 0) setEvents((shown) => joinNewer(fresh, shown))
  }, [])

  useEffect(() => {
    paused.current = isPaused
    if (!isPaused) show()
  }, [isPaused, show])

  const load = useCallback(
    async (from: string | undefined) => {
      if (from === undefined) {
        leaving.current.abort()
        leaving.current = new AbortController()
      }
      const { signal } = leaving.current
      setLoading(true)
      try {
        const params: EventFilter = {
          ...JSON.parse(key),
          limit: PAGE,
          ...(from === undefined ? {} : { cursor: from }),
        }
        const page = await call('events.list', params, signal)
        if (signal.aborted) return
        if (from === undefined) setEvents(joinNewer(arrived.current.splice(0).reverse(), page.events))
        else setEvents((shown) => [...shown, ...page.events])
        setCursor(page.nextCursor)
        setError(undefined)
      } catch (thrown) {
        if (!signal.aborted) setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      } finally {
        if (!signal.aborted) setLoading(false)
      }
    },
    [key],
  )

  useEffect(() => {
    arrived.current = []
    setEvents([])
    void load(undefined)
    return () => leaving.current.abort()
  }, [load])

  useSubscription(
    'events.tail',
    {},
    {
      onItem: (event) => {
        if (!passesFilter(event, JSON.parse(key))) return
        arrived.current.push(event)
        if (frame.current === 0) frame.current = requestAnimationFrame(show)
      },
      // An event may have been recorded after the first page was read and before the feed began.
      onStart: () => void load(undefined),
    },
  )

  return {
    events,
    error,
    isLoading,
    hasMore: cursor !== undefined && cursor !== '',
    waiting,
    loadOlder: () => {
      if (!isLoading && cursor) void load(cursor)
    },
    retry: () => void load(undefined),
  }
}

/** The first page and the feed may both bring an event that was recorded between them. */
function joinNewer(fresh: readonly EventSummary[], shown: readonly EventSummary[]): readonly EventSummary[] {
  const known = new Set(shown.slice(0, PAGE + fresh.length).map(({ event_id }) => event_id))
  const joined = [...fresh.filter(({ event_id }) => !known.has(event_id)), ...shown]
  return joined.length > MAX_ROWS ? joined.slice(0, MAX_ROWS) : joined
}
