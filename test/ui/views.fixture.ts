import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type Running, running, shared } from '../gateway/running.fixture.ts'
import { browser, type OpenedPage, screenshot } from './browser.fixture.ts'
import { seedRecovery } from './recovery.fixture.ts'
import { seedRuns, sharedRunner } from './runs.fixture.ts'
import { seed } from './seed.fixture.ts'

type View = readonly [name: string, path: string]

/** How a view is looked at, and what is done besides: `axe` checks the rules of accessibility. */
type Look = readonly [
  size: string,
  scheme: 'light' | 'dark',
  viewport: { readonly width: number; readonly height: number },
  more: readonly ('axe' | 'picture')[],
]
const desktop = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

export const everyLook: readonly Look[] = [
  ['desktop', 'light', desktop, ['axe', 'picture']],
  ['desktop', 'dark', desktop, ['picture']],
  ['phone', 'dark', phone, ['axe', 'picture']],
  ['phone', 'light', phone, ['picture']],
]

/** Each size and each theme once, one check of the rules, and no pictures. */
export const fewLooks: readonly Look[] = [
  ['desktop', 'light', desktop, ['axe']],
  ['phone', 'dark', phone, []],
]

/** Every view in these looks. */
export function viewTests(looks: readonly Look[]): void {
  const gateway = shared()
  const { signIn, open } = browser()
  sharedRunner(gateway)

  let seeded: Awaited<ReturnType<typeof seed>>
  let runs: Awaited<ReturnType<typeof seedRuns>>
  let recovery: Awaited<ReturnType<typeof seedRecovery>>
  beforeAll(async () => {
    seeded = await seed(gateway())
    runs = await seedRuns(gateway())
    recovery = await seedRecovery(gateway())
  }, 120_000)

  /** Every view with its address. The name is that of its screenshots. */
  function views(): readonly View[] {
    const { eventIds, hookIds, sessionId } = seeded
    const event = (kind: keyof typeof eventIds) => [`event-${kind}`, `/events/${eventIds[kind]}`] as const
    const hook = (tab: string) => [`hook-${tab}`, `/hooks/${hookIds.noForce}?tab=${tab}`] as const
    const settings = (tab: string) => [`settings-${tab}`, `/settings?tab=${tab}`] as const
    return [
      ['home', '/'],
      ['live', '/live'],
      ['live-event', `/live?event=${eventIds.rewrite}`],
      ['live-hostile', `/live?event=${eventIds.hostile}`],
      ['sessions', '/sessions'],
      ['session', `/sessions/${sessionId}`],
      ['session-hostile', '/sessions/hostile'],
      ...(['block', 'rewrite', 'ask', 'opened', 'failed', 'shadow', 'hostile', 'big'] as const).map(event),
      ['hooks', '/hooks'],
      ['hook-new', '/hooks/new'],
      ...['overview', 'config', 'test', 'history'].map(hook),
      ['runs', '/runs'],
      ...(['enriched', 'blocked', 'waiting'] as const).map(
        (kind) => [`run-${kind}`, `/runs/${runs[kind]}`] as const,
      ),
      ['agents', '/agents'],
      ['blueprints', '/agents?tab=blueprints'],
      ['blueprint-new', '/agents/_new'],
      ...['agent', 'hooks', 'schemas', 'json', 'start'].map(
        (tab) => [`blueprint-${tab}`, `/agents/report-generator?tab=${tab}`] as const,
      ),
      ['recovery', '/recovery'],
      ...['firings', 'teams', 'environments'].map(
        (tab) => [`recovery-${tab}`, `/recovery?tab=${tab}`] as const,
      ),
      ['recovery-simulate', `/recovery?tab=simulate&from=${recovery.event}`],
      ['recovery-rule', `/recovery/rules/mend-the-printer?from=${recovery.event}`],
      ['recovery-rule-new', '/recovery/rules/_new'],
      ['recovery-firing', `/recovery/firings/${recovery.firing}`],
      ['guards', '/guards'],
      ['audit', '/audit'],
      ...['appearance', 'tokens', 'secrets', 'providers', 'limits', 'tenants'].map(settings),
      ['api', '/api'],
      ['not-found', '/nowhere'],
    ]
  }

  test('every view fits both sizes in both themes, is accessible, and the browser has no complaint', async () => {
    const opened = await signIn(gateway())
    expect(await inspect(opened, gateway(), views(), looks)).toEqual([])
  }, 600_000)

  test('so do the sign-in and the views of a gateway without any event', async () => {
    const fresh = await running()
    const signedOut = await open()
    expect(await inspect(signedOut, fresh, [['sign-in', '/']], looks)).toEqual([])
    const empty = ['live', 'sessions', 'runs', 'recovery', 'audit'].map(
      (view) => [`empty-${view}`, `/${view}`] as const,
    )
    const opened = await signIn(fresh)
    expect(await inspect(opened, fresh, [['set-up', '/']], looks)).toEqual([])
    expect(await opened.page.getByLabel('done').count()).toBe(0)
    expect(await inspect(opened, fresh, empty, looks)).toEqual([])
  }, 600_000)
}

/** Opens each view in every look, and returns what is wrong. */
async function inspect(
  { page, complaints }: OpenedPage,
  at: Running,
  wanted: readonly View[],
  looks: readonly Look[],
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [name, path] of wanted) {
    await page.goto(`${at.url}/ui${path}`)
    for (const [size, colorScheme, viewport, more] of looks) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize(viewport)
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
      await isFilled(page)
      const look = `${name}-${size}-${colorScheme}`
      if (more.includes('picture')) await screenshot(page, look)
      problems.push(...(await overflowOf(page)).map((problem) => `${look}: ${problem}`))
      if (more.includes('axe'))
        problems.push(...(await violationsOf(page)).map((problem) => `${look}: ${problem}`))
    }
    problems.push(...complaints.splice(0).map((complaint) => `${name}: ${complaint}`))
  }
  return problems
}

/** Waits until the view shows its data: a title, and nothing that still loads. */
async function isFilled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  await page.evaluate('document.fonts.ready')
}

async function overflowOf(page: Page): Promise<readonly string[]> {
  const overflow: unknown = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  return overflow === 0 ? [] : [`is ${overflow} px wider than the screen`]
}

async function violationsOf(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'] })
    // Without it every run opens a page of its own to join the results of frames, and a view has none.
    .setLegacyMode()
    .analyze()
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ''}`).join(' | ')}`,
  )
}
