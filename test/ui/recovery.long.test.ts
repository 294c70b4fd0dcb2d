import { readFileSync, writeFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { trustStore } from '../../src/hook-files/trust.ts'
import { running, shared } from '../gateway/running.fixture.ts'
import { httpReceiver } from '../rules/receivers.fixture.ts'
import { failedTool, rulesOf } from '../rules/recovery.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { browser, screenshot } from './browser.fixture.ts'
import { codeText } from './code-text.fixture.ts'
import { prepareRecovery, writeRuleFiles } from './recovery.fixture.ts'

const HANG = 300_000
const gateway = shared(() => ({ outbound: { allow: ['127.0.0.1'] } }))
const { signIn } = browser()

/** A refusal is shown at its field; the browser complains about it by itself. */
const withoutRefusals = (complaints: readonly string[]) =>
  complaints.filter((complaint) => !/status of 40[049]/.test(complaint))

const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: Page | Locator, name: string) => page.getByRole('textbox', { name, exact: true })

async function visit(page: Page, path: string, at = gateway()): Promise<void> {
  await page.goto(`${at.url}/ui${path}`)
  await page.locator('main h1').waitFor()
}

test(
  'a run fails, its fallback succeeds, mailbox and webhook have the message, and the browser shows the chain with its links',
  async () => {
    const receiver = await httpReceiver()
    const at = await running({ outbound: { allow: ['127.0.0.1'] } })
    await prepareRecovery(at, `${receiver.url}/team`)
    await runnerProcess(at)
    const { page, complaints } = await signIn(at)
    await visit(page, '/recovery', at)
    const rule = page.locator('[data-rule="mend-the-printer"]')
    await rule.getByText('has not fired').waitFor()
    expect(await rule.locator('[data-clock="cooldown"]').getAttribute('data-running')).toBe('false')
    let reloads = 0
    page.on('load', () => reloads++)
    const failed = await runsOf(at).start('breaks')
    await untilEnded(at, failed.run_id)
    // The firing and its clocks arrive by themselves.
    await rule.locator('[data-clock="cooldown"][data-running="true"]').waitFor()
    await rule.locator('[data-clock="dedup"][data-running="true"]').waitFor()
    const shown = () => rule.locator('[data-clock="dedup"] b').textContent()
    const first = await shown()
    await expect.poll(shown, { timeout: 60_000 }).not.toBe(first)
    await rule.locator('[data-firing]').click()
    await page.getByRole('heading', { level: 1, name: 'mend-the-printer fired' }).waitFor()
    const node = (kind: string, text: string) => page.locator(`[data-node="${kind}"]`, { hasText: text })
    await node('failure', 'run_finish').waitFor()
    await node('rule', 'mend-the-printer').waitFor()
    await node('action', 'fallback').locator('[data-status="completed"]').waitFor()
    await node('action', 'tell').getByText('Team notification sent to 2 recipient(s)').waitFor()
    await node('action', 'warm').getByText('Remote sessions are blocked by policy').waitFor()
    await node('run', 'mends').locator('[data-status="completed"]').waitFor()
    await node('result', '"pages": 48').waitFor()
    await node('message', 'mailbox of ada').waitFor()
    await node('message', 'mailbox of bob').waitFor()
    await node('delivery', 'webhook').getByText('delivered').waitFor()
    await screenshot(page, 'recovery-chain')
    expect(reloads).toBe(0)
    expect(receiver.received).toHaveLength(1)
    const message = JSON.parse(receiver.received[0]?.body ?? '')
    expect(message).toMatchObject({ team: 'ops', member: 'ada', rule_id: 'mend-the-printer' })
    expect(page.url()).toContain(message.firing_id)
    const chain = page.url()
    /** Follows a link of the chain, looks for something there, and comes back. */
    const follow = async (link: Locator, seen: () => Locator) => {
      await link.click()
      await seen().first().waitFor()
      await page.goto(chain)
      await node('rule', 'mend-the-printer').waitFor()
    }
    await follow(node('failure', 'run_finish').getByRole('link', { name: 'run_finish' }), () =>
      page.getByRole('heading', { name: 'What it fired' }),
    )
    await follow(node('failure', 'run_finish').locator('[data-link="failed-run"]'), () =>
      page.getByRole('heading', { name: 'Fired by this run' }),
    )
    await follow(node('rule', 'mend-the-printer').getByRole('link'), () =>
      page.getByRole('heading', { name: 'Last firings' }),
    )
    await follow(node('action', 'tell').getByRole('link'), () =>
      page.getByRole('group', { name: 'Action 2: Notify a team' }),
    )
    await follow(node('run', 'mends').getByRole('link'), () =>
      page.getByRole('heading', { name: 'What started it' }),
    )
    await follow(node('result', 'pages').getByRole('link'), () => page.getByText('"pages": 48'))
    await follow(node('message', 'mailbox of ada').getByRole('link'), () =>
      page.locator('[data-read="true"]').getByText('delivered'),
    )
    // Opening the message marked it as read, and the chain knows.
    await node('message', 'mailbox of ada').getByText('read', { exact: true }).waitFor()
    await page.goto(`${at.url}/ui/runs/${failed.run_id}`)
    await page.getByText('rule mend-the-printer fired').waitFor()
    expect(withoutRefusals(complaints)).toEqual([])
  },
  HANG,
)

describe('the editor of a rule', () => {
  test(
    'form and JSON lose nothing, the gateway’s refusal is at its field, and a rule is saved, switched and deleted',
    async () => {
      const { page, complaints } = await signIn(gateway())
      await visit(page, '/recovery')
      await page.getByText('No rule yet').waitFor()
      await page.getByRole('link', { name: 'New rule' }).click()
      await field(page, 'Id').fill('told')
      await page.getByRole('textbox', { name: 'Cooldown in ms' }).fill('99999999')
      await page.getByText('must be a whole number from 0 to 86400000').waitFor()
      await page.getByRole('textbox', { name: 'Cooldown in ms' }).fill('5000')
      await page.getByText('JSON', { exact: true }).click()
      const json = page.getByRole('textbox', { name: 'The rule as JSON' })
      const draft = JSON.parse(await codeText(json))
      expect(draft).toMatchObject({ id: 'told', cooldownMs: 5_000, trigger: { outcome: 'failed' } })
      const typed = { ...draft, actions: [{ type: 'notify_team', teamName: 'ops', note: 'of another tool' }] }
      await json.fill(JSON.stringify(typed))
      await page.getByText('Form', { exact: true }).click()
      const action = page.getByRole('group', { name: 'Action 1: Notify a team' })
      expect(await action.getByRole('combobox', { name: 'Team' }).inputValue()).toBe('ops')
      await button(page, 'Add an action').click()
      await page.getByRole('combobox', { name: 'Type of action 2' }).click()
      await page.getByRole('option', { name: 'Call a webhook' }).click()
      // The config of the second action has no address yet.
      const second = page.getByRole('group', { name: 'Action 2: Call a webhook' })
      await second.getByText(/url/).nth(1).waitFor()
      await second.getByRole('button', { name: 'Remove action 2' }).click()
      await button(page, 'Save').click()
      await page.getByRole('heading', { level: 1, name: 'told' }).waitFor()
      const { ok } = rulesOf(gateway())
      const saved = async () =>
        (await ok('GET', '/v1/rules')).rules.find(({ id }: { id: string }) => id === 'told')
      expect((await saved()).definition).toMatchObject({ cooldownMs: 5_000, actions: typed.actions })
      await page.getByRole('textbox', { name: 'Cooldown in ms' }).fill('')
      await button(page, 'Save version 2').click()
      await page.getByText('version 2', { exact: true }).waitFor()
      expect((await saved()).definition.cooldownMs).toBeUndefined()
      await button(page, 'Switch off').click()
      await button(page, 'Switch on').waitFor()
      expect(await saved()).toMatchObject({ enabled: false })
      await button(page, 'Delete').click()
      await button(page, 'Delete told: its failures stay unanswered').click()
      await page.getByText('No rule yet').waitFor()
      expect(withoutRefusals(complaints)).toEqual([])
    },
    HANG,
  )

  test(
    'rules are off until a person switches them on, for every door',
    async () => {
      const fresh = await running()
      const { page } = await signIn(fresh)
      await visit(page, '/recovery', fresh)
      const main = page.getByRole('switch', { name: 'Recovery rules are off' })
      await main.waitFor()
      await page.getByText('Nothing fires.').waitFor()
      await main.click({ force: true })
      await page.getByRole('switch', { name: 'Recovery rules are on' }).waitFor()
      expect((await rulesOf(fresh).ok('GET', '/v1/rules')).enabled).toBe(true)
      await rulesOf(fresh).settings({ rules_enabled: false })
      await page.getByRole('switch', { name: 'Recovery rules are off' }).waitFor()
    },
    HANG,
  )
})

test(
  'a rule file is read-only, with its trust, and a change of it arrives by itself',
  async () => {
    const at = await running()
    await rulesOf(at).switchOn()
    const { own, untrusted, repository } = writeRuleFiles(at)
    await at.dispatch('post_tool_use_failure', failedTool, { envelope: { cwd: repository } })
    const { page } = await signIn(at)
    await visit(page, '/recovery', at)
    const file = (path: string, state: string) => page.locator(`[data-file="${path}"][data-state="${state}"]`)
    await file(own, 'good').getByText('1 rule in force').waitFor()
    await file(untrusted, 'untrusted').getByText('until you trust it').waitFor()
    await file(untrusted, 'untrusted').getByText('hookhelm trust').waitFor()
    const rule = page.locator('[data-rule="from-my-file"]')
    expect(await rule.getByRole('switch').isEnabled()).toBe(false)
    const text = JSON.stringify({ rules: [] })
    writeFileSync(own, '{ "rules": [')
    await file(own, 'red').getByText('1 rule in force, as before').waitFor()
    writeFileSync(own, text)
    await rule.waitFor({ state: 'detached' })
    trustStore(`${at.home}/trust.json`).trust(untrusted, readFileSync(untrusted, 'utf8'))
    await file(untrusted, 'good').waitFor()
    await page.locator('[data-rule="from-a-repository"]').getByRole('link').first().click()
    await page.getByText('It comes from a file, so it is changed there').waitFor()
    expect(await button(page, 'Delete').count()).toBe(0)
    expect(await field(page, 'Id').isEnabled()).toBe(false)
  },
  HANG,
)

test(
  'the page of an event simulates the rules on it: match, first failed condition, guard, and what each action would do',
  async () => {
    const at = await running()
    const { rule, switchOn, settled, firings, team } = rulesOf(at)
    await switchOn()
    await team('ops', [{ name: 'ada' }])
    const trigger = { event: 'PostToolUseFailure', outcome: 'failed' }
    const notify = { type: 'notify_team', id: 'tell', teamName: 'ops', summary: 'Failed: $ERROR' }
    await rule({ id: 'of-write', trigger, condition: { toolNames: ['Write'] }, actions: [notify] })
    const { body } = await at.dispatch('post_tool_use_failure', failedTool)
    const { page } = await signIn(at)
    await visit(page, `/events/${body.event_id}`, at)
    await page.getByRole('link', { name: 'Simulate recovery rules' }).click()
    const answer = (id: string) => page.locator(`[data-simulation] [data-rule="${id}"]`)
    await answer('of-write').getByText('condition.toolNames').waitFor()
    await answer('of-write').getByText('["Write"]').waitFor()
    await answer('of-write').getByText('"Edit"').waitFor()
    // A rule that is saved meanwhile is asked, too.
    await rule({ id: 'of-edit', trigger, condition: { toolNames: ['Edit'] }, actions: [notify] })
    await answer('of-edit').getByText('would fire').waitFor()
    await answer('of-edit').getByText('would notify * of ops: Failed: permission denied').waitFor()
    expect(await firings()).toEqual([])
    await at.dispatch('post_tool_use_failure', failedTool)
    await settled(1)
    await answer('of-edit')
      .getByText(/rule cooldown active for \d+ms/)
      .first()
      .waitFor()
    await screenshot(page, 'recovery-simulated')
  },
  HANG,
)

test(
  'teams, mailboxes and environments are kept in the view, and messages arrive by themselves',
  async () => {
    const { page, complaints } = await signIn(gateway())
    await visit(page, '/recovery?tab=teams')
    await page.getByText('No team yet').waitFor()
    await button(page, 'New team').first().click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Name').fill('night shift')
    await field(dialog, 'Name of member 1').fill('ada')
    await button(dialog, 'Add a channel').click()
    await field(dialog, 'Address of channel 1 of member 1').fill('nowhere')
    await button(dialog, 'Save the team').click()
    await dialog.getByText('must be an http or https address').first().waitFor()
    await field(dialog, 'Address of channel 1 of member 1').fill('http://127.0.0.1:9/x')
    await button(dialog, 'Save the team').click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('[data-team="night shift"]').getByText('webhook').waitFor()
    const { rule, switchOn, ok } = rulesOf(gateway())
    await switchOn()
    await rule({
      id: 'tell',
      trigger: { event: 'PostToolUseFailure' },
      actions: [{ type: 'notify_team', teamName: 'night shift', summary: 'A tool failed' }],
    })
    await gateway().dispatch('post_tool_use_failure', failedTool)
    const message = page.locator('[data-message]', { hasText: 'A tool failed' })
    await message.and(page.locator('[data-read="false"]')).waitFor()
    await message.getByRole('button').first().click()
    await message.and(page.locator('[data-read="true"]')).waitFor()
    await message.getByText(/waits|given up/).waitFor()
    await visit(page, '/recovery?tab=environments')
    await button(page, 'New environment').first().click()
    await field(dialog, 'Name').fill('spare')
    await page.getByRole('textbox', { name: 'Program and arguments, one per line' }).fill('hookhelm\nrunner')
    await button(dialog, 'Save the environment').click()
    const environment = page.locator('[data-environment="spare"]')
    await environment.getByText('hookhelm runner').waitFor()
    await environment.getByRole('switch').click({ force: true })
    const stored = async () => (await ok('GET', '/v1/environments')).environments[0].definition
    await expect.poll(stored).toMatchObject({ type: 'process', exec: ['hookhelm', 'runner'], enabled: false })
    await page.getByRole('switch', { name: 'Rules may start runners' }).click({ force: true })
    const allowed = async () => (await ok('GET', '/v1/settings')).settings.allow_remote_sessions?.value
    await expect.poll(allowed).toBe(true)
    expect(withoutRefusals(complaints)).toEqual([])
  },
  HANG,
)

test(
  'the built-in agent is listed, cannot be deleted, and is replaced by one of its name',
  async () => {
    const { page } = await signIn(gateway())
    await visit(page, '/agents?tab=blueprints')
    const row = page.locator('[data-blueprint="general-purpose"]')
    await row.getByText('built-in').waitFor()
    await row.getByRole('link').click()
    await page.getByRole('heading', { level: 1 }).getByText('built-in').waitFor()
    expect(await button(page, 'Delete').count()).toBe(0)
    await page.getByRole('textbox', { name: 'Description' }).fill('Ours.')
    await button(page, 'Replace the built-in agent').click()
    await page.getByText('version 1', { exact: true }).waitFor()
    await button(page, 'Delete').click()
    await button(page, 'Delete general-purpose and its hooks: its runs stay').click()
    await row.getByText('comes with the product').waitFor()
  },
  HANG,
)
