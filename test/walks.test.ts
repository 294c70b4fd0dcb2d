import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { person } from './approvals/people.fixture.ts'
import { shared } from './gateway/running.fixture.ts'

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
const gateway = shared()
const session = new Session()

beforeAll(async () => {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
})
afterAll(() => session.disconnect())

/** The listed files of which no function was called while the item walked. Their modules were loaded before. */
async function missedBy(way: string, walk: () => Promise<unknown>): Promise<readonly string[]> {
  const listed = ways.get(way) ?? []
  expect(listed.length).toBeGreaterThan(3)
  await session.post('Profiler.takePreciseCoverage')
  await walk()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const called = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
  return listed.filter((file) => !called.some(({ url }) => url.endsWith(`/${file}`)))
}

const call = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const asking = {
  ...{ event: 'pre_tool_use', handler_type: 'script' },
  config: { source: "function handle() { return { decision: 'ask', reason: 'sure?' } }" },
}

test('a tool call passes every file that the page lists for it', async () => {
  const native = { hook_event_name: 'PreToolUse', session_id: 's', ...call('ls') }
  const walk = () => gateway().call('POST', '/v1/agents/claude-code/PreToolUse', native)
  expect(await missedBy('A tool call', walk)).toEqual([])
})

test('a stored hook passes every file that the page lists for it', async () => {
  expect(await missedBy('A stored hook', () => gateway().hook(asking))).toEqual([])
})

test('an approval passes every file that the page lists for it', async () => {
  const { dispatch, call: ask, until } = gateway()
  const { answer } = await person(gateway(), 'ada')
  const walk = async () => {
    const held = dispatch('pre_tool_use', call('deploy'), { within_ms: 60_000 })
    const { body } = await until(
      () => ask('GET', '/v1/approvals'),
      (answer) => answer.body.approvals.length === 1,
    )
    const { approval_id } = body.approvals[0]
    await answer('approve', approval_id)
    expect((await held).body.decision).toMatchObject({ kind: 'allow', grant: true })
  }
  expect(await missedBy('An approval', walk)).toEqual([])
})
