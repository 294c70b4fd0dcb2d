import { expect, test } from 'vitest'
import { openLines } from '../../src/gateway/socket/socket.fixture.ts'
import { type Running, shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'

const gateway = shared(() => ({
  functions: { ask: () => ({ kind: 'ask', reason: 'this deletes from a production database' }) },
}))
const { signIn } = browser()

/** An agent on this machine whose call waits. */
async function waitingCall(running: Running, command: string, session: string) {
  const client = openLines(running.socket ?? '', { hookhelm: 1, agent: 'claude-code' })
  const native = {
    ...{ session_id: session, cwd: '/srv/shop-api', hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'Bash', tool_input: { command }, tool_use_id: session },
  }
  client.send({ id: 1, event: 'PreToolUse', native, within_ms: 100_000 })
  expect(await client.next()).toHaveProperty('pending')
  // An async function would wait for a promise that it returns.
  return {
    async reply(): Promise<Readonly<Record<string, unknown>>> {
      const { reply } = await client.next()
      return JSON.parse(String((reply as { stdout: string }).stdout)).hookSpecificOutput
    },
  }
}

async function makeAskingHook() {
  const { body } = await gateway().call('GET', '/v1/hooks')
  if (body.hooks.some(({ name }: { name: string }) => name === 'production-data')) return
  await gateway().hook({
    ...{ event: 'pre_tool_use', handler_type: 'function', name: 'production-data' },
    ...{ matcher: '^Bash$', config: { name: 'ask' } },
  })
}

async function openApprovals(size?: { width: number; height: number }) {
  await makeAskingHook()
  const signedIn = await signIn(gateway())
  if (size !== undefined) await signedIn.page.setViewportSize(size)
  await signedIn.page.goto(`${gateway().url}/ui/approvals`)
  return signedIn
}

test('a call of an agent appears without a reload, and runs when a person approves it', async () => {
  const { page, complaints } = await openApprovals()
  await page.getByText('Nothing waits for you').waitFor()
  const agent = await waitingCall(gateway(), 'psql prod -c "delete from carts"', 'a1')
  const card = page.locator('section[data-approval]')
  await card.getByText('psql prod -c "delete from carts"').waitFor()
  await card.getByText('production-data asks: this deletes from a production database').waitFor()
  await page.getByTitle('1 call waiting').waitFor()
  await page.screenshot({ path: 'ui/screenshots/approvals.png' })
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByRole('button', { name: 'Yes, let it run' }).click()
  expect(await agent.reply()).toMatchObject({ permissionDecision: 'allow' })
  await page.getByText('Nothing waits for you').waitFor()
  expect(complaints).toEqual([])
})

test('by keys: d writes a message that the model reads', async () => {
  const { page } = await openApprovals()
  const agent = await waitingCall(gateway(), 'drop table carts', 'd1')
  await page.getByText('drop table carts').waitFor()
  await page.keyboard.press('d')
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('ask the owner first')
  await page.keyboard.press('Enter')
  expect(await agent.reply()).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringContaining('ask the owner first'),
  })
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText(': ask the owner first').waitFor()
})

test('an edit shows its difference and is what runs', async () => {
  const { page } = await openApprovals()
  const agent = await waitingCall(gateway(), 'rm -rf build', 'e1')
  await page.getByText('rm -rf build').waitFor()
  await page.keyboard.press('e')
  const editor = page.locator('.cm-content').first()
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"command":"rm -r build/cache"}')
  await page.locator('.cm-merge-a, .cm-mergeView').first().waitFor()
  await page.screenshot({ path: 'ui/screenshots/approvals-edit.png' })
  await page.getByRole('button', { name: 'Approve the edit' }).click()
  expect(await agent.reply()).toMatchObject({
    permissionDecision: 'allow',
    updatedInput: { command: 'rm -r build/cache' },
  })
})

test('identical calls are one card, and one answer on a phone decides all', async () => {
  const { page } = await openApprovals({ width: 390, height: 844 })
  const agents = await Promise.all(
    ['p1', 'p2'].map((session) => waitingCall(gateway(), 'gh pr merge 482 --squash', session)),
  )
  const card = page.locator('section[data-approval]')
  await card.getByText('2 identical calls wait').waitFor()
  expect(await card.count()).toBe(1)
  await page.screenshot({ path: 'ui/screenshots/approvals-phone.png' })
  await card.getByRole('button', { name: 'Approve all 2' }).click()
  await card.getByRole('button', { name: 'Yes, let it run' }).click()
  for (const agent of agents) expect(await agent.reply()).toMatchObject({ permissionDecision: 'allow' })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
})

test('two browsers at the same moment: one wins, and the other reads who was faster', async () => {
  const [first, second] = [await openApprovals(), await openApprovals()]
  const agent = await waitingCall(gateway(), 'git push --force', 't1')
  const cards = [first, second].map(({ page }) => page.locator('section[data-approval]'))
  for (const card of cards) {
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByRole('button', { name: 'Yes, let it run' }).waitFor()
  }
  // The second browser must not learn of the answer before it sends its own.
  await second.page.route('**/v1/call/approvals.list', (route) => route.abort())
  await cards[0]?.getByRole('button', { name: 'Yes, let it run' }).click()
  await agent.reply()
  await cards[1]?.getByRole('button', { name: 'Yes, let it run' }).click()
  await cards[1]?.getByText(/it was approved by .+ at 2\d{3}-/).waitFor()
})
