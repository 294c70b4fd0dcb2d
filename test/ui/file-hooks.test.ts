import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { trustFile } from '../../src/hook-files/hook-folders.ts'
import { trustStore } from '../../src/hook-files/trust.ts'
import { shared } from '../gateway/running.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'
import { bashCall, blockingHook, button, visit } from './flows.fixture.ts'

const home = mkdtempSync(join(tmpdir(), 'hookhelm-file-hooks-'))
const repository = join(home, 'shop')
const managed = join(home, 'managed')
const stranger = join(home, 'stranger')

const hook = (id: string, conditions: string) =>
  `  - id: ${id}\n    event: pre_tool_use\n    ${conditions}\n    handler_type: answer\n    config: { decision: block, reason: not here }\n`

function write(folder: string, ...hooks: readonly string[]): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'hooks.yaml')
  const text = `version: 1\nhooks:\n${hooks.join('')}`
  writeFileSync(file, text)
  return text
}

write(home, hook('of-user', 'matcher: "Bash(git push --force*)"'))
write(managed, hook('of-admin', 'match: { command: { program: rm, flags: [r] } }'))
mkdirSync(join(repository, '.git'), { recursive: true })
const trusted = write(
  join(repository, '.hookhelm'),
  hook('of-repository', 'match: { names: ["Delete(/*)", "!Delete(./*)"] }'),
  '  - event: pre_tool_use\n    matcher: Bash(make*)\n    handler_type: command\n    config: { command: node check.mjs }\n',
)
trustStore(trustFile({ HOOKHELM_HOME: home })).trust(join(repository, '.hookhelm', 'hooks.yaml'), trusted)
mkdirSync(join(stranger, '.git'), { recursive: true })
write(join(stranger, '.hookhelm'), hook('of-stranger', 'matcher: Bash'))

const gateway = shared(() => ({ home, env: { HOOKHELM_MANAGED_DIR: managed } }))
const { signIn } = browser()
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('every hook in force is listed with its place and its conditions in words, explained, and tried; nothing shows an id that the store made', async () => {
  const hookId = await gateway().hook({ ...blockingHook, matcher: 'Bash(kubectl*)' })
  const { page, complaints } = await signIn(gateway())
  await visit(page, gateway(), '/hooks')
  const row = (title: string) => page.locator(`[data-hook="${title}"]`)
  const places = [
    ['of-user', join(home, 'hooks.yaml:3'), 'Bash: git push --force*'],
    ['of-admin', join(managed, 'hooks.yaml:3'), 'runs rm -r'],
    ['of-repository', join(repository, '.hookhelm', 'hooks.yaml:3'), 'deletes outside of the project'],
    ['pre_tool_use: node check.mjs', join(repository, '.hookhelm', 'hooks.yaml:8'), 'Bash: make*'],
  ] as const
  for (const [title, place, words] of places) {
    await row(title).getByText(place).waitFor()
    await row(title).getByText(words, { exact: true }).waitFor()
  }
  await row('pre_tool_use: script').getByText('Bash: kubectl*').waitFor()
  expect(await row('of-stranger').count()).toBe(0)
  await screenshot(page, 'hooks-of-files')
  const { hooks } = (await gateway().call('GET', '/v1/status')).body
  const effective = await gateway().call('GET', '/v1/effective-hooks?everywhere=true')
  expect(hooks.total).toBe(effective.body.hooks.length)
  const envelope = { cwd: stranger, session: 's1', agent: 'codex' }
  const { body } = await gateway().dispatch('pre_tool_use', bashCall('make all'), {
    envelope: { ...envelope, session: 's2', cwd: repository },
  })
  expect(body.decision.kind).toBe('block')
  await visit(page, gateway(), '/')
  await page.getByText(`All ${hooks.total - hooks.off.length} hooks answer.`).waitFor()

  // The first event from a folder makes its untrusted file known.
  const unnamed = await gateway().dispatch('pre_tool_use', bashCall('kubectl delete pod web'), { envelope })
  await visit(page, gateway(), '/hooks')
  await row('of-stranger').getByText('untrusted', { exact: true }).waitFor()

  await row('of-repository').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'of-repository' }).waitFor()
  await page
    .getByText(join(repository, '.hookhelm', 'hooks.yaml:3'))
    .first()
    .waitFor()
  await screenshot(page, 'hook-of-file')
  await page.getByRole('tab', { name: 'Config' }).click()
  await page.getByText('change it there').waitFor()
  expect(await button(page, 'Save').count()).toBe(0)
  await visit(page, gateway(), '/hooks/of-user?tab=test')
  await button(page, 'Fire').click()
  await page.getByText('not here').first().waitFor()

  // The hook that nobody trusted is a line of its own, and no hook in force.
  expect((await gateway().call('GET', '/v1/status')).body.hooks.total).toBe(hooks.total)
  await visit(page, gateway(), '/')
  await page.getByText(`hook files ${join(stranger, '.hookhelm', 'hooks.yaml')}`).waitFor()
  await page.getByText('pre_tool_use: script').first().waitFor()
  await screenshot(page, 'home-file-hooks')
  for (const path of [
    '/',
    '/live',
    `/events/${unnamed.body.event_id}`,
    '/audit',
    '/hooks',
    '/sessions/s1',
    '/guards',
  ]) {
    await visit(page, gateway(), path)
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    expect(await proseOf(page), path).not.toContain(hookId)
  }
  expect(complaints).toEqual([])
})

/** The text of the page without data that is shown as it is stored. */
async function proseOf(page: Page): Promise<string> {
  const data = await page.locator('main pre').allTextContents()
  const text = (await page.locator('main').textContent()) ?? ''
  return data.reduce((left, part) => left.replace(part, ''), text)
}
