import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import type { browser, OpenedPage } from './browser.fixture.ts'

export const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const choose = (page: Page, handler: string) =>
  page.getByRole('radiogroup', { name: 'Handler' }).getByText(handler, { exact: true }).click()

/** What people do with the form of a hook. */
export function hookForm(gateway: () => Running, signIn: ReturnType<typeof browser>['signIn']) {
  const visit = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${gateway().url}/ui${path}`)
    await page.locator('main h1').waitFor()
  }

  /** The form of a new hook, as someone opens it. */
  const newHook = async (): Promise<OpenedPage> => {
    const opened = await signIn(gateway())
    await visit(opened.page, '/hooks/new')
    return opened
  }

  /** Saves the form and returns the hook that the gateway stored. */
  const save = async (page: Page) => {
    await button(page, 'Save').click()
    await page.getByText('stored · version 1').waitFor()
    const { body } = await gateway().call('GET', `/v1/hooks/${page.url().split('/').at(-1)?.split('?')[0]}`)
    return body.hook
  }

  /** Tries to save the form and returns what is said at the field that is wrong. */
  const refusalAt = async (page: Page, name: string): Promise<string> => {
    await button(page, 'Save').click()
    await page.locator('main').getByRole('alert').first().waitFor()
    const wrong = field(page, name)
    await expect.poll(() => wrong.getAttribute('aria-invalid')).toBe('true')
    expect(new URL(page.url()).pathname).toBe('/ui/hooks/new')
    return (await page.locator('main').getByRole('alert').allTextContents()).join()
  }
  return { visit, newHook, save, refusalAt }
}
