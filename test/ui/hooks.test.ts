import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { type Running, running, shared } from '../gateway/running.fixture.ts'
import { browser } from './browser.fixture.ts'
import { codeText } from './code-text.fixture.ts'

const gateway = shared()
const { signIn, open } = browser()

const call = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const script = (reason: string) => ({
  source: `function handle() {\n  return { decision: 'block', reason: '${reason}' }\n}\n`,
})
const guard = { event: 'pre_tool_use', handler_type: 'script', config: script('Not here.') }

const field = (page: Page, name: string) => page.getByRole('textbox', { name })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Opens a view by its address. */
async function visit(page: Page, at: Running, path: string): Promise<void> {
  await page.goto(`${at.url}/ui${path}`)
  await page.locator('main h1').waitFor()
}

/** Signs in with a token of a role, pasted on the sign-in page. */
async function pasteToken(at: Running, role: string, headers: Readonly<Record<string, string>> = {}) {
  const { body } = await at.call('POST', '/v1/tokens', { name: `${role} of a test`, role }, headers)
  const opened = await open()
  await opened.page.goto(`${at.url}/ui/`)
  await opened.page.getByLabel('Or paste a token').fill(body.token)
  await button(opened.page, 'Sign in').click()
  await opened.page.getByRole('navigation', { name: 'Views' }).waitFor()
  return opened
}

describe('a person makes a hook', () => {
  test('sees what it would match, fires it, saves it, watches it decide, reads why, and changes it', async () => {
    for (const command of ['terraform apply', 'terraform apply -auto-approve', 'terraform plan'])
      await gateway().dispatch('pre_tool_use', call(command))
    const { page, complaints } = await signIn(gateway())
    await visit(page, gateway(), '/hooks')
    await page.getByRole('link', { name: 'New hook' }).click()
    await field(page, 'Name').fill('no-apply')
    await field(page, 'Applies to').fill('Bash(terraform apply*)')
    await field(page, 'Script').fill(script('Plan first.').source)
    await page.getByRole('meter', { name: '2 of 3 match' }).waitFor()

    await page.getByRole('tab', { name: 'Test' }).click()
    await field(page, 'Tool input').fill('{ "command": "terraform apply" }')
    await button(page, 'Fire').click()
    await page.getByText('Plan first.').waitFor()
    expect(await page.locator('main [data-outcome]').first().getAttribute('data-outcome')).toBe('block')

    await button(page, 'Save').click()
    await page.getByText('stored · version 1').waitFor()
    await visit(page, gateway(), '/live')
    await page.getByText('live', { exact: true }).waitFor()
    const { body } = await gateway().dispatch('pre_tool_use', call('terraform apply -target=db'))
    expect(body.decision).toMatchObject({ kind: 'block', reason: 'Plan first.' })
    await page.locator(`[data-event="${body.event_id}"]`).click()
    await page.getByText('Blocked').first().waitFor()
    expect(await page.getByRole('status').first().textContent()).toContain('no-apply — Plan first.')

    await page.getByRole('link', { name: 'Open in Test' }).click()
    await page.getByText('terraform apply -target=db').first().waitFor()
    await page.getByRole('tab', { name: 'Config' }).click()
    await field(page, 'Script').fill(script('Plan and ask first.').source)
    await button(page, 'Save version 2').click()
    await page.getByText('stored · version 2').waitFor()
    const after = await gateway().dispatch('pre_tool_use', call('terraform apply'))
    expect(after.body.decision.reason).toBe('Plan and ask first.')
    expect(complaints).toEqual([])
  })

  test('makes one from a recorded call, with the tool and the start of the command filled in', async () => {
    const { body } = await gateway().dispatch('pre_tool_use', call('kubectl delete pod web-1'))
    const { page } = await signIn(gateway())
    await visit(page, gateway(), `/events/${body.event_id}`)
    await page.getByRole('link', { name: 'Make a hook' }).click()
    await expect.poll(() => field(page, 'Applies to').inputValue()).toBe('Bash(kubectl delete*)')
  })

  test('fires it at a recorded event', async () => {
    const { body } = await gateway().dispatch('pre_tool_use', call('helm uninstall shop'))
    const hookId = await gateway().hook({ ...guard, name: 'no-helm', matcher: 'Bash(helm*)' })
    const { page } = await signIn(gateway())
    await visit(page, gateway(), `/hooks/${hookId}?tab=test`)
    await page.getByRole('combobox', { name: 'Recorded event' }).click()
    await page.getByRole('option', { name: 'helm uninstall shop' }).click()
    expect(new URL(page.url()).searchParams.get('from')).toBe(body.event_id)
    await expect.poll(() => codeText(field(page, 'Tool input'))).toContain('helm uninstall shop')
    await button(page, 'Fire').click()
    await page.getByText('Not here.').waitFor()
  })

  test('sees what a rewrite would change, side by side, and keeps it while the sample is edited', async () => {
    const source =
      "function handle(event) {\n  return { decision: 'allow', updatedInput: { ...event.tool_input, timeout: 60 } }\n}\n"
    const hookId = await gateway().hook({
      ...guard,
      name: 'add-limit',
      matcher: 'Bash(make*)',
      config: { source },
    })
    const { page, complaints } = await signIn(gateway())
    await visit(page, gateway(), `/hooks/${hookId}?tab=test`)
    await field(page, 'Tool input').fill('{ "command": "make all" }')
    await button(page, 'Fire').click()
    expect(await codeText(field(page, 'before'))).not.toContain('timeout')
    expect(await codeText(field(page, 'after'))).toContain('"timeout": 60')
    await field(page, 'Tool input').fill('{ "command": ')
    await page.getByText('This is not JSON').waitFor()
    expect(await codeText(field(page, 'after'))).toContain('"timeout": 60')
    expect(complaints).toEqual([])
  })

  test('reads a condition term by term on the page of an event', async () => {
    await gateway().hook({
      ...guard,
      name: 'long-only',
      if_expr: 'tool_input.command.startsWith("dig") && size(tool_input.command) > 80',
    })
    const { body } = await gateway().dispatch('pre_tool_use', call('dig example.com'))
    const { page } = await signIn(gateway())
    await visit(page, gateway(), `/events/${body.event_id}`)
    const step = page
      .getByRole('list', { name: 'Hooks in their order' })
      .locator('li', { hasText: 'long-only' })
    await step.getByText('size(tool_input.command) > 80').waitFor()
    expect(await step.getByRole('img', { name: 'true' }).count()).toBe(1)
    expect(await step.getByRole('img', { name: 'false' }).count()).toBe(1)
    expect(await step.textContent()).toContain('✗15')
  })

  test('reads the name of a hook that failed, not its id', async () => {
    const hookId = await gateway().hook({
      ...guard,
      name: 'broken-guard',
      matcher: 'Bash(nmap*)',
      config: { source: "function handle() { throw new Error('no list') }" },
    })
    const { body } = await gateway().dispatch('pre_tool_use', call('nmap host'))
    const { page } = await signIn(gateway())
    await visit(page, gateway(), `/events/${body.event_id}`)
    const why = page.locator('section', { has: page.getByRole('heading', { name: 'Why' }) })
    await why.getByText('broken-guard failed').first().waitFor()
    expect(await why.textContent()).not.toContain(hookId)
  })

  test('two browsers see each other’s change without a reload', async () => {
    const hookId = await gateway().hook({ ...guard, name: 'seen-by-two', matcher: 'Bash(seen*)' })
    const [first, second] = [await signIn(gateway()), await signIn(gateway())]
    await visit(first.page, gateway(), '/hooks')
    await visit(second.page, gateway(), `/hooks/${hookId}`)
    const row = first.page.locator('[data-hook="seen-by-two"]')
    await row.getByText('decides').waitFor()
    await button(second.page, 'Shadow').click()
    await row.getByText('shadow', { exact: true }).waitFor()
    await row.getByRole('switch').dispatchEvent('click')
    await button(second.page, 'Enable').waitFor()
    await second.page.getByText('stored · version 3').waitFor()
  })
})

test('a viewer reads everything and sees no button that would be refused', async () => {
  const hookId = await gateway().hook({ ...guard, name: 'only-read', matcher: 'Bash(read*)' })
  const { page } = await pasteToken(gateway(), 'viewer')
  await visit(page, gateway(), '/hooks')
  await page.locator('[data-hook="only-read"]').waitFor()
  expect(await page.getByRole('link', { name: 'New hook' }).count()).toBe(0)
  expect(await page.getByRole('switch').count()).toBe(0)
  for (const tab of ['overview', 'config', 'test', 'history']) {
    await visit(page, gateway(), `/hooks/${hookId}?tab=${tab}`)
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    for (const name of ['Shadow', 'Disable', 'Delete', 'Save version 2', 'Fire'])
      expect(await button(page, name).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
  }
  for (const path of ['/', '/live', '/sessions', '/agents', '/guards', '/audit', '/settings']) {
    await visit(page, gateway(), path)
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    expect([path, await page.getByRole('alert').allTextContents()]).toEqual([path, []])
  }
})

test('on the standard edition commands are greyed out with the reason, and tenants see only their own', async () => {
  const standard = await running({ edition: 'standard' })
  const pages = new Map<string, Page>()
  for (const tenant of ['acme', 'globex']) {
    await standard.call('POST', '/v1/tenants', { name: tenant })
    const headers = { 'x-hookhelm-tenant': tenant }
    await standard.call('POST', '/v1/hooks', { ...guard, scope: 'tenant', name: `${tenant}-only` }, headers)
    await standard.call(
      'POST',
      '/v1/dispatch',
      { event: 'pre_tool_use', payload: call(`secret of ${tenant}`) },
      headers,
    )
    pages.set(tenant, (await pasteToken(standard, 'admin', headers)).page)
  }
  for (const [tenant, page] of pages) {
    const other = tenant === 'acme' ? 'globex' : 'acme'
    for (const [path, own] of [
      ['/live', `secret of ${tenant}`],
      ['/audit', `secret of ${tenant}`],
      ['/hooks', `${tenant}-only`],
    ] as const) {
      await visit(page, standard, path)
      await page.getByText(own).first().waitFor()
      expect(await page.locator('body').textContent()).not.toContain(own.replace(tenant, other))
    }
    expect(await page.getByRole('tab', { name: 'Tenants' }).count()).toBe(0)
    await visit(page, standard, '/hooks/new')
    expect(await page.getByRole('radio', { name: 'command' }).isDisabled()).toBe(true)
    await page.getByText('Commands are off on the standard edition').waitFor()
  }
})

test('by keyboard alone: views, rows, filter, help and commands', async () => {
  const { body } = await gateway().dispatch('pre_tool_use', call('echo by keyboard'))
  const { page } = await signIn(gateway())
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.locator('main h1').waitFor()
  await press('g', 'l')
  await page.locator(`[data-event="${body.event_id}"]`).waitFor()
  await press('j')
  await page.locator(`[data-event="${body.event_id}"][aria-current=true]`).waitFor()
  await press('j', 'k', 'Enter')
  await page.getByRole('heading', { name: 'echo by keyboard' }).waitFor()
  await press('g', 'l')
  await page.getByRole('textbox', { name: 'Filter' }).waitFor()
  await press('/')
  await page.keyboard.type('decision:ask')
  await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toBe('decision:ask')
  await press('Escape', '?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await press('Control+k')
  await page.getByRole('textbox', { name: 'Search and commands' }).waitFor()
  await page.keyboard.type('Audit')
  await press('Enter')
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
})
