import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { fakeClock } from '../src/testing/index.ts'
import { person } from './approvals/people.fixture.ts'
import { firstCalls } from './first-calls.fixture.ts'
import { shared } from './gateway/running.fixture.ts'
import { localRunner, runsOf, untilEnded } from './runs/runs.fixture.ts'

/** The files that ARCHITECTURE.md lists for each way, in the order of the page. */
function waysOnThePage(): ReadonlyMap<string, readonly string[]> {
  const [, page = ''] = readFileSync('ARCHITECTURE.md', 'utf8').split('\n## How an item walks\n')
  const [section = ''] = page.split('\n## ')
  const ways = section.split('\n### ').slice(1)
  return new Map(
    ways.map((way) => {
      const [title = ''] = way.split('\n', 1)
      return [title, [...way.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, file = '']) => file)]
    }),
  )
}

const ways = waysOnThePage()
// Time stands still, so that nothing happens but the walk.
const gateway = shared(() => ({ clock: fakeClock() }))

/** The files of a way as the page lists them, and in the order in which the walk calls them. */
async function compare(way: string, walk: () => Promise<unknown>) {
  const listed = ways.get(way) ?? []
  expect(listed.length).toBeGreaterThan(3)
  return { listed, called: await firstCalls(listed, walk) }
}

const call = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const asking = {
  ...{ event: 'pre_tool_use', handler_type: 'script' },
  config: { source: "function handle() { return { decision: 'ask', reason: 'sure?' } }" },
}

test('a tool call passes every file that the page lists for it, in this order', async () => {
  const native = { hook_event_name: 'PreToolUse', session_id: 's', ...call('ls') }
  const walk = () => gateway().call('POST', '/v1/agents/claude-code/PreToolUse', native)
  const { listed, called } = await compare('A tool call', walk)
  expect(called).toEqual(listed)
})

test('a stored hook passes every file that the page lists for it, in this order', async () => {
  const { listed, called } = await compare('A stored hook', () => gateway().hook(asking))
  expect(called).toEqual(listed)
})

test('an approval passes every file that the page lists for it, in this order', async () => {
  const { dispatch, home } = gateway()
  const { answer } = await person(gateway(), 'ada')
  // Asking the gateway would be a call of a method of its own.
  const database = new DatabaseSync(join(home, 'hookhelm.db'), { readOnly: true })
  onTestFinished(() => database.close())
  const storedQuestion = async () =>
    String(database.prepare('select approval_id from approvals').get()?.approval_id ?? '')
  const walk = async () => {
    const held = dispatch('pre_tool_use', call('deploy'), { within_ms: 60_000 })
    await answer('approve', await gateway().until(storedQuestion, (id) => id !== ''))
    expect((await held).body.decision).toMatchObject({ kind: 'allow', grant: true })
  }
  const { listed, called } = await compare('An approval', walk)
  expect(called).toEqual(listed)
})

test('a run passes every file that the page lists for it, in this order', async () => {
  const { agent, start } = runsOf(gateway())
  const run_start = [{ type: 'agent', agent_name: 'check', on_error: 'block' }]
  await agent('check', 'return { action: "continue" }')
  await agent('double', 'return { n: p.n * 2 }', { hooks: { on_run_start: run_start } })
  await localRunner(gateway())
  const walk = async () => {
    const { run_id } = await start('double', { n: 21 })
    expect(await untilEnded(gateway(), run_id)).toMatchObject({ status: 'completed' })
  }
  const { listed, called } = await compare('A run', walk)
  expect(called).toEqual(listed)
})
