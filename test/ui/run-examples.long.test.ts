import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type OpenExample, openExample } from '../runs/run-examples.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'
import { codeText } from './code-text.fixture.ts'

const HANG = 240_000
const { signIn } = browser()

/** Opens the page of a run, lets the test look at it, and makes screenshots for people: desktop, dark, and a phone. */
async function lookAt(
  { gateway }: OpenExample,
  runId: string,
  name: string,
  check: (page: Page) => Promise<void>,
) {
  const options = [{}, { scheme: 'dark' as const }, { isPhone: true }]
  for (const [index, option] of options.entries()) {
    const { page, complaints } = await signIn(gateway, option)
    await page.goto(`${gateway.url}/ui/runs/${runId}`)
    await page.getByRole('status', { name: 'Outcome' }).waitFor()
    await check(page)
    await screenshot(page, `example-${name}${['', '-dark', '-phone'][index]}`)
    expect(complaints).toEqual([])
  }
}

const outcome = (page: Page) => page.getByRole('status', { name: 'Outcome' })
const phase = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Phases of the run' }).locator(`[data-phase="${name}"]`)

test(
  'AO-58 chain-agents: the run shows its result, the hook after it, and the agent that it started',
  async () => {
    const example = await openExample('chain-agents')
    const { run } = await example.finish('data-extractor', { source: 'orders.csv' })
    await example.child('data-processor', run.session_id)
    await lookAt(example, run.run_id, 'chain', async (page) => {
      await outcome(page).getByText('Completed').waitFor()
      await page.getByText('"Grace"').first().waitFor()
      await phase(page, 'on_run_finish').getByText('data-processor').waitFor()
      const chain = page.getByRole('list', { name: 'Runs from parent to child' })
      await chain.getByText('data-processor').waitFor()
    })
  },
  HANG,
)

test(
  'AO-58 enrich-parameters: the run shows original and changed parameters side by side',
  async () => {
    const example = await openExample('enrich-parameters')
    const { run } = await example.finish('report-generator', { report_id: 'R123' })
    await lookAt(example, run.run_id, 'enrich', async (page) => {
      await phase(page, 'on_run_start').getByText('path-resolver').waitFor()
      const side = (name: string) => codeText(page.getByRole('textbox', { name }))
      // A phone has no room for two columns.
      if ((page.viewportSize()?.width ?? 0) < 600) {
        await page.getByText('"resolved_path": "reports/R123.csv"').first().waitFor()
        return
      }
      await page.getByRole('textbox', { name: 'after' }).waitFor()
      expect(await side('before')).not.toContain('resolved_path')
      expect(await side('after')).toContain('"resolved_path": "reports/R123.csv"')
    })
  },
  HANG,
)

test(
  'AO-58 validate-parameters: the run begins with the reason of the block',
  async () => {
    const example = await openExample('validate-parameters')
    const { run } = await example.finish('table-query', { sql: 'DROP TABLE people' })
    await lookAt(example, run.run_id, 'validate', async (page) => {
      await expect
        .poll(() => outcome(page).textContent())
        .toMatch(/^Blockedby security-validator — table-query may only read/)
      expect(await phase(page, 'running').count()).toBe(0)
    })
  },
  HANG,
)

test(
  'AO-58 audit-log: a failed run shows its error and the hook that wrote it down',
  async () => {
    const example = await openExample('audit-log')
    const { run } = await example.finish('translator', { word: 'mast' })
    await example.child('audit-logger', run.session_id)
    await lookAt(example, run.run_id, 'audit', async (page) => {
      await outcome(page).getByText('I do not know the word "mast".').first().waitFor()
      await phase(page, 'on_run_finish').getByText('audit-logger').waitFor()
    })
  },
  HANG,
)
