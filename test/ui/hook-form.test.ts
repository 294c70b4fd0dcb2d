import { expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'
import { button, field, hookForm } from './hook-form.fixture.ts'

const gateway = shared()
const { signIn } = browser()
const { newHook, save, visit } = hookForm(gateway, signIn)

test('GC-126 a new hook starts with a timeout of 5000 ms, priority 100, and block on a timeout', async () => {
  const { page } = await newHook()
  expect(await field(page, 'Timeout in ms').inputValue()).toBe('5000')
  expect(await field(page, 'Priority').inputValue()).toBe('100')
  expect(await page.getByRole('combobox', { name: 'If it times out' }).inputValue()).toBe('block')
  expect(await page.getByRole('radio', { name: 'command' }).isEnabled()).toBe(true)
})

test('GC-127 a built-in hook has its four tabs, a system badge, and a form that only shows', async () => {
  const { body } = await gateway().call('GET', '/v1/hooks')
  const builtin = body.hooks.find(({ source }: { source: string }) => source === 'builtin')
  const { page } = await signIn(gateway())
  await visit(page, `/hooks/${builtin.id}`)
  await page.locator('h1').getByText('system', { exact: false }).waitFor()
  expect(await page.getByRole('tab').allTextContents()).toEqual(['Overview', 'Config', 'Test', 'History'])
  await page.getByRole('tab', { name: 'Config' }).click()
  await page.getByText('This hook comes with Hookhelm').waitFor()
  expect(await field(page, 'Script').getAttribute('aria-readonly')).toBe('true')
  expect(await field(page, 'Name').isDisabled()).toBe(true)
  for (const name of ['Save', 'Delete', 'Shadow'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  await button(page, builtin.enabled ? 'Disable' : 'Enable').click()
  await button(page, builtin.enabled ? 'Enable' : 'Disable').waitFor()
  await button(page, builtin.enabled ? 'Enable' : 'Disable').click()
  await button(page, builtin.enabled ? 'Disable' : 'Enable').waitFor()
})

test('every change of a hook shows: made, changed, switched, deleted, and a change that fails', async () => {
  const { page } = await newHook()
  await field(page, 'Name').fill('shown-change')
  const { id } = await save(page)
  await page.getByRole('tab', { name: 'Config' }).click()
  await field(page, 'Name').fill('shown-change-2')
  await button(page, 'Save version 2').click()
  await page.getByText('stored · version 2').waitFor()
  await button(page, 'Disable').click()
  await page.locator('h1').getByText('off', { exact: true }).waitFor()
  await button(page, 'Delete').click()
  await page.getByRole('button', { name: 'Delete shown-change-2' }).click()
  await page.getByRole('heading', { name: 'Hooks', exact: true }).waitFor()
  await visit(page, '/hooks/new')
  await gateway().call('DELETE', `/v1/hooks/${id}`)
  await page.goto(`${gateway().url}/ui/hooks/${id}`)
  await page.getByRole('alert').getByText('hook not found').waitFor()
})
