import { expect, test } from 'vitest'
import { running, shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'

const gateway = shared(() => ({ functions: { pass: () => undefined } }))
const { signIn } = browser()

test('the palette finds a hook by its name, and an action', async () => {
  const hookId = await gateway().hook({
    name: 'licence-check',
    event: 'pre_tool_use',
    handler_type: 'function',
    config: { name: 'pass' },
  })
  const { page, complaints } = await signIn(gateway())
  await page.keyboard.press('ControlOrMeta+k')
  const input = page.getByRole('textbox', { name: 'Search and commands' })
  await input.fill('licence')
  await page.getByRole('button', { name: 'licence-check hook · pre_tool_use' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${gateway().url}/ui/hooks/${hookId}`)
  await page.keyboard.press('ControlOrMeta+k')
  await input.fill('dark theme')
  await page.keyboard.press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  expect(complaints).toEqual([])
})

test('only a person who may act for several tenants can switch between them', async () => {
  const own = await running()
  const { page } = await signIn(own)
  const tenantSwitch = page.getByRole('button', { name: /^Tenant .*: switch$/ })
  expect(await tenantSwitch.count()).toBe(0)
  await own.call('POST', '/v1/demo', {})
  await tenantSwitch.click()
  await page.getByRole('menuitem', { name: 'Work for demo' }).click()
  await page.getByText('This is demo data').waitFor()
  await tenantSwitch.click()
  await page.getByRole('menuitem', { name: 'Work for default' }).click()
  await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor()
})

test('a deletion says what it destroys, and can be undone for ten seconds', async () => {
  await gateway().call('PUT', '/v1/secrets/DEPLOY_KEY', { value: 'a-secret-value' })
  const secrets = async () => (await gateway().call('GET', '/v1/secrets')).body.secrets.length
  const { page } = await signIn(gateway())
  await page.clock.install()
  await page.goto(`${gateway().url}/ui/settings?tab=secrets`)
  const remove = page.getByRole('button', { name: 'Delete', exact: true })
  const sure = page.getByRole('button', { name: 'Delete DEPLOY_KEY: hooks that use it fail' })
  const undo = page.getByRole('button', { name: 'Undo' })
  await remove.click()
  await sure.click()
  await undo.click()
  await page.clock.runFor(20_000)
  expect(await secrets()).toBe(1)
  await remove.click()
  await sure.click()
  await undo.waitFor()
  expect(await secrets()).toBe(1)
  await page.clock.runFor(10_000)
  await page.getByText('DEPLOY_KEY', { exact: true }).waitFor({ state: 'detached' })
  expect(await secrets()).toBe(0)
})
