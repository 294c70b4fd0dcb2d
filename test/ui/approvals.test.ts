import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { type Running, shared } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { httpReceiver } from '../rules/receivers.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'

const gateway = shared(() => ({
  outbound: { allow: ['127.0.0.1'] },
  functions: { ask: () => ({ kind: 'ask', reason: 'this deletes from a production database' }) },
}))
const { signIn, open } = browser()

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

test('a number beyond 2⁵³ is shown, edited and run with its own digits', async () => {
  const { page } = await openApprovals()
  const client = openLines(gateway().socket ?? '', { hookhelm: 1, agent: 'claude-code' })
  const call = (account: string) =>
    `{"session_id":"n1","cwd":"/srv","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"n1","tool_input":{"command":"pay","account":${account}}}`
  client.send(`{"id":1,"event":"PreToolUse","native":${call('9007199254740993')},"within_ms":100000}`)
  expect(await client.next()).toHaveProperty('pending')
  await page.getByText('9007199254740993').first().waitFor()
  await page.keyboard.press('e')
  const editor = page.locator('.cm-content').first()
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{ "command": "pay", "account": 9007199254740995 }')
  await page.getByRole('button', { name: 'Approve the edit' }).click()
  const { reply } = await client.next()
  expect(String((reply as { stdout: string }).stdout)).toContain('"account":9007199254740995')
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

test('identical calls are one card; on a phone an answer covers one of them, or all if the person says so', async () => {
  const { page } = await openApprovals({ width: 390, height: 844 })
  const agents = await Promise.all(
    ['p1', 'p2', 'p3'].map((session) => waitingCall(gateway(), 'gh pr merge 482 --squash', session)),
  )
  const card = page.locator('section[data-approval]')
  await card.getByText('3 identical calls wait').waitFor()
  expect(await card.count()).toBe(1)
  await page.screenshot({ path: 'ui/screenshots/approvals-phone.png' })
  await card.getByRole('button', { name: 'Approve', exact: true }).click()
  await card.getByRole('button', { name: 'Yes, let it run' }).click()
  await card.getByText('2 identical calls wait').waitFor()
  await card.getByLabel('How many calls the answer covers').selectOption('all 2')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await card.getByRole('button', { name: 'Approve all 2' }).click()
  await card.getByRole('button', { name: 'Yes, let it run' }).click()
  for (const agent of agents) expect(await agent.reply()).toMatchObject({ permissionDecision: 'allow' })
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

async function expectAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}

const looks = [
  ['desktop-light', { scheme: 'light', isPhone: false }],
  ['desktop-dark', { scheme: 'dark', isPhone: false }],
  ['phone-dark', { scheme: 'dark', isPhone: true }],
  ['phone-light', { scheme: 'light', isPhone: true }],
] as const

/** Both themes and both widths, without every pair of them: the check is slow. */
const checked = new Set<string>(['desktop-dark', 'phone-light'])

/** A chat that gets every question, and a team that does not exist. */
async function withRoutes() {
  const receiver = await httpReceiver()
  const approval_routes = [
    { name: 'ops chat', to: { type: 'slack', url: receiver.url } },
    { name: 'on call', after_minutes: 5, to: { type: 'team', team: 'nobody' } },
  ]
  await gateway().call('PATCH', '/v1/settings', { settings: { approval_routes } })
  return receiver
}

test('a person opens the link in a chat, sees the exact arguments, and one click lets the call run', async () => {
  await makeAskingHook()
  const receiver = await withRoutes()
  const agent = await waitingCall(gateway(), 'psql prod -c "delete from carts"\n-- <b>all</b>', 'l1')
  const [message] = await gateway().until(
    async () => receiver.received,
    (list) => list.length === 1,
  )
  const { text } = JSON.parse(message?.body ?? '{}')
  const [approve = '', deny = ''] = text.match(/http:[^|]+(?=\|)/g) ?? []
  for (const [name, look] of looks) {
    const { page, complaints } = await open(look)
    await page.goto(name === 'desktop-light' ? deny : approve)
    await page.getByText('-- <b>all</b>').waitFor()
    if (checked.has(name)) await expectAccessible(page)
    await screenshot(page, `approval-link-${name}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.isPhone ? 390 : 1440)
    expect(complaints).toEqual([])
  }
  const { page } = await open()
  await page.goto(approve)
  await page.getByRole('button', { name: 'Approve: let it run' }).click()
  await page.getByText('You approved the call').waitFor()
  expect(await agent.reply()).toMatchObject({ permissionDecision: 'allow' })
  await page.goto(deny)
  await page.getByText('The question is closed: approved by route ops chat').waitFor()
})

test('a page of another site cannot frame the page of a link', async () => {
  await makeAskingHook()
  const receiver = await withRoutes()
  await waitingCall(gateway(), 'git push --force', 'f1')
  const [message] = await gateway().until(
    async () => receiver.received,
    (list) => list.length === 1,
  )
  const [approve = ''] = JSON.parse(message?.body ?? '{}').text.match(/http:[^|]+(?=\|)/g) ?? []
  const evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe src="${approve}"></iframe>`)
  })
  onTestFinished(() => void evil.close())
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
  const { page } = await open()
  // The whole page has loaded, and with it what the frame may show.
  await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`, { waitUntil: 'load' })
  expect(await page.frames()[1]?.locator('button').count()).toBe(0)
  await page.goto(approve)
  await page.getByRole('button', { name: 'Approve: let it run' }).waitFor()
})

test('the card shows how far each route is, in both themes and on a phone', async () => {
  await makeAskingHook()
  await withRoutes()
  const agents = [
    await waitingCall(
      gateway(),
      'psql prod -c "delete from carts where updated_at < now() - interval \'90 days\'"',
      'v1',
    ),
    await waitingCall(gateway(), 'gh pr merge 482 --squash', 'v2'),
    await waitingCall(gateway(), 'gh pr merge 482 --squash', 'v3'),
  ]
  for (const [name, look] of looks) {
    const { page, complaints } = await signIn(gateway(), look)
    await page.goto(`${gateway().url}/ui/approvals`)
    const card = page.locator('section[data-approval]').filter({ hasText: 'delete from carts' })
    await card.getByText(/ops chat sent at/).waitFor()
    await card.getByText(/on call next at/).waitFor()
    if (checked.has(name)) await expectAccessible(page)
    await screenshot(page, `approvals-${name}`)
    expect(complaints).toEqual([])
  }
  const { body } = await gateway().call('GET', '/v1/approvals?status=pending')
  for (const { approval_id } of body.approvals)
    await gateway().call('POST', `/v1/approvals/${approval_id}/deny`, {})
  for (const agent of agents) expect(await agent.reply()).toMatchObject({ permissionDecision: 'deny' })
})

test('by keys alone: approve for an hour, find the grant, revoke it', async () => {
  const { page } = await openApprovals()
  const agent = await waitingCall(gateway(), 'npm publish', 'g1')
  await page.getByText('npm publish').waitFor()
  await page.keyboard.press('a')
  const grant = page.getByLabel('How long the approval counts')
  await grant.waitFor()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('End')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await agent.reply()).toMatchObject({ permissionDecision: 'allow' })
  await page.getByRole('tab', { name: 'Grants' }).click()
  await page.getByText('npm publish').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'approval-grants')
  await page.getByRole('button', { name: 'Revoke' }).press('Enter')
  await page.getByRole('button', { name: 'Revoke: the next such call asks again' }).press('Enter')
  await page.getByText('No grant is in force').waitFor()
})

test('allow calls like this: a person reviews the drafted hook and saves it, and the next call asks nobody', async () => {
  const { page } = await openApprovals()
  const agent = await waitingCall(gateway(), 'terraform apply', 'h1')
  const card = page.locator('section[data-approval]').filter({ hasText: 'terraform apply' })
  await card.getByRole('link', { name: 'allow calls like this' }).click()
  await page.getByRole('heading', { name: 'Allow calls like this' }).waitFor()
  await page.getByLabel('Expires at').waitFor()
  await screenshot(page, 'approval-draft')
  const before = (await gateway().call('GET', '/v1/hooks')).body.hooks.length
  await page.getByRole('button', { name: /^(Create|Save)/ }).click()
  await gateway().until(
    async () => (await gateway().call('GET', '/v1/hooks')).body.hooks.length,
    (now) => now === before + 1,
  )
  const { body } = await gateway().call('GET', '/v1/approvals?status=pending')
  await gateway().call('POST', `/v1/approvals/${body.approvals[0].approval_id}/deny`, {})
  await agent.reply()
  const client = openLines(gateway().socket ?? '', { hookhelm: 1, agent: 'claude-code' })
  const native = {
    ...{ session_id: 'h2', cwd: '/srv/shop-api', hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'Bash', tool_input: { command: 'terraform apply' }, tool_use_id: 'h2' },
  }
  client.send({ id: 1, event: 'PreToolUse', native, within_ms: 100_000 })
  const { reply } = await client.next()
  expect(JSON.parse(String((reply as { stdout: string }).stdout)).hookSpecificOutput).toMatchObject({
    permissionDecision: 'allow',
  })
})

test('an administrator adds a route in the form, and it is in force', async () => {
  await gateway().call('PATCH', '/v1/settings', { settings: { approval_routes: [] } })
  const { page } = await openApprovals()
  await page.getByRole('tab', { name: 'Routes' }).click()
  await page.getByRole('button', { name: 'Add a route' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('ops chat')
  await page.getByLabel('Address or secret:NAME').fill('not an address')
  await page.getByRole('button', { name: 'Save the routes' }).click()
  await page
    .getByRole('alert')
    .getByText(/must be an http or https address/)
    .waitFor()
  await page.getByLabel('Address or secret:NAME').fill('https://chat.example/hook')
  await page.getByRole('textbox', { name: 'After', exact: true }).fill('5')
  await expectAccessible(page)
  await screenshot(page, 'approval-routes')
  await page.getByRole('button', { name: 'Save the routes' }).click()
  await gateway().until(
    async () => (await gateway().call('GET', '/v1/settings')).body.settings.approval_routes?.value,
    (routes) => routes?.length === 1,
  )
  const { body } = await gateway().call('GET', '/v1/settings')
  expect(body.settings.approval_routes.value).toEqual([
    // An address of a chat is a secret, which nobody reads again.
    { name: 'ops chat', after_minutes: 5, to: { type: 'slack', url: '********' } },
  ])
  await gateway().call('PATCH', '/v1/settings', { settings: { approval_routes: null } })
})

test('the history is filtered by status and agent, and the address keeps the filters', async () => {
  const { page } = await openApprovals()
  const agent = await waitingCall(gateway(), 'git clean -fdx', 'y1')
  await page.getByText('git clean -fdx').waitFor()
  await page.keyboard.press('d')
  await page.keyboard.press('Enter')
  await agent.reply()
  await page.goto(`${gateway().url}/ui/approvals?tab=history&status=denied`)
  await page.locator('[data-approval]').first().waitFor()
  const shown = await page.locator('[data-approval]').allInnerTexts()
  expect(shown.every((row) => row.includes('denied'))).toBe(true)
  await page.getByLabel('Agent', { exact: true }).fill('codex')
  await page.keyboard.press('Enter')
  await page.getByText('No request fits these filters').waitFor()
  expect(page.url()).toContain('agent=codex')
  expect(page.url()).toContain('status=denied')
})

test('a call that begins to wait shows a desktop notification, once permission was asked by a button', async () => {
  const { page } = await openApprovals()
  // Chromium without a screen has no notifications, so the page gets an object that keeps what it is shown.
  await page.addInitScript(`
    globalThis.shown = []
    globalThis.Notification = class { constructor(title, options) { globalThis.shown.push([title, options.body]) } close() {} }
    Notification.permission = 'default'
    Notification.requestPermission = async () => (Notification.permission = 'granted')
    Object.defineProperty(document, 'hidden', { get: () => true })
  `)
  await page.goto(`${gateway().url}/ui/approvals`)
  await page.getByRole('button', { name: 'Notify me here' }).click()
  await page.getByText('Desktop notifications are on').waitFor()
  await waitingCall(gateway(), 'git tag v1', 'n1')
  await gateway().until(
    () => page.evaluate('globalThis.shown.length'),
    (shown) => shown === 1,
  )
  expect(await page.evaluate('globalThis.shown')).toEqual([
    ['Claude Code wants git tag v1', 'this deletes from a production database'],
  ])
})
