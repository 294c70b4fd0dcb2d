import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Running, running } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'
import { bashCall } from './flows.fixture.ts'
import { scrollThrough } from './scroll-through.ts'

const { signIn } = browser()

/** More than Live keeps. */
const MANY = 1_100

/** Dispatches so many events and returns their ids. */
async function dispatchMany(gateway: Running, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  while (ids.length < count)
    ids.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - ids.length) }, async (_, index) => {
          const { body } = await gateway.dispatch('pre_tool_use', bashCall(`echo ${ids.length + index}`))
          return String(body.event_id)
        }),
      )),
    )
  return ids
}

async function openLive(page: Page, gateway: Running): Promise<void> {
  await page.goto(`${gateway.url}/ui/live`)
  await page.getByText('live', { exact: true }).waitFor()
}

/** The height of the table's rows says how many it has. */
async function countRows(page: Page): Promise<number> {
  return Number(
    await page.evaluate(`(() => {
      const row = document.querySelector('[data-event]')
      return row === null ? 0 : Math.round(row.parentElement.offsetHeight / row.offsetHeight)
    })()`),
  )
}

/** A script for the page: the first list of events is answered when the test calls `answerList`. */
const slowFirstList = `
  const realFetch = fetch
  fetch = async (input, init) => {
    const response = await realFetch(input, init)
    if (!String(input).endsWith('events.list') || window.answerList !== undefined) return response
    await new Promise((resolve) => { window.answerList = resolve })
    return response
  }`

test('Live keeps the newest rows in memory, and scrolling brings back every row that left', async () => {
  const gateway = await running()
  await dispatchMany(gateway, 1)
  const { page, complaints } = await signIn(gateway)
  await openLive(page, gateway)
  const ids = await dispatchMany(gateway, MANY)
  await page.locator(`[data-event="${ids.at(-1)}"]`).waitFor()
  await expect.poll(() => countRows(page)).toBe(1_000)
  const seen = await scrollThrough(page, MANY + 1)
  expect(ids.filter((id) => !seen.has(id))).toEqual([])
  expect(seen.size).toBe(MANY + 1)
  expect(complaints).toEqual([])
})

test('after a pause in which more arrived than Live keeps, the newest are shown and none is missing', async () => {
  const gateway = await running()
  const [first = ''] = await dispatchMany(gateway, 1)
  const { page } = await signIn(gateway)
  await openLive(page, gateway)
  await page.locator(`[data-event="${first}"]`).hover()
  const ids = await dispatchMany(gateway, MANY)
  await page.getByText(/paused · 1.100 new events/).waitFor()
  await page.getByRole('heading', { name: 'Live' }).hover()
  await page.locator(`[data-event="${ids.at(-1)}"]`).waitFor()
  const seen = await scrollThrough(page, MANY + 1)
  expect([first, ...ids].filter((id) => !seen.has(id))).toEqual([])
})

test('an event that arrives while the first rows are on their way is shown', async () => {
  const gateway = await running()
  const [before = ''] = await dispatchMany(gateway, 1)
  const { page } = await signIn(gateway)
  const frames: string[] = []
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))))
  await page.addInitScript(slowFirstList)
  await openLive(page, gateway)
  await page.waitForFunction(() => 'answerList' in globalThis)
  const [meanwhile = ''] = await dispatchMany(gateway, 1)
  await expect.poll(() => frames.join()).toContain(meanwhile)
  for (let drawn = 0; drawn < 2; drawn++) await page.evaluate('new Promise(requestAnimationFrame)')
  await page.evaluate('window.answerList()')
  await page.locator(`[data-event="${before}"]`).waitFor()
  await page.locator(`[data-event="${meanwhile}"]`).waitFor()
})
