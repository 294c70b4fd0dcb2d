import type { Page } from 'playwright-core'
import type { RunningGateway } from '../../src/app/gateway/open-gateway.ts'
import type { Case } from './cases.ts'
import type { Ran, Recipe } from './recipe.ts'
import type { OpenStage } from './stage.ts'

const FILE = 'ran.txt'
const OTHER = 'rewritten.txt'
const REASON = 'HH-ASKED-208'
const MESSAGE = 'HH-DENIED-31'

/** What the person does in the browser once the card of the call is there. */
type Act = (page: Page, gateway: RunningGateway) => Promise<void>

/** Runs the agent while a person looks at the Approvals view in a real browser. */
async function runWatched(
  stage: OpenStage,
  recipe: Recipe,
  act: Act,
  settings: Parameters<OpenStage['up']>[1] = {},
): Promise<Ran> {
  const ask = { event: 'pre_tool_use', run: () => ({ kind: 'ask', reason: REASON }) as const }
  const gateway = await stage.up([{ ...ask, options: { matcher: '^Bash$' } }], settings)
  stage.connect()
  const { launchChromium, prepareChromium } = await import('../ui/chromium.ts')
  prepareChromium()
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(90_000)
    await page.goto(gateway.loginLink())
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    await page.goto(`${gateway.url}/ui/approvals`)
    const [ran] = await Promise.all([recipe.run(stage), act(page, gateway)])
    return ran
  } finally {
    await browser.close()
  }
}

const cardOf = (page: Page) => page.locator('section[data-approval]').filter({ hasText: REASON })

const approve: Act = async (page) => {
  const card = cardOf(page)
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByRole('button', { name: 'Yes, let it run' }).click()
}

const deny: Act = async (page) => {
  await cardOf(page).getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill(MESSAGE)
  await page.keyboard.press('Enter')
}

const edit: Act = async (page, { url, token }) => {
  await cardOf(page).waitFor()
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/v1/approvals?status=pending`, { headers })
  const { approvals } = (await answer.json()) as { approvals: { input: Record<string, unknown> }[] }
  const edited = { ...approvals[0]?.input, command: `echo yes > ${OTHER}` }
  await cardOf(page).getByRole('button', { name: 'Edit' }).click()
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(JSON.stringify(edited))
  await page.getByRole('button', { name: 'Approve the edit' }).click()
}

/** Looks at the card until its deadline has passed. */
const doNothing: Act = async (page) => {
  await cardOf(page).waitFor()
  await cardOf(page).waitFor({ state: 'detached' })
}

const told = (stage: OpenStage, text: string) =>
  stage.requests.some(({ body }) => JSON.stringify(body ?? '').includes(text))

const seen = (ran: Ran, what: string) => `${what}; it ended with ${ran.code}: ${ran.output.slice(-600)}`

/** A person decides in a browser about a call that the agent waits with. The side effect of the tool is the proof. */
export const approvalCases: readonly Case[] = [
  {
    name: 'approved',
    about: 'a person approves the call in the web app: the tool runs',
    async run(stage, recipe) {
      const ran = await runWatched(stage, recipe, approve)
      return stage.made(FILE) || seen(ran, 'the tool did not run')
    },
  },
  {
    name: 'denied',
    about: 'a person denies the call with a message: the tool does not run, and the model gets the message',
    async run(stage, recipe) {
      const ran = await runWatched(stage, recipe, deny)
      if (stage.made(FILE)) return seen(ran, 'the tool ran')
      return told(stage, MESSAGE) || seen(ran, 'the model did not get the message')
    },
  },
  {
    name: 'edited',
    about: 'a person edits the command: the edited one runs',
    async run(stage, recipe) {
      const ran = await runWatched(stage, recipe, edit)
      if (stage.made(FILE)) return seen(ran, 'the original ran')
      return stage.made(OTHER) || seen(ran, 'the edited command did not run')
    },
  },
  {
    name: 'expired',
    about: 'no person answers until the deadline: the tool does not run',
    async run(stage, recipe) {
      const ran = await runWatched(stage, recipe, doNothing, { approval_timeout_ms: 5_000 })
      if (stage.made(FILE)) return seen(ran, 'the tool ran')
      return told(stage, 'in time') || seen(ran, 'the model was not told')
    },
  },
]
