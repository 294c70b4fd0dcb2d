import { expect, test } from 'vitest'
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

test('a blocked call appears in Live without a reload, and its page says why', async () => {
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
  await page.getByText('Blocked').first().waitFor()
  expect(await page.getByRole('status').first().textContent()).toContain('Push without --force.')
  await page.getByRole('list', { name: 'Hooks in their order' }).getByText('no-force').waitFor()
  expect(complaints).toEqual([])
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
  await page.getByText('Allowed').first().waitFor()
  // A character that reverses what follows is written out: the text reads as it runs.
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('\\u202egnp.exe')
  expect(await page.evaluate('window.hacked')).toBeUndefined()
  expect(complaints).toEqual([])
})

test('a person without a session is asked to sign in, and sees nothing', async () => {
  const { page } = await open()
  await page.goto(`${gateway().url}/ui/live`)
  await page.getByText('Or paste a token').waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
})

test('after a lost connection the events in between appear', () =>
  loseConnection({ gateway: gateway(), ...flowParts }))
