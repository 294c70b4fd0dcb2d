import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { running, shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'

const functions = { refuse: () => ({ kind: 'block', reason: 'Push without --force.' }) } as const
const gateway = shared(() => ({ functions }))
const { signIn } = browser()

const push = { tool_name: 'Bash', tool_input: { command: 'git push --force' } }
const refuse = {
  name: 'no-force',
  event: 'pre_tool_use',
  handler_type: 'function',
  matcher: 'Bash(git push --force*)',
  config: { name: 'refuse' },
}
const byClaude = { envelope: { agent: 'claude-code', host: 'claude-code' } }

test('the steps of the set-up tick themselves off, and the set-up goes when all are done', async () => {
  const fresh = await running({ functions })
  const { page, complaints } = await signIn(fresh)
  await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor()
  expect(await page.getByLabel('done').count()).toBe(0)
  await fresh.dispatch('pre_tool_use', push, byClaude)
  await page.getByText('Set up: 1 of 3 steps done').waitFor()
  await fresh.hook(refuse)
  await page.getByText('Set up: 2 of 3 steps done').waitFor()
  expect(await page.getByLabel('done').count()).toBe(2)
  await fresh.dispatch('pre_tool_use', push, byClaude)
  await page.getByText(/Set up: /).waitFor({ state: 'detached' })
  await page.getByText('Claude Code wanted').first().waitFor()
  expect(complaints).toEqual([])
})

test('the set-up offers starter packs, and one that is added there blocks the next call', async () => {
  const fresh = await running()
  const { page, complaints } = await signIn(fresh)
  await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor()
  const offered = page.getByRole('list', { name: 'Starter packs' })
  await offered.getByText('destructive-commands').waitFor()
  expect(await offered.getByRole('listitem').count()).toBe(4)
  const deletion = { tool_name: 'Bash', tool_input: { command: 'X="rm -rf"; $X /' } }
  const decided = async () => (await fresh.dispatch('pre_tool_use', deletion)).body.decision.kind
  expect(await decided()).toBe('allow')
  await page.getByRole('button', { name: 'Add destructive-commands' }).click()
  await page.locator('[data-pack=destructive-commands]').getByText('added').waitFor()
  // The page follows while the hooks of the pack are made one after the other, and while they are removed.
  await expect.poll(decided, { timeout: 60_000 }).toBe('block')
  await page.getByText('Set up: 2 of 3 steps done').waitFor()

  await page.goto(`${fresh.url}/ui/hooks`)
  await page.locator('[data-hook="Deletion outside of the working folder"]').waitFor()
  await page.getByRole('button', { name: 'Starter packs' }).click()
  const all = page.getByRole('dialog').getByRole('listitem')
  await all.filter({ hasText: 'opaque-commands' }).waitFor()
  expect(await all.count()).toBe(11)
  const added = page.locator('[data-pack=destructive-commands]')
  await added.getByRole('button', { name: 'Remove' }).click()
  await added.getByRole('button', { name: /^Remove \d hooks of/ }).click()
  await page.getByRole('button', { name: 'Add destructive-commands' }).waitFor()
  await expect.poll(decided, { timeout: 60_000 }).toBe('allow')
  expect(complaints).toEqual([])
})

test('the chart can be read as text, filtered by its legend, and by pointing at a minute', async () => {
  await gateway().hook(refuse)
  for (const command of ['ls', 'git push --force', 'git push --force']) {
    const { status } = await gateway().dispatch('pre_tool_use', {
      tool_name: 'Bash',
      tool_input: { command },
    })
    expect(status).toBe(200)
  }
  const { page, complaints } = await signIn(gateway())
  const table = page.getByRole('table', { name: 'Decisions per minute in the last hour' })
  await table.waitFor()
  const cells = await table.getByRole('row').last().getByRole('cell').allTextContents()
  expect(cells.slice(0, 4)).toEqual(['1', '0', '0', '2'])
  const block = page.getByRole('button', { name: 'block', exact: true })
  await page.getByText('most in a minute: 3').waitFor()
  await block.click()
  expect(await block.getAttribute('aria-pressed')).toBe('false')
  await page.getByText('most in a minute: 1').waitFor()
  await block.click()
  await pointAtLastMinute(page)
  await page.getByText(/^\d\d:\d\d · 1 allow, 2 block · p50 .* · p95 /).waitFor()
  expect(complaints).toEqual([])
})

async function pointAtLastMinute(page: Page): Promise<void> {
  const box = await page.locator('.u-over').first().boundingBox()
  if (box === null) throw new Error('the chart is not drawn')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.move(box.x + box.width - 3, box.y + box.height / 2)
}
