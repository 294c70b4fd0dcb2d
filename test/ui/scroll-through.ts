import type { Page } from 'playwright-core'

/**
 * Scrolls the table of Live down, screen by screen, until so many rows were shown or no row is added any more. Each screen
 * must be drawn before the next: a busy machine draws rows later than it scrolls. Returns the ids of the events.
 */
export async function scrollThrough(page: Page, wanted: number): Promise<ReadonlySet<string>> {
  const ids: unknown = await page.evaluate(`(async () => {
    const seen = new Set()
    const table = document.querySelector('[data-event]').parentElement.parentElement
    const isDrawn = () => {
      const { top, bottom } = table.getBoundingClientRect()
      const rows = [...table.querySelectorAll('[data-event]')].map((row) => row.getBoundingClientRect())
      return rows.some((row) => row.top < top + row.height * 2) && rows.some((row) => row.bottom > bottom - row.height * 2)
    }
    let lastGrowth = performance.now()
    table.scrollTop = 0
    while (seen.size < ${wanted} && performance.now() - lastGrowth < 30_000) {
      await new Promise(requestAnimationFrame)
      if (!isDrawn()) continue
      const before = seen.size
      for (const row of table.querySelectorAll('[data-event]')) seen.add(row.dataset.event)
      if (seen.size > before) lastGrowth = performance.now()
      table.scrollTop += table.clientHeight
    }
    return [...seen]
  })()`)
  return new Set(Array.isArray(ids) ? ids.map(String) : [])
}
