import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { scrollThrough } from '../../test/ui/scroll-through.ts'
import type { Figure } from '../figure.ts'
import { HANG_MS, type WebApp } from './web-app.ts'

const PER_SECOND = 200
const SECONDS = 60
/** Seconds after the first event. At the first Live has all rows that it keeps. */
const HEAP_AT = [10, 30, 60] as const
/** Rows that go and rows that come are the same; what grows beyond this is a leak. */
const GOAL_GROWTH = 1.1
const SESSION = 'live-stream'

/** Live in an open page while agents work: no row may be missing, and the page may not grow. */
export async function liveStreamFigures(app: WebApp): Promise<Figure[]> {
  const page = await app.open()
  const received = countReceived(page)
  await page.goto(`${app.url}/ui/live`)
  await page.getByText('live', { exact: true }).waitFor()
  const session = await page.context().newCDPSession(page)
  const began = performance.now()
  const sending = app.dispatch(SESSION, { perSecond: PER_SECOND, ms: SECONDS * 1_000 })
  const heaps: number[] = []
  for (const second of HEAP_AT) {
    await sleep(Math.max(0, began + second * 1_000 - performance.now()))
    heaps.push(await heapMegabytes(session))
  }
  const sent = await sending
  const recorded = await app.recorded(SESSION)
  await untilReceived(received, recorded)
  // The app loads rows again that it let go. Some more than these, because rows of one millisecond may change places.
  const reached = await scrollThrough(page, recorded.length + 50)
  await page.context().close()
  const shown = recorded.filter((id) => received.has(id) && reached.has(id)).length
  const [early = 0, , late = 0] = heaps
  return [
    {
      name: `web app: rows missing in Live after ${SECONDS} s of ${PER_SECOND} events a second`,
      value: sent - shown,
      unit: 'rows',
      goal: 0,
      better: 'at most',
      detail: `${sent} dispatched, ${received.size} arrived, ${reached.size} found by scrolling`,
    },
    {
      name: `web app: heap of Live after ${HEAP_AT[2]} s, to that after ${HEAP_AT[0]} s`,
      value: late / early,
      unit: '×',
      goal: GOAL_GROWTH,
      better: 'at most',
      detail: HEAP_AT.map((second, index) => `${heaps[index]?.toFixed(1)} MB at ${second} s`).join(', '),
    },
  ]
}

/** The ids of the events that arrive over the WebSocket of the page. */
function countReceived(page: Page): ReadonlySet<string> {
  const received = new Set<string>()
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const { payload: item }: { payload?: { event_id?: string; session_id?: string } } = JSON.parse(
        payload.toString(),
      )
      if (item?.event_id !== undefined && item.session_id === SESSION) received.add(item.event_id)
    }),
  )
  return received
}

/** Bytes that the page still needs after a collection. */
async function heapMegabytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1_048_576
}

async function untilReceived(received: ReadonlySet<string>, wanted: readonly string[]): Promise<void> {
  const end = performance.now() + HANG_MS
  while (received.size < wanted.length && performance.now() < end) await sleep(50)
}
