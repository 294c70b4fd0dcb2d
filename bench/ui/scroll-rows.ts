import type { Page } from 'playwright-core'
import type { Figure } from '../figure.ts'
import type { WebApp } from './web-app.ts'

const ROWS = 100_000
/** Recorded over HTTP; the others are copies of these. */
const RECORDED = 10_000
/** A hundred rows a frame: faster than a person reads, as fast as a flick of the wheel goes. */
const STEP_PX = 3_600
const GOAL_FRAMES = 50
const GOAL_LONGEST_MS = 100
const GOAL_SHOWN = 100

/** Live with as many rows as the app loaded by itself while it was scrolled to the end, then scrolled back. */
export async function scrollFigures(app: WebApp): Promise<Figure[]> {
  await app.dispatch('scroll-rows', { perSecond: 1_000, ms: RECORDED })
  await app.recorded('scroll-rows')
  app.copyEvents(ROWS / RECORDED)
  const page = await app.open()
  await page.goto(`${app.url}/ui/live`)
  await page.locator('[data-event]').first().waitFor()
  const loaded = await loadRows(page)
  const rows = await scrollBack(page)
  const blank = await scrollBlankPage(page)
  await page.context().close()
  const name = `web app: scrolling ${loaded} rows`
  return [
    {
      name: `${name}, frames a second`,
      value: rows.framesPerSecond,
      unit: '/s',
      goal: GOAL_FRAMES,
      better: 'at least',
      detail: `${rows.frames} frames, ${rows.empty} without a row; ${blank.framesPerSecond.toFixed(1)} /s for a blank page`,
    },
    {
      name: `${name}, longest frame`,
      value: rows.longestMs,
      unit: 'ms',
      goal: GOAL_LONGEST_MS,
      better: 'at most',
      detail: `${blank.longestMs.toFixed(1)} ms for a blank page`,
    },
    {
      name: `${name}, rows in the document`,
      value: rows.shown,
      unit: 'rows',
      goal: GOAL_SHOWN,
      better: 'at most',
    },
  ]
}

const findTable = "const table = document.querySelector('[data-event]').parentElement.parentElement"

/** Scrolls to the end again and again until the app has loaded the rows. Returns how many it has. */
async function loadRows(page: Page): Promise<number> {
  return Number(
    await page.evaluate(`(async () => {
      ${findTable}
      const count = () => Math.round(table.lastElementChild.offsetHeight / 36)
      let [rows, lastGrowth] = [0, performance.now()]
      while (rows < ${ROWS} && performance.now() - lastGrowth < 30_000) {
        if (count() > rows) lastGrowth = performance.now()
        rows = count()
        table.scrollTop = table.scrollHeight
        await new Promise(requestAnimationFrame)
      }
      return count()
    })()`),
  )
}

interface Scrolled {
  readonly frames: number
  readonly framesPerSecond: number
  readonly longestMs: number
  /** Frames in which the middle of the table had no row. */
  readonly empty: number
  /** The most rows that the document had at a time. */
  readonly shown: number
}

/** Scrolls `table` to its top and measures the frames. */
const scrollToTop = `
  const { top, height, left } = table.getBoundingClientRect()
  const times = []
  let [empty, shown] = [0, 0]
  for (let at = table.scrollHeight - height; at > 0; at -= ${STEP_PX}) {
    table.scrollTop = at
    times.push(await new Promise(requestAnimationFrame))
    const middle = document.elementFromPoint(left + 20, top + height / 2)
    if (!middle?.closest('[data-event]')) empty++
    shown = Math.max(shown, table.querySelectorAll('[data-event]').length)
  }
  const durations = times.slice(1).map((time, index) => time - times[index])
  return {
    frames: durations.length,
    framesPerSecond: durations.length * 1_000 / (times.at(-1) - times[0]),
    longestMs: Math.max(...durations),
    empty,
    shown,
  }`

async function scrollBack(page: Page): Promise<Scrolled> {
  return page.evaluate(`(async () => { ${findTable}; ${scrollToTop} })()`)
}

/** The same in a page with one box of the same height: what this browser on this machine can do at best. */
async function scrollBlankPage(page: Page): Promise<Scrolled> {
  await page.goto('about:blank')
  return page.evaluate(`(async () => {
    const table = document.body.appendChild(document.createElement('div'))
    table.style = 'height: 600px; overflow: auto'
    table.appendChild(document.createElement('div')).style.height = '${ROWS * 36}px'
    ${scrollToTop}
  })()`)
}
