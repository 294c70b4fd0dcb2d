import type { Page } from 'playwright-core'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'
import type { WebApp } from './web-app.ts'

const ROUNDS = 9
const GOAL_KB = 300
const GOAL_MS = 1_000

/** What a first visit fetches, and how long it waits for Home. Every round has an empty cache. */
export async function firstLoadFigures(app: WebApp): Promise<Figure[]> {
  await app.dispatch('first-load', { perSecond: 100, ms: 1_000 })
  const visits: Visit[] = []
  const empty: number[] = []
  // In turns, so that noise hits both alike.
  for (let round = 0; round < ROUNDS; round++) {
    visits.push(await visitHome(app))
    empty.push(await visitEmptyPage(app))
  }
  const kilobytes = (part: 'files' | 'data') => median(visits.map((visit) => visit[part])) / 1_024
  const files = kilobytes('files')
  return [
    {
      name: 'web app: first load on the wire, gzipped',
      value: files,
      unit: 'KB',
      goal: GOAL_KB,
      better: 'at most',
      detail: `${(files + kilobytes('data')).toFixed(0)} KB with the data of Home, in ${visits[0]?.requests} requests`,
    },
    {
      name: 'web app: time to first view, empty cache',
      value: median(visits.map(({ ms }) => ms)),
      unit: 'ms',
      goal: GOAL_MS,
      better: 'at most',
      detail: `median of ${ROUNDS}, against ${median(empty).toFixed(0)} ms for an empty page of the same gateway`,
    },
  ]
}

interface Visit {
  /** Bytes on the wire, headers included: what the app is made of, and what it shows. */
  readonly files: number
  readonly data: number
  readonly requests: number
  readonly ms: number
}

/** Resolves with the time since the navigation began when the view has a heading and nothing in it still loads. */
const firstViewMs = `new Promise((resolve) => {
  const look = () => {
    const stands = document.querySelector('main h1') !== null && document.querySelector('[aria-busy=true]') === null
    if (stands) resolve(performance.now())
    else requestAnimationFrame(look)
  }
  look()
})`

async function visitHome(app: WebApp): Promise<Visit> {
  const page = await app.open()
  const received = await countBytes(page)
  await page.goto(`${app.url}/ui/`, { waitUntil: 'commit' })
  const ms = Number(await page.evaluate(firstViewMs))
  await page.waitForLoadState('networkidle')
  await page.context().close()
  const isFile = (url: string) => new URL(url).pathname.startsWith('/ui/')
  const sum = (entries: readonly Received[]) => entries.reduce((bytes, entry) => bytes + entry.bytes, 0)
  return {
    files: sum(received.filter(({ url }) => isFile(url))),
    data: sum(received.filter(({ url }) => !isFile(url))),
    requests: received.length,
    ms,
  }
}

interface Received {
  readonly url: string
  readonly bytes: number
}

async function countBytes(page: Page): Promise<readonly Received[]> {
  const received: Received[] = []
  const urls = new Map<string, string>()
  const session = await page.context().newCDPSession(page)
  session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    received.push({ url: urls.get(requestId) ?? '', bytes: encodedDataLength }),
  )
  await session.send('Network.enable')
  return received
}

async function visitEmptyPage(app: WebApp): Promise<number> {
  const page = await app.open()
  await page.goto(`${app.url}/healthz`)
  const ms = await page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
  await page.context().close()
  return Number(ms)
}
