import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { running, shared } from '../gateway/running.fixture.ts'
import { runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'
import { codeText } from './code-text.fixture.ts'
import { seedRuns, sharedRunner } from './runs.fixture.ts'

const gateway = shared()
const { signIn } = browser()
sharedRunner(gateway)

let seeded: Awaited<ReturnType<typeof seedRuns>>
beforeAll(async () => {
  seeded = await seedRuns(gateway())
}, 120_000)

const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: Page, name: string) => page.getByRole('textbox', { name })

async function visit(page: Page, path: string, at = gateway()): Promise<void> {
  await page.goto(`${at.url}/ui${path}`)
  await page.locator('main h1').waitFor()
}

describe('the list of runs', () => {
  test('AO-58 shows hook badges, and filters "has hooks" and "hook blocked" in the address', async () => {
    const { page, complaints } = await signIn(gateway())
    await visit(page, '/runs')
    const row = (id: string) => page.locator(`[data-run="${id}"]`)
    await row(seeded.enriched).getByText('2 hooks').or(row(seeded.enriched).getByText('3 hooks')).waitFor()
    await row(seeded.blocked).getByText('hook blocked').waitFor()
    await row(seeded.blocked).getByText('The report R666 is confidential.').waitFor()
    expect(await row(seeded.waiting).locator('[data-status]').textContent()).toBe('pending')
    await page.getByText('Hook blocked', { exact: true }).click()
    await row(seeded.enriched).waitFor({ state: 'detached' })
    await row(seeded.blocked).waitFor()
    expect(new URL(page.url()).searchParams.get('hooks')).toBe('blocked')
    await visit(page, '/runs?hooks=has&status=completed')
    await row(seeded.enriched).waitFor()
    expect(await row(seeded.blocked).count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test('a run that starts elsewhere appears without a reload', async () => {
    const { page } = await signIn(gateway())
    await visit(page, '/runs')
    const { run_id } = await runsOf(gateway()).start('mail-report')
    await page.locator(`[data-run="${run_id}"] [data-status="completed"]`).waitFor()
  })

  test('without any run it teaches how to get one', async () => {
    const fresh = await running()
    const { page } = await signIn(fresh)
    await visit(page, '/runs', fresh)
    await page.getByText('No run yet').waitFor()
    await button(page, 'Start a run').click()
    // The agent that comes with the product can always be started.
    await page.getByRole('dialog').getByRole('combobox', { name: 'Agent' }).click()
    await page.getByRole('option', { name: 'general-purpose' }).waitFor()
  })
})

describe('one run', () => {
  test('that waits for a person names the approval and who can answer, and goes on after the answer', async () => {
    const source = `function handle({ agent_name }) {
      return agent_name === 'asker' ? { decision: 'ask', reason: 'may it start?' } : { decision: 'allow' }
    }`
    const hook = { event: 'run_start', handler_type: 'script', name: 'who-starts', config: { source } }
    const id = await gateway().hook(hook)
    await runsOf(gateway()).agent('asker', 'return { done: true }')
    const { run_id } = await runsOf(gateway()).start('asker')
    const { page, complaints } = await signIn(gateway())
    await visit(page, `/runs/${run_id}`)
    const notice = page.getByRole('status', { name: 'Approvals' })
    await notice
      .getByText(/Waits for approval apr_[0-9a-f]{16} by an approver · run_start · asked by who-starts/)
      .waitFor()
    await screenshot(page, 'run-waits')
    await notice.getByRole('link').click()
    const card = page.locator('section[data-approval]').filter({ hasText: 'may it start?' })
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByRole('button', { name: 'Yes, let it run' }).click()
    await untilEnded(gateway(), run_id)
    await visit(page, `/runs/${run_id}`)
    await page.getByRole('status', { name: 'Outcome' }).getByText('Completed').waitFor()
    expect(await notice.count()).toBe(0)
    expect(complaints).toEqual([])
    await gateway().call('DELETE', `/v1/hooks/${id}`)
  })

  test('AO-58 shows the timeline of its hooks, original and changed parameters side by side, and its chain', async () => {
    const { page, complaints } = await signIn(gateway())
    await visit(page, `/runs/${seeded.enriched}`)
    await page.getByRole('status', { name: 'Outcome' }).getByText('Completed').waitFor()
    await page.getByText('"rows": 48').first().waitFor()
    const lanes = page.getByRole('list', { name: 'Phases of the run' })
    await lanes.locator('[data-phase="on_run_start"]').getByText('path-resolver').waitFor()
    await lanes.locator('[data-phase="running"]').waitFor()
    await lanes.locator('[data-phase="on_run_finish"]').waitFor()
    const side = (name: string) => codeText(page.getByRole('textbox', { name }))
    expect(await side('before')).not.toContain('resolved_path')
    expect(await side('after')).toContain('"resolved_path": "/data/reports/R123.csv"')
    const chain = page.getByRole('list', { name: 'Runs from parent to child' })
    await chain.getByText('mail-report').waitFor()
    await chain.getByText('audit-logger').waitFor()
    await screenshot(page, 'run-enriched')
    await chain.getByText('audit-logger').click()
    await page.getByRole('heading', { level: 1, name: 'audit-logger' }).waitFor()
    // The chain is whole from its end, too.
    await page.locator(`[data-node="${seeded.enriched}"]`).waitFor()
    expect(complaints).toEqual([])
  })

  test('AO-58 shows the error of a hook with its context, and links to the trace of the decision', async () => {
    const { page } = await signIn(gateway())
    await visit(page, `/runs/${seeded.enriched}`)
    const failure = page.locator('[data-hook-failure="flaky-check"]')
    await failure.getByText('the list of reports is gone').waitFor()
    await failure.getByText('on_error is continue').waitFor()
    await failure.getByRole('link', { name: 'its run' }).waitFor()
    await page.locator('[data-event]', { hasText: 'run_start' }).click()
    await page.getByText('hooks considered').waitFor()
  })

  test('AO-58 begins with the block reason if a hook blocked it', async () => {
    const { page } = await signIn(gateway())
    await visit(page, `/runs/${seeded.blocked}`)
    const outcome = page.getByRole('status', { name: 'Outcome' })
    await outcome.getByText('The report R666 is confidential.').waitFor()
    // Not by flaky-check, which failed before and whose policy lets runs pass.
    await expect.poll(() => outcome.textContent()).toMatch(/^Blockedby path-resolver — The report R666/)
    expect(await page.locator('[data-phase="waiting"]').count()).toBe(0)
    const first = page.locator('main [class*=stack] > *').first()
    expect(await first.getAttribute('aria-label')).toBe('Outcome')
  })

  test('is stopped after one confirmation', async () => {
    const { run_id } = await runsOf(gateway()).start('long-job')
    const { page } = await signIn(gateway())
    await visit(page, `/runs/${run_id}`)
    await page.locator('[data-phase="running"]').waitFor()
    await button(page, 'Stop').click()
    await button(page, 'Stop it: its process ends').click()
    await page.getByRole('status', { name: 'Outcome' }).getByText('Stopped').waitFor()
    expect((await untilEnded(gateway(), run_id)).status).toBe('stopped')
  })

  test('runs again with edited parameters, refuses what the schema refuses, and is followed live', async () => {
    const { page } = await signIn(gateway())
    await visit(page, `/runs/${seeded.enriched}`)
    await button(page, 'Rerun with changes').click()
    const dialog = page.getByRole('dialog')
    // What the caller sent, not what the hook made of it.
    expect(await dialog.getByRole('textbox', { name: 'resolved_path' }).inputValue()).toBe('')
    await dialog.getByRole('textbox', { name: 'report_id' }).fill('R')
    await button(dialog, 'Start').click()
    await dialog.getByRole('alert').getByText('/report_id').waitFor()
    await dialog.getByRole('textbox', { name: 'report_id' }).fill('R77')
    await dialog.getByText('JSON', { exact: true }).click()
    expect(JSON.parse(await dialog.getByRole('textbox', { name: 'Parameters' }).inputValue())).toEqual({
      report_id: 'R77',
    })
    await button(dialog, 'Start').click()
    await page.getByText('/data/reports/R77.csv').first().waitFor()
    await page.getByRole('status', { name: 'Outcome' }).getByText('Completed').waitFor()
    await page
      .getByRole('list', { name: 'Events of the run' })
      .locator('[data-type="run_completed"]')
      .waitFor()
    expect(page.url()).not.toContain(seeded.enriched)
  })
})

describe('AO-57 the editor of a blueprint', () => {
  test('saves start hooks with agent, order, on_error and timeout, clears them, and shows the warnings', async () => {
    const { agent, ok } = runsOf(gateway())
    await agent('editable', 'return {}', { note: 'of another tool' })
    const { page, complaints } = await signIn(gateway())
    await visit(page, '/agents?tab=blueprints')
    await page.locator('[data-blueprint="editable"]').getByRole('link').click()
    await page.getByRole('tab', { name: 'Hooks' }).click()
    const start = page.getByRole('region', { name: 'on_run_start' })
    await start.getByRole('switch', { name: /Before the run/ }).click()
    await start.getByRole('combobox', { name: 'Agent' }).fill('path-resolver')
    await page.keyboard.press('Escape')
    await start.getByRole('textbox', { name: 'Timeout in seconds' }).fill('60')
    await button(page, 'Add a hook').click()
    const second = start.getByRole('group', { name: 'Hook 2' })
    await second.getByRole('combobox', { name: 'Agent' }).fill('not-there-yet')
    await page.keyboard.press('Escape')
    await second.getByText('continue', { exact: true }).click()
    await second.getByRole('button', { name: 'Move hook 2 up' }).click()
    // A gate must be waited for.
    expect(await start.getByRole('switch', { name: /async/ }).first().isEnabled()).toBe(false)
    await button(page, 'Save version 2').click()
    await page.getByText('a hook starts the agent not-there-yet, which does not exist yet').waitFor()
    await page.getByText('note is kept and has no effect').waitFor()
    await screenshot(page, 'blueprint-hooks-warned')
    const { blueprint } = await ok('GET', '/agents/editable')
    expect(blueprint.definition.hooks).toEqual({
      on_run_start: [
        { type: 'agent', agent_name: 'not-there-yet', on_error: 'continue' },
        { type: 'agent', agent_name: 'path-resolver', on_error: 'block', timeout_seconds: 60 },
      ],
    })
    expect(blueprint.definition.note).toBe('of another tool')
    await start.getByRole('switch', { name: /Before the run/ }).click()
    await button(page, 'Save version 3').click()
    const saved = async () => (await ok('GET', '/agents/editable')).blueprint.definition.hooks
    await expect.poll(saved).toEqual({})
    expect(complaints).toEqual([])
  })

  test('saves an autonomous agent without an executor, and shows it as one that any runner takes', async () => {
    const { ok } = runsOf(gateway())
    await ok('POST', '/agents', { name: 'anywhere', type: 'autonomous', executor: { type: 'model' } })
    const { page, complaints } = await signIn(gateway())
    await visit(page, '/agents/anywhere')
    await page.getByText('Any runner', { exact: true }).click()
    await page.getByText(/any runner that registers for autonomous agents/).waitFor()
    await screenshot(page, 'blueprint-any-runner')
    await button(page, 'Save version 2').click()
    const saved = async () => Object.keys((await ok('GET', '/agents/anywhere')).blueprint.definition)
    await expect.poll(saved).not.toContain('executor')
    await page.reload()
    expect(await page.getByRole('radio', { name: 'Any runner' }).isChecked()).toBe(true)
    expect(complaints).toEqual([])
  })

  test('refers to a named hook', async () => {
    const { agent, ok } = runsOf(gateway())
    await ok('POST', '/run-hooks', {
      name: 'audit',
      definition: { type: 'agent', agent_name: 'audit-logger', on_error: 'ignore' },
    })
    await agent('refers', 'return {}', {
      hooks: { on_run_finish: { type: 'agent', agent_name: 'mail-report', on_error: 'continue' } },
    })
    const { page } = await signIn(gateway())
    await visit(page, '/agents/refers?tab=hooks')
    const finish = page.getByRole('region', { name: 'on_run_finish' })
    await finish.getByRole('button', { name: 'Add a named hook' }).click()
    await finish.getByRole('combobox', { name: 'Named hook' }).click()
    await page.getByRole('option', { name: 'audit' }).click()
    await finish.getByRole('button', { name: 'Remove hook 1' }).click()
    await button(page, 'Save version 2').click()
    await page.getByText('version 2', { exact: true }).waitFor()
    const { blueprint } = await ok('GET', '/agents/refers')
    expect(blueprint.definition.hooks).toEqual({ on_run_finish: [{ $ref: 'audit' }] })
  })

  test('form and JSON lose nothing; a refusal names the field; the schema draws the form of a run', async () => {
    const { page } = await signIn(gateway())
    await visit(page, '/agents/_new')
    await field(page, 'Name').fill('from-the-editor')
    await field(page, 'Program and arguments, one per line').fill('node\nreport.mjs')
    await page.getByRole('tab', { name: 'JSON' }).click()
    const json = field(page, 'Blueprint as JSON')
    const draft = JSON.parse(await json.inputValue())
    expect(draft).toMatchObject({ name: 'from-the-editor', executor: { command: ['node', 'report.mjs'] } })
    await json.fill(JSON.stringify({ ...draft, 'x-team': { a: [1, null] }, hooks: { on_run_strat: {} } }))
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('hooks.on_run_strat').waitFor()
    await json.fill(JSON.stringify({ ...draft, 'x-team': { a: [1] } }))
    await page.getByRole('tab', { name: 'Parameters and result' }).click()
    await button(page, 'Add a field').first().click()
    await field(page, 'Name of field_2').fill('copies')
    await page.getByRole('combobox', { name: 'Type of copies' }).click()
    await page.getByRole('option', { name: 'integer' }).click()
    await page.getByRole('textbox', { name: 'copies', exact: true }).waitFor()
    await button(page, 'Save').click()
    await page.getByRole('heading', { level: 1, name: 'from-the-editor' }).waitFor()
    const { blueprint } = await runsOf(gateway()).ok('GET', '/agents/from-the-editor')
    expect(blueprint.definition).toMatchObject({
      'x-team': { a: [1] },
      parameters_schema: { properties: { report_id: { type: 'string' }, copies: { type: 'integer' } } },
    })
  })
})
