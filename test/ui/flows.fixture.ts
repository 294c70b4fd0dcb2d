import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import type { browser } from './browser.fixture.ts'
import { cuttableDoor } from './cut-connection.fixture.ts'

/** What people do in the web app, once for each database. */
export interface FlowParts extends ReturnType<typeof browser> {
  readonly gateway: Running
}

export const bashCall = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

const blockScript = (reason: string) => ({
  source: `function handle() {\n  return { decision: 'block', reason: '${reason}' }\n}\n`,
})

export const blockingHook = {
  event: 'pre_tool_use',
  handler_type: 'script',
  config: blockScript('Not here.'),
}

export const field = (page: Page, name: string) => page.getByRole('textbox', { name })
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Opens a view by its address. */
export async function visit(page: Page, at: Running, path: string): Promise<void> {
  await page.goto(`${at.url}/ui${path}`)
  await page.locator('main h1').waitFor()
}

/** A person makes a hook, fires it, saves it, watches it decide in Live, reads why, and changes it. */
export async function makeAndChangeHook({ gateway, signIn }: FlowParts): Promise<void> {
  for (const command of ['terraform apply', 'terraform apply -auto-approve', 'terraform plan'])
    await gateway.dispatch('pre_tool_use', bashCall(command))
  const { page, complaints } = await signIn(gateway)
  await visit(page, gateway, '/hooks')
  await page.getByRole('link', { name: 'New hook' }).click()
  await field(page, 'Name').fill('no-apply')
  await field(page, 'Applies to').fill('Bash(terraform apply*)')
  await field(page, 'Script').fill(blockScript('Plan first.').source)
  await page.getByRole('meter', { name: '2 of 3 match' }).waitFor()

  await page.getByRole('tab', { name: 'Test' }).click()
  await field(page, 'Tool input').fill('{ "command": "terraform apply" }')
  await button(page, 'Fire').click()
  await page.getByText('Plan first.').waitFor()
  expect(await page.locator('main [data-outcome]').first().getAttribute('data-outcome')).toBe('block')

  await button(page, 'Save').click()
  await page.getByText('stored · version 1').waitFor()
  await visit(page, gateway, '/live')
  await page.getByText('live', { exact: true }).waitFor()
  const { body } = await gateway.dispatch('pre_tool_use', bashCall('terraform apply -target=db'))
  expect(body.decision).toMatchObject({ kind: 'block', reason: 'Plan first.' })
  await page.locator(`[data-event="${body.event_id}"]`).click()
  await page.getByText('Blocked').first().waitFor()
  const event = page.getByRole('complementary', { name: 'Event' })
  await expect.poll(() => event.getByRole('status').first().textContent()).toContain('no-apply — Plan first.')

  await page.getByRole('link', { name: 'Open in Test' }).click()
  await page.getByText('terraform apply -target=db').first().waitFor()
  await page.getByRole('tab', { name: 'Config' }).click()
  await field(page, 'Script').fill(blockScript('Plan and ask first.').source)
  await button(page, 'Save version 2').click()
  await page.getByText('stored · version 2').waitFor()
  const after = await gateway.dispatch('pre_tool_use', bashCall('terraform apply'))
  expect(after.body.decision.reason).toBe('Plan and ask first.')
  expect(complaints).toEqual([])
}

/** Two people look at one hook; each sees what the other changes. */
export async function changeInTwoBrowsers({ gateway, signIn }: FlowParts): Promise<void> {
  const hookId = await gateway.hook({ ...blockingHook, name: 'seen-by-two', matcher: 'Bash(seen*)' })
  const [first, second] = [await signIn(gateway), await signIn(gateway)]
  await visit(first.page, gateway, '/hooks')
  await visit(second.page, gateway, `/hooks/${hookId}`)
  const row = first.page.locator('[data-hook="seen-by-two"]')
  await row.getByText('decides').waitFor()
  await button(second.page, 'Shadow').click()
  await row.getByText('shadow', { exact: true }).waitFor()
  await row.getByRole('switch').dispatchEvent('click')
  await button(second.page, 'Enable').waitFor()
  await second.page.getByText('stored · version 3').waitFor()
}

/** The connection ends, events are decided meanwhile, and Live shows them when it is back. */
export async function loseConnection({ gateway, open }: FlowParts): Promise<void> {
  const door = await cuttableDoor(gateway.url)
  const { page } = await open()
  await page.goto(gateway.loginLink().replace(gateway.url, door.url))
  await page.goto(`${door.url}/ui/live`)
  const dispatch = async (command: string): Promise<string> =>
    (await gateway.dispatch('pre_tool_use', bashCall(command))).body.event_id
  const row = (eventId: string) => page.locator(`[data-event="${eventId}"]`)
  const first = await dispatch('echo one')
  await row(first).waitFor()
  door.cut()
  const bar = page.getByText('The connection to the gateway is lost.')
  await bar.waitFor()
  const [second, third] = [await dispatch('echo two'), await dispatch('echo three')]
  expect(await row(first).count()).toBe(1)
  door.restore()
  await row(third).waitFor()
  await row(second).waitFor()
  await bar.waitFor({ state: 'detached' })
}
