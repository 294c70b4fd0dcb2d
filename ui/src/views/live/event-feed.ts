import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { call } from '../../gateway/call.ts'
import { useSubscription } from '../../gateway/live.ts'
import { type EventFilter, type EventSummary, passesFilter } from '../../parts/filter/filter.ts'

const PAGE = 200
/** Older rows leave as new ones arrive, so that a page that stays open for days keeps its memory. */
const KEPT_ROWS = 1_000

interface FeedState {
  /** Newest first. */
  readonly events: readonly EventSummary[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  readonly hasMore: boolean
  /** How many events wait while the feed is paused. */
  readonly waiting: number
}

interface EventFeed extends FeedState {
  loadOlder(): void
  retry(): void
}

/** Recorded events, newest first, that grows at the top as events arrive and at the bottom on request. */
export function useEventFeed(filter: EventFilter, isPaused: boolean): EventFeed {
  const key = JSON.stringify(filter)
  const rows = useMemo(() => new FeedRows(JSON.parse(key)), [key])
  useEffect(() => rows.open(), [rows])
  useEffect(() => rows.pause(isPaused), [rows, isPaused])
  // An event may have been recorded after the first page was read and before the feed began.
  useSubscription('events.tail', {}, { onItem: rows.receive, onStart: rows.loadFirst })
  const state = useSyncExternalStore(rows.onChange, rows.state)
  return { ...state, loadOlder: rows.loadOlder, retry: rows.loadFirst }
}

/** The parameters of the next page; undefined if there are no older rows. */
type OlderRows = Pick<EventFilter, 'cursor' | 'until'> | undefined

/** The rows of one filter. */
class FeedRows {
  readonly #filter: EventFilter
  readonly #listeners = new Set<() => void>()
  #state: FeedState = { events: [], error: undefined, isLoading: true, hasMore: false, waiting: 0 }
  #older: OlderRows
  /** Grows with what the person scrolls to. */
  #limit = KEPT_ROWS
  /** Events that are not shown yet, oldest first. There may be more of them than are kept. */
  #arrived: EventSummary[] = []
  #arrivedCount = 0
  #isPaused = false
  #hasFirstPage = false
  #firstLoads = 0
  #frame = 0
  #closing = new AbortController()

  constructor(filter: EventFilter) {
    this.#filter = filter
  }

  readonly state = () => this.#state

  readonly onChange = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Loads the first page. Returns the function that ends what is on its way. */
  open(): () => void {
    this.#closing = new AbortController()
    void this.loadFirst()
    return () => {
      this.#closing.abort()
      cancelAnimationFrame(this.#frame)
    }
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (!isPaused) this.#showArrived()
  }

  readonly receive = (event: EventSummary) => {
    if (!passesFilter(event, this.#filter)) return
    this.#arrivedCount++
    if (this.#arrived.length < KEPT_ROWS) this.#arrived.push(event)
    // Many events may arrive within one frame of the screen; they are shown together.
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#showArrived())
  }

  /** Events that arrive meanwhile are shown above the page: it may have been read before they were recorded. */
  readonly loadFirst = async () => {
    const load = ++this.#firstLoads
    this.#hasFirstPage = false
    this.#takeArrived()
    const page = await this.#loadPage({}, [])
    if (page === undefined || load !== this.#firstLoads) return
    this.#hasFirstPage = true
    this.#limit = KEPT_ROWS
    this.#show(page.events, page.older)
    this.#showArrived()
  }

  readonly loadOlder = async () => {
    const older = this.#older
    if (older === undefined || this.#state.isLoading) return
    this.#limit = this.#state.events.length + PAGE + KEPT_ROWS
    const page = await this.#loadPage(older, this.#state.events.slice(-KEPT_ROWS))
    // If rows at the end left meanwhile, the page does not continue those that are shown.
    if (page !== undefined && this.#older === older)
      this.#show([...this.#state.events, ...page.events], page.older)
  }

  /** Returns rows that are not known yet. A page of the gateway may be empty although there are older rows. */
  async #loadPage(part: NonNullable<OlderRows>, known: readonly EventSummary[]) {
    const { signal } = this.#closing
    this.#change({ isLoading: true })
    try {
      for (let from = part; ; ) {
        const page = await call('events.list', { ...this.#filter, ...from, limit: PAGE }, signal)
        if (signal.aborted) return undefined
        const events = withoutKnown(page.events, known)
        const older = page.nextCursor === '' ? undefined : { cursor: page.nextCursor }
        if (events.length > 0 || older === undefined) {
          this.#change({ isLoading: false, error: undefined })
          return { events, older }
        }
        from = older
      }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      if (!signal.aborted) this.#change({ isLoading: false, error })
      return undefined
    }
  }

  #showArrived(): void {
    this.#frame = 0
    if (!this.#hasFirstPage) {
      // The first page could not be read. An event arrived, so the gateway answers again.
      if (!this.#state.isLoading) void this.loadFirst()
      return
    }
    if (this.#isPaused) return this.#change({ waiting: this.#arrivedCount })
    const { events: fresh, isComplete } = this.#takeArrived()
    this.#change({ waiting: 0 })
    if (!isComplete) void this.loadFirst()
    else if (fresh.length > 0) this.#join(fresh)
  }

  #takeArrived() {
    const taken = { events: this.#arrived.reverse(), isComplete: this.#arrivedCount === this.#arrived.length }
    this.#arrived = []
    this.#arrivedCount = 0
    return taken
  }

  /** Puts new rows at the top. Rows beyond the limit leave; scrolling to the end loads them again. */
  #join(fresh: readonly EventSummary[]): void {
    const { events: shown } = this.#state
    const events = [...withoutKnown(fresh, shown.slice(0, PAGE + fresh.length)), ...shown]
    const left = events.slice(this.#limit)
    if (left.length === 0) return this.#show(events, this.#older)
    // Events are not always recorded in the order of their times.
    const until = Math.max(this.#older?.until ?? 0, ...left.map(({ created_at }) => created_at))
    this.#show(events.slice(0, this.#limit), { until })
  }

  #show(events: readonly EventSummary[], older: OlderRows): void {
    this.#older = older
    this.#change({ events, hasMore: older !== undefined })
  }

  #change(part: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...part }
    for (const listener of this.#listeners) listener()
  }
}

/** Pages and the feed may bring the same event. */
function withoutKnown(
  events: readonly EventSummary[],
  known: readonly EventSummary[],
): readonly EventSummary[] {
  const ids = new Set(known.map(({ event_id }) => event_id))
  return events.filter(({ event_id }) => !ids.has(event_id))
}
