import { expect, test } from 'vitest'
import { tokenFor } from '../gateway/doors.fixture.ts'
import { shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'
import { bashCall as call, loseConnection } from './flows.fixture.ts'

const gateway = shared(() => ({
  // A test reaches it through another port.
  hosts: ['127.0.0.1'],
  functions: { refuse: () => ({ kind: 'block', reason: 'Push without --force.' }) },
}))
const flowParts = browser()
const { signIn, open } = flowParts

const refuse = {
  name: 'no-force',
  event: 'pre_tool_use',
  handler_type: 'function',
  matcher: 'Bash(git push --force*)',
  config: { name: 'refuse' },
}

/** A script for the page: the rows of one text filter begin to arrive and end only when the page gives them up. */
const endlessRowsFor = (text: string) => `
  const realFetch = fetch
  fetch = async (input, init) => {
    if (!String(init?.body).includes('"text":"${text}"')) return realFetch(input, init)
    document.title = '${text} arrived'
    const body = new ReadableStream({
      start: (rows) => {
        rows.enqueue(new TextEncoder().encode('{"events":['))
        init.signal.addEventListener('abort', () => rows.error(new DOMException('', 'AbortError')))
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }`

test('a blocked call appears in Live without a reload, and the event beside the list says why', async () => {
  await gateway().hook(refuse)
  const { page, complaints } = await signIn(gateway())
  await page.goto(`${gateway().url}/ui/live`)
  await page.getByText('live', { exact: true }).waitFor()
  const { body } = await gateway().dispatch('pre_tool_use', call('git push --force origin main'))
  expect(body.decision.kind).toBe('block')
  const row = page.locator(`[data-event="${body.event_id}"]`)
  await row.waitFor()
  expect(await row.textContent()).toContain('git push --force origin main')
  expect(await row.locator('[data-outcome]').getAttribute('data-outcome')).toBe('block')
  await row.click()
  const drawer = page.getByRole('complementary', { name: 'Event' })
  await drawer.getByText('Blocked').first().waitFor()
  await expect.poll(() => drawer.getByRole('status').first().textContent()).toContain('Push without --force.')
  await drawer.getByRole('list', { name: 'Hooks in their order' }).getByText('no-force').waitFor()
  expect(complaints).toEqual([])
})

test('an event opens beside the list by keys, moves with j and k, and has an address and a page of its own', async () => {
  const { page, complaints } = await signIn(gateway())
  const first = await gateway().dispatch('pre_tool_use', call('echo one'))
  const second = await gateway().dispatch('pre_tool_use', call('echo two'))
  await page.goto(`${gateway().url}/ui/live?filter=echo`)
  const row = ({ body }: typeof first) => page.locator(`[data-event="${body.event_id}"]`)
  await row(second).waitFor()
  const drawer = page.getByRole('complementary', { name: 'Event' })
  const heading = (text: string) => drawer.getByRole('heading', { name: text, level: 1 })
  await page.keyboard.press('j')
  expect(await drawer.count()).toBe(0)
  await page.keyboard.press('Enter')
  await heading('echo two').waitFor()
  await page.keyboard.press('j')
  await heading('echo one').waitFor()
  expect(await row(first).getAttribute('aria-current')).toBe('true')
  expect(page.url()).toBe(`${gateway().url}/ui/live?filter=echo&event=${first.body.event_id}`)
  await page.keyboard.press('k')
  await heading('echo two').waitFor()
  await page.reload()
  await heading('echo two').waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(await page.title()).toBe('Live · Hookhelm')
  expect(page.url()).toBe(`${gateway().url}/ui/live?filter=echo`)
  await row(first).click()
  await drawer.getByRole('link', { name: 'Open as a page' }).click()
  await page.waitForURL(`${gateway().url}/ui/events/${first.body.event_id}`)
  await page.getByRole('heading', { name: 'echo one', level: 1 }).waitFor()
  expect(complaints).toEqual([])
})

test('a click with ctrl opens the page of the event in another tab', async () => {
  const { page } = await signIn(gateway())
  const { body } = await gateway().dispatch('pre_tool_use', call('echo tab'))
  await page.goto(`${gateway().url}/ui/live`)
  const row = page.locator(`[data-event="${body.event_id}"]`)
  await row.waitFor()
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    row.click({ modifiers: ['ControlOrMeta'] }),
  ])
  await tab.waitForURL(`${gateway().url}/ui/events/${body.event_id}`)
  expect(await page.getByRole('complementary', { name: 'Event' }).count()).toBe(0)
})

test('a viewer reads beside the list what was decided, and is offered no page that would be refused', async () => {
  const { token } = await tokenFor(gateway(), { role: 'viewer' })
  const { page, complaints } = await open()
  await page.goto(`${gateway().url}/ui/live`)
  await page.getByLabel('Or paste a token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const { body } = await gateway().dispatch('pre_tool_use', call('git push --force viewer'))
  await page.locator(`[data-event="${body.event_id}"]`).click()
  const drawer = page.getByRole('complementary', { name: 'Event' })
  await drawer.getByText('Push without --force.').waitFor()
  await drawer.getByText('no-force').waitFor()
  expect(await drawer.getByRole('link', { name: 'Open as a page' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('on a phone an event takes the whole page, also by a link to the list', async () => {
  const { page } = await signIn(gateway(), { isPhone: true })
  const { body } = await gateway().dispatch('pre_tool_use', call('echo phone'))
  await page.goto(`${gateway().url}/ui/live`)
  await page.locator(`[data-event="${body.event_id}"]`).click()
  await page.waitForURL(`${gateway().url}/ui/events/${body.event_id}`)
  await page.goto(`${gateway().url}/ui/live?event=${body.event_id}`)
  await page.waitForURL(`${gateway().url}/ui/events/${body.event_id}`)
})

test('the filter narrows what is shown and what arrives, and stands in the address', async () => {
  const { page } = await signIn(gateway())
  await page.goto(`${gateway().url}/ui/live`)
  const allowed = await gateway().dispatch('pre_tool_use', call('ls -la'))
  await page.locator(`[data-event="${allowed.body.event_id}"]`).waitFor()
  await page.getByRole('textbox', { name: 'Filter' }).fill('decision:block')
  await page.locator(`[data-event="${allowed.body.event_id}"]`).waitFor({ state: 'detached' })
  const later = await gateway().dispatch('pre_tool_use', call('ls'))
  const blocked = await gateway().dispatch('pre_tool_use', call('git push --force'))
  await page.locator(`[data-event="${blocked.body.event_id}"]`).waitFor()
  expect(await page.locator(`[data-event="${later.body.event_id}"]`).count()).toBe(0)
  expect(new URL(page.url()).searchParams.get('filter')).toBe('decision:block')
})

test('typing on while the rows of an earlier filter still arrive shows the rows of the last one', async () => {
  const { page, complaints } = await signIn(gateway())
  await page.addInitScript(endlessRowsFor('half'))
  await page.goto(`${gateway().url}/ui/live`)
  const { body } = await gateway().dispatch('pre_tool_use', call('echo half done'))
  const filter = page.getByRole('textbox', { name: 'Filter' })
  await filter.fill('half')
  await page.waitForFunction("document.title === 'half arrived'")
  await filter.pressSequentially(' done')
  await page.locator(`[data-event="${body.event_id}"]`).waitFor()
  expect(await filter.inputValue()).toBe('half done')
  expect(complaints).toEqual([])
})

test('text that looks like HTML is text', async () => {
  const { page, complaints } = await signIn(gateway())
  await page.goto(`${gateway().url}/ui/live`)
  const hostile =
    '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>\u202egnp.exe'
  const { body } = await gateway().dispatch('pre_tool_use', call(hostile))
  const row = page.locator(`[data-event="${body.event_id}"]`)
  await row.waitFor()
  expect(await row.textContent()).toContain('<img src=x')
  await row.click()
  const drawer = page.getByRole('complementary', { name: 'Event' })
  await drawer.getByText('Allowed').first().waitFor()
  // A character that reverses what follows is written out: the text reads as it runs.
  expect(await drawer.getByRole('heading', { level: 1 }).textContent()).toContain('\\u{202e}gnp.exe')
  expect(await page.evaluate('window.hacked')).toBeUndefined()
  expect(complaints).toEqual([])
})

test('a person without a session is asked to sign in, and sees nothing', async () => {
  const { page } = await open()
  await page.goto(`${gateway().url}/ui/live`)
  await page.getByText('Or paste a token').waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
})

test('a list that could not be read is read again when the next event arrives', async () => {
  const { page } = await signIn(gateway())
  const before = await gateway().dispatch('pre_tool_use', call('echo before'))
  let lists = 0
  // Live reads the list when it opens, and again when its feed has begun. The second fails.
  await page.route('**/v1/call/events.list', (route) => (++lists === 2 ? route.abort() : route.continue()))
  await page.goto(`${gateway().url}/ui/live`)
  await expect.poll(() => lists, { timeout: 60_000 }).toBeGreaterThanOrEqual(2)
  const after = await gateway().dispatch('pre_tool_use', call('echo after'))
  await page.locator(`[data-event="${after.body.event_id}"]`).waitFor()
  await page.locator(`[data-event="${before.body.event_id}"]`).waitFor()
})

test('after a lost connection the events in between appear', () =>
  loseConnection({ gateway: gateway(), ...flowParts }))
