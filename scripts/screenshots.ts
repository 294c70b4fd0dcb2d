/** `npm run screenshots`: the pictures of README and docs, made anew from the demo's data. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { openGateway, type RunningGateway } from '../src/app/gateway/open-gateway.ts'
import { createClient } from '../src/client/client.ts'
import { launchChromium, prepareChromium } from '../test/ui/chromium.ts'

const folder = join(import.meta.dirname, '../docs/images')
const MAX_BYTES = 150 * 1_024
const desktop = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

interface Picture {
  readonly name: string
  readonly path: string
  readonly theme: 'light' | 'dark'
  readonly viewport: { readonly width: number; readonly height: number }
}

prepareChromium()
const home = mkdtempSync(join(tmpdir(), 'hookhelm-screenshots-'))
const env = { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home }
const gateway = await openGateway({ env, listen: { host: '127.0.0.1', port: 0 }, socket: false })
const browser = await launchChromium()
try {
  const { tenant, pictures } = await playDemo(gateway)
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  await context.addInitScript(`sessionStorage.setItem('hookhelm.tenant', '${tenant}')`)
  await takePictures(context, pictures)
} finally {
  await browser.close()
  await gateway.close()
  rmSync(home, { recursive: true, force: true })
}

/** Plays the demo and chooses what to show of it: a forced push that a hook stopped, and that hook. */
async function playDemo({ url, token }: RunningGateway) {
  const client = createClient({ url, token })
  const { tenantId: tenant } = await client.call('demo.play', {})
  await client.close()
  const inDemo = createClient({ url, token, tenant })
  const { events } = await inDemo.call('events.list', { kind: 'block', text: 'git push --force origin' })
  await inDemo.close()
  const [event] = events
  if (event === undefined) throw new Error('the demo has no blocked forced push')
  const pictures: readonly Picture[] = [
    { name: 'home', path: '/', theme: 'light', viewport: desktop },
    { name: 'live', path: '/live', theme: 'dark', viewport: desktop },
    { name: 'event', path: `/events/${event.event_id}`, theme: 'light', viewport: desktop },
    { name: 'hook', path: `/hooks/${event.by_hook}?tab=config`, theme: 'dark', viewport: desktop },
    { name: 'phone', path: '/', theme: 'dark', viewport: phone },
  ]
  return { tenant, pictures }
}

async function takePictures(context: BrowserContext, pictures: readonly Picture[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const page = await context.newPage()
  await page.goto(gateway.loginLink())
  await page.locator('main h1').waitFor()
  for (const { name, path, theme, viewport } of pictures) {
    await page.emulateMedia({ colorScheme: theme })
    await page.setViewportSize(viewport)
    await page.goto(`${gateway.url}/ui${path}`)
    await page.locator('main h1').waitFor()
    await page.waitForLoadState('networkidle')
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    const bytes = await pictureOf(page)
    if (bytes.length > MAX_BYTES) throw new Error(`${name}.webp has ${bytes.length} bytes`)
    writeFileSync(join(folder, `${name}.webp`), bytes)
    console.log(`docs/images/${name}.webp ${Math.round(bytes.length / 1_024)} KB`)
  }
}

/** Chromium itself writes WebP, a fifth of a PNG. */
async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  return Buffer.from(data, 'base64')
}
