import { describe, expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'
import { visit } from './flows.fixture.ts'
import { sharedRunner } from './runs.fixture.ts'

const gateway = shared(() => ({ settings: { header_variables: ['API_TOKEN'] } }))
sharedRunner(gateway)
const { signIn } = browser()

const hook = (agent_name: string, more = {}) => ({ type: 'agent', agent_name, on_error: 'block', ...more })
const definitionOf = async (name: string) =>
  (await runsOf(gateway()).ok('GET', `/agents/${name}`)).blueprint.definition

describe('AO-57 the Hooks tab', () => {
  test('AO-59 AO-60 covers every point, with agents, addresses and async', async () => {
    const { agent } = runsOf(gateway())
    await agent('checker', 'return { action: "continue" }')
    await agent('covered', 'return {}')
    const { page, complaints } = await signIn(gateway())
    await visit(page, gateway(), '/agents/covered?tab=hooks')
    const points = ['on_run_start', 'on_tool_call', 'on_result', 'on_error', 'on_timeout', 'on_run_finish']
    for (const point of points) await page.getByRole('region', { name: point }).waitFor()
    const at = (point: string) => page.getByRole('region', { name: point })
    await at('on_result')
      .getByRole('switch', { name: /When the result arrives/ })
      .click()
    await at('on_result').getByRole('combobox', { name: 'Agent' }).fill('checker')
    await page.keyboard.press('Escape')
    await at('on_result').getByRole('switch', { name: /async/ }).click({ force: true })
    await at('on_error')
      .getByRole('switch', { name: /When the run fails/ })
      .click()
    await at('on_error').getByText('http', { exact: true }).click()
    await at('on_error').getByRole('textbox', { name: 'Address' }).fill('https://example.com/failed')
    await at('on_error').getByRole('combobox', { name: 'Method' }).click()
    await page.getByRole('option', { name: 'PUT' }).click()
    await at('on_error')
      .getByRole('textbox', { name: 'Headers' })
      .fill(JSON.stringify({ Authorization: `Bearer \${SECRET}` }))
    await at('on_error').getByText('ignore', { exact: true }).click()
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page
      .getByRole('alert')
      .getByText(/the variable SECRET, which is not allowed/)
      .waitFor()
    await at('on_error')
      .getByRole('textbox', { name: 'Headers' })
      .fill(JSON.stringify({ Authorization: `Bearer \${API_TOKEN}` }))
    await screenshot(page, 'run-hooks-light')
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page.getByText('version 2', { exact: true }).waitFor()
    expect((await definitionOf('covered')).hooks).toEqual({
      on_result: { type: 'agent', agent_name: 'checker', on_error: 'block', mode: 'async' },
      on_error: {
        ...{ type: 'http', url: 'https://example.com/failed', method: 'PUT', on_error: 'ignore' },
        headers: { Authorization: `Bearer \${API_TOKEN}` },
      },
    })
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
  })

  test('shows that another person changed the agent meanwhile', async () => {
    const { agent, ok } = runsOf(gateway())
    await agent('contested', 'return {}')
    const { page } = await signIn(gateway())
    await visit(page, gateway(), '/agents/contested')
    await page.getByRole('textbox', { name: 'Description' }).fill('mine')
    // The page asks for the newest version every few seconds; this one is older.
    await page.route('**/blueprints.show', (route) => route.abort())
    await ok('PATCH', '/agents/contested', { description: 'theirs' })
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page
      .getByRole('alert')
      .getByText(/has version 2, not 1/)
      .waitFor()
    expect((await definitionOf('contested')).description).toBe('theirs')
  })
})

describe('AO-60 named run hooks', () => {
  test('are created, edited and deleted; one in use stays, and links to its users', async () => {
    const { agent, ok } = runsOf(gateway())
    await agent('auditor', 'return {}')
    const { page } = await signIn(gateway())
    await visit(page, gateway(), '/agents?tab=blueprints')
    const section = page.getByRole('region', { name: 'Named run hooks' })
    await section.getByRole('button', { name: 'New named hook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('audit')
    await dialog.getByRole('combobox', { name: 'Agent' }).fill('auditor')
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await section.locator('[data-named-hook="audit"]').getByText('not used').waitFor()
    await agent('uses-audit', 'return {}', { hooks: { on_run_finish: { $ref: 'audit' } } })
    await section.getByText('used by 1 blueprint').waitFor()
    await section.getByRole('button', { name: 'Edit audit' }).click()
    await dialog.getByText('http', { exact: true }).click()
    await dialog.getByRole('textbox', { name: 'Address' }).fill('https://example.com/audit')
    await screenshot(page, 'named-hook-editor')
    await dialog.getByRole('button', { name: 'Save for every blueprint that uses it' }).click()
    await section.getByText('https://example.com/audit').waitFor()
    expect((await ok('GET', '/run-hooks/audit')).hook.definition).toEqual({
      ...{ type: 'http', url: 'https://example.com/audit', on_error: 'block' },
    })
    await section.getByRole('button', { name: 'Delete' }).click()
    await section.getByRole('button', { name: 'Delete audit' }).click()
    await section.getByRole('alert').getByText('It is in use.').waitFor()
    await screenshot(page, 'named-hook-in-use')
    await section.getByRole('alert').getByRole('link', { name: 'uses-audit' }).click()
    const finish = page.getByRole('region', { name: 'on_run_finish' })
    await finish.getByRole('switch', { name: /After the run/ }).click()
    await page.getByRole('button', { name: 'Save version' }).click()
    await expect.poll(async () => (await definitionOf('uses-audit')).hooks).toEqual({})
    await visit(page, gateway(), '/agents?tab=blueprints')
    await section.getByText('not used').waitFor()
    await section.getByRole('button', { name: 'Delete' }).click()
    await section.getByRole('button', { name: 'Delete audit' }).click()
    await section.getByText('No named hook yet').waitFor()
  })
})

describe('the executor of a blueprint', () => {
  test('can be a model or a coding agent, without JSON', async () => {
    const { agent } = runsOf(gateway())
    await agent('executed', 'return {}', { type: 'autonomous' })
    const { page } = await signIn(gateway())
    await visit(page, gateway(), '/agents/executed')
    const choose = (label: string) =>
      page.getByRole('radiogroup', { name: 'Executor' }).getByText(label, { exact: true }).click()
    await choose('Model')
    await page.getByRole('textbox', { name: 'Most steps' }).fill('12')
    await page.getByRole('switch', { name: /permission_request before/ }).click({ force: true })
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page.getByText('version 2', { exact: true }).waitFor()
    expect((await definitionOf('executed')).executor).toEqual({
      ...{ type: 'model', max_steps: 12, permission_first: true },
    })
    await choose('Coding agent')
    await page.getByRole('combobox', { name: 'Coding agent' }).click()
    await page.getByRole('option', { name: 'codex' }).click()
    await page.getByRole('combobox', { name: 'Variables that it gets' }).fill('OPENAI_API_KEY')
    await page.keyboard.press('Enter')
    await screenshot(page, 'executor-cli')
    await page.getByRole('button', { name: 'Save version 3' }).click()
    await page.getByText('version 3', { exact: true }).waitFor()
    expect((await definitionOf('executed')).executor).toEqual({
      ...{ type: 'cli', agent: 'codex', allowed_env_vars: ['OPENAI_API_KEY'] },
    })
  })
})

describe('AO-58 the page of a run', () => {
  test('shows what each of two start hooks changed, and a result that a hook refused', async () => {
    const { agent, start } = runsOf(gateway())
    await agent('adds-path', 'return { action: "continue", parameters: { ...p.parameters, path: "/x" } }')
    await agent('adds-owner', 'return { action: "continue", parameters: { ...p.parameters, owner: "me" } }')
    await agent('judge', 'return { action: "block", block_reason: "too short" }')
    const on_run_start = [hook('adds-path'), hook('adds-owner')]
    await agent('twice', 'return p', { hooks: { on_run_start, on_result: hook('judge') } })
    const { run_id } = await start('twice', { id: 'R1' })
    await untilEnded(gateway(), run_id)
    for (const options of [{ scheme: 'dark' as const }, { isPhone: true }, {}]) {
      const { page, complaints } = await signIn(gateway(), options)
      await visit(page, gateway(), `/runs/${run_id}`)
      const outcome = page.getByRole('status', { name: 'Outcome' })
      await outcome.getByText('too short').waitFor()
      await outcome.getByText('judge').waitFor()
      await page.locator('[data-changed-by="adds-path"]').getByText('changed path').waitFor()
      await page.locator('[data-changed-by="adds-owner"]').getByText('changed owner').waitFor()
      expect(await page.locator('[data-phase="on_result"]').count()).toBe(1)
      const name = options.isPhone ? 'phone' : (options.scheme ?? 'light')
      await screenshot(page, `run-two-changes-${name}`)
      await visit(page, gateway(), '/agents/twice?tab=hooks')
      await page.getByRole('region', { name: 'on_run_finish' }).waitFor()
      await screenshot(page, `hooks-tab-${name}`)
      await visit(page, gateway(), '/agents?tab=blueprints')
      await page.getByRole('region', { name: 'Named run hooks' }).waitFor()
      await screenshot(page, `named-hooks-${name}`)
      expect(complaints).toEqual([])
    }
  })
})
