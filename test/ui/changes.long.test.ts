import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'

const gateway = shared(() => ({
  functions: {
    fail: () => {
      throw new Error('as it should')
    },
    refuse: () => ({ kind: 'block', reason: 'no' }),
  },
}))
const { signIn } = browser()

const call = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const failing = (name: string) => ({
  name,
  event: 'pre_tool_use',
  handler_type: 'function',
  matcher: 'Bash(fail*)',
  config: { name: 'fail' },
})

test('two people see each other change hooks, secrets and files, without a reload', async () => {
  const [ada, bob] = [await signIn(gateway()), await signIn(gateway())]
  await bob.page.goto(`${gateway().url}/ui/hooks`)
  await bob.page.getByRole('heading', { name: 'Hooks' }).waitFor()
  const asked = new Set<string>()
  bob.page.on('framenavigated', () => asked.add('a reload'))
  const hookId = await gateway().hook({ ...failing('made by ada'), matcher: 'Bash(never*)' })
  await bob.page.getByText('made by ada').first().waitFor()
  await ada.page.goto(`${gateway().url}/ui/settings?tab=secrets`)
  const file = join(gateway().home, 'hooks.yaml')
  const command =
    'hooks: [{ id: from-a-file, event: stop, handler_type: command, config: { command: "true" } }]\n'
  writeFileSync(file, command)
  await bob.page.getByText('from-a-file').first().waitFor()
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  await bob.page.getByText('made by ada').first().waitFor({ state: 'detached' })
  writeFileSync(file, 'hooks: []\n')
  await gateway().call('PUT', '/v1/secrets/SHARED_KEY', { value: 'a-secret-value' })
  await ada.page.getByText('SHARED_KEY', { exact: true }).waitFor()
  expect([...asked]).toEqual([])
  expect([ada.complaints, bob.complaints]).toEqual([[], []])
})

test('a page that the gateway does not let follow changes at first asks again, and follows them', async () => {
  const { page } = await signIn(gateway())
  let refusals = 0
  await page.routeWebSocket('**/ws*', (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      const { id, method } = JSON.parse(String(text))
      if (method !== 'changes.tail' || refusals++ > 0) return server.send(text)
      const error = { code: 'UNAVAILABLE', message: 'the database is busy', retryable: true }
      socket.send(JSON.stringify({ type: 'res', id, ok: false, error }))
    })
  })
  await page.goto(`${gateway().url}/ui/hooks`)
  await page.getByRole('heading', { name: 'Hooks' }).waitFor()
  await expect.poll(() => refusals).toBe(1)
  await gateway().hook({ ...failing('made after a refusal'), matcher: 'Bash(never*)' })
  await page.getByText('made after a refusal').first().waitFor()
})

test('a page that nothing happens on asks the gateway for nothing', async () => {
  const { page } = await signIn(gateway())
  await gateway().dispatch('pre_tool_use', call('ls'))
  await page.clock.install()
  for (const view of ['', 'hooks', 'recovery', 'guards', 'agents', 'sessions', 'audit']) {
    await page.goto(`${gateway().url}/ui/${view}`)
    await page.locator('main h1').waitFor()
    await page.waitForLoadState('networkidle')
    const asked: string[] = []
    const note = (request: { url(): string }) => asked.push(request.url())
    page.on('request', note)
    // Longer than the intervals at which lists used to ask.
    await page.clock.runFor(60_000)
    await page.waitForLoadState('networkidle')
    page.off('request', note)
    expect([view, asked]).toEqual([view, []])
  }
})

test('the sidebar shows guards that are off, in every view and by itself', async () => {
  const { page } = await signIn(gateway())
  await page.goto(`${gateway().url}/ui/settings`)
  const guards = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /Guards/ })
  await guards.waitFor()
  expect(await guards.textContent()).toBe('Guards')
  const hookId = await gateway().hook(failing('unlucky'))
  for (let count = 0; count < 5; count++) await gateway().dispatch('pre_tool_use', call('fail'))
  await page.getByRole('link', { name: 'Guards 1 guard is off' }).waitFor()
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  await page.getByRole('link', { name: 'Guards', exact: true }).waitFor()
})

test('going from view to view again and again keeps live data coming', async () => {
  const { page } = await signIn(gateway())
  const link = (name: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name })
  for (let round = 0; round < 6; round++)
    for (const view of ['Live', 'Sessions']) {
      await link(view).click()
      await page.getByRole('heading', { name: view, level: 1 }).waitFor()
    }
  await link('Live').click()
  await page.getByText('live', { exact: true }).waitFor()
  const { body } = await gateway().dispatch('pre_tool_use', call('echo still here'))
  await page.locator(`[data-event="${body.event_id}"]`).waitFor()
})

/** A script for the page: the first answer of a method waits until the page is told to go on. */
const heldAnswerOf = (method: string) => `
  const realFetch = fetch
  let isHeld = false
  fetch = async (input, init) => {
    const answer = await realFetch(input, init)
    if (isHeld || !String(input).endsWith('/${method}')) return answer
    isHeld = true
    document.title = 'held'
    await new Promise((resolve) => { window.goOn = resolve })
    return answer
  }`

test('a change while the first answer is still on its way is shown too', async () => {
  const { page } = await signIn(gateway())
  await page.addInitScript(heldAnswerOf('secrets.list'))
  const changed = new Promise<void>((resolve) => {
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (String(payload).includes('"secrets"') && String(payload).includes('"change"')) resolve()
      }),
    )
  })
  await page.goto(`${gateway().url}/ui/settings?tab=secrets`)
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe('held')
  const { status } = await gateway().call('PUT', '/v1/secrets/LATE_KEY', { value: 'a-secret-value' })
  expect(status).toBe(200)
  await changed
  await page.evaluate('goOn()')
  await page.getByText('LATE_KEY', { exact: true }).waitFor()
})
