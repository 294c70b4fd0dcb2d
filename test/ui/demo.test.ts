import { expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'

const gateway = shared()
const { signIn } = browser()

test('a fresh Home plays the demo with one click, says that it is one, and removes it with another', async () => {
  const { page, complaints } = await signIn(gateway())
  await page.getByRole('button', { name: 'Play the demo' }).click()
  await page.getByText('This is demo data').waitFor()
  await page.getByText('git push --force origin fix-cart').waitFor()
  await page.getByText('1 hook switched off by the circuit breaker').waitFor()
  await page.getByText('1 delivery given up').waitFor()
  await page.getByRole('link', { name: 'Guards 2 guards are off' }).waitFor()
  await screenshot(page, 'demo-home')
  for (const view of ['live', 'sessions', 'sessions/demo-claude-shop-api', 'hooks', 'guards', 'audit']) {
    await page.goto(`${gateway().url}/ui/${view}`)
    await page
      .getByText(/demo: |demo-|shop-api/)
      .first()
      .waitFor()
    await screenshot(page, `demo-${view.replace('/', '-')}`)
  }
  await page.goto(`${gateway().url}/ui/sessions/demo-claude-shop-api`)
  const timeline = page.getByRole('list', { name: 'Events in their order' })
  await timeline.getByText('git push origin fix-cart').waitFor()
  // A call and its result are one row, and so are the two events of a compaction.
  expect(await timeline.getByText('npm test -- cart').count()).toBe(1)
  expect(await timeline.getByText('context compacted').count()).toBe(1)
  await page.goto(`${gateway().url}/ui/`)
  // Until the page reloads for another tenant, it may still ask for what was just removed.
  expect(complaints).toEqual([])
  await page.getByRole('button', { name: 'Remove it' }).click()
  await page.getByRole('button', { name: 'Play the demo' }).waitFor()
  const { body } = await gateway().call('GET', '/v1/caller')
  expect(body.tenants.map(({ name }: { name: string }) => name)).toEqual(['default'])
})
