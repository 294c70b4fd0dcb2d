import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import { launchChromium } from './chromium.ts'

/** Screenshots for people to look at; the folder is ignored. */
const screenshots = join(import.meta.dirname, '../../ui/screenshots')

export interface OpenedPage {
  readonly page: Page
  /** What the browser complained about: errors of scripts, and refusals of the content security policy. */
  readonly complaints: string[]
}

/** One browser for all tests of a file. Each test opens pages in profiles of their own. */
export function browser() {
  let running: Browser | undefined
  beforeAll(async () => {
    running = await launchChromium()
  })
  afterAll(() => running?.close())

  async function open({ isPhone = false, scheme = 'light' as 'light' | 'dark' } = {}): Promise<OpenedPage> {
    if (running === undefined) throw new Error('the browser is not open yet')
    const context = await running.newContext({
      viewport: isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
      colorScheme: scheme,
    })
    // A guard against hanging; it measures nothing.
    context.setDefaultTimeout(90_000)
    const page = await context.newPage()
    const traffic = recordTraffic(page)
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await printPage(page, traffic)
      await context.close()
    })
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text())
    })
    return { page, complaints }
  }

  return {
    open,
    /** A page of someone who followed the login link. */
    async signIn(gateway: Running, options: Parameters<typeof open>[0] = {}): Promise<OpenedPage> {
      const opened = await open(options)
      await opened.page.goto(gateway.loginLink())
      await opened.page.getByRole('navigation', { name: 'Views' }).waitFor()
      return opened
    },
  }
}

/** The last frames of the WebSocket and the last calls of a page. */
function recordTraffic(page: Page): readonly string[] {
  const traffic: string[] = []
  const add = (text: string) => {
    traffic.push(`${Math.round(performance.now())} ${text.slice(0, 300)}`)
    if (traffic.length > 60) traffic.shift()
  }
  page.on('websocket', (socket) => {
    add('socket opened')
    socket.on('framesent', ({ payload }) => add(`> ${payload}`))
    socket.on('framereceived', ({ payload }) => add(`< ${payload}`))
    socket.on('close', () => add('socket closed'))
  })
  page.on('request', (request) => add(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
  page.on('response', (response) => add(`${response.status()} ${response.url()}`))
  return traffic
}

/** A failure that only a busy machine shows leaves nothing but the output of its run. */
async function printPage(page: Page, traffic: readonly string[]): Promise<void> {
  const text = await page.locator('body').textContent({ timeout: 10_000 }).catch(String)
  process.stdout.write(`${page.url()} showed:\n${text}\n\nIts last traffic:\n${traffic.join('\n')}\n`)
}

export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
}
