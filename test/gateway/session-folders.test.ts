import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { type FaultyStore, failMethods, faultyStore } from '../../src/testing/index.ts'
import { agent, hookFile, refusing } from '../hostile/agents/agent.fixture.ts'
import { running } from './running.fixture.ts'

function repository() {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-folders-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [repo, elsewhere] = [join(home, 'repo'), join(home, 'elsewhere')]
  mkdirSync(elsewhere)
  hookFile(home, repo, refusing('the repository says no'))
  return { home, repo, elsewhere }
}

const bash = (more: object) => ({
  hook_event_name: 'PreToolUse',
  session_id: 's1',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  ...more,
})
const says = async (answer: Promise<unknown>) => JSON.stringify(await answer)
const NO = 'the repository says no'

test.each([
  ['in another folder', (elsewhere: string) => ({ cwd: elsewhere })],
  ['without a folder', () => ({})],
])(
  'after a restart of the gateway the hooks of the repository apply to a session that works %s',
  async (_, folder) => {
    const { home, repo, elsewhere } = repository()
    const first = await running({ home })
    expect(
      await says(agent(first)('SessionStart', { session_id: 's1', cwd: repo, source: 'startup' })),
    ).not.toContain(NO)
    await first.end()
    const second = await running({ home })
    const ask = agent(second)
    expect(await says(ask('PreToolUse', bash(folder(elsewhere))))).toContain(NO)
    // Another session that began there is free.
    expect(await says(ask('PreToolUse', bash({ cwd: elsewhere, session_id: 's2' })))).not.toContain(NO)
  },
)

test('after a restart the hooks of the repository apply to OpenClaw, whose tool calls name no folder', async () => {
  const { home, repo } = repository()
  const ctx = { runtime: 'openclaw', sessionId: 's1', sessionKey: 'agent:main:main', runId: 'r' }
  const first = await running({ home })
  await agent(first, 'openclaw')('session_start', {
    event: { sessionId: 's1' },
    ctx: { ...ctx, workspaceDir: repo },
  })
  await first.end()
  const second = await running({ home })
  const call = { event: { toolName: 'exec', params: { command: 'ls' } }, ctx }
  expect(await says(agent(second, 'openclaw')('before_tool_call', call))).toContain(NO)
})

test('after a restart the session of a sub-agent is guarded where its parent began', async () => {
  const { home, repo, elsewhere } = repository()
  const first = await running({ home })
  const ask = agent(first, 'codex')
  await ask('SessionStart', { session_id: 's1', cwd: repo, source: 'startup' })
  await ask('SubagentStart', { session_id: 's1', cwd: repo, agent_id: 'child', agent_type: 'worker' })
  expect(await says(ask('PreToolUse', bash({ session_id: 'child', cwd: elsewhere })))).toContain(NO)
  await first.end()
  const second = await running({ home })
  expect(
    await says(agent(second, 'codex')('PreToolUse', bash({ session_id: 'child', cwd: elsewhere }))),
  ).toContain(NO)
})

test('a gate whose session cannot be looked up gets no answer that lets the call run', async () => {
  const { home, repo, elsewhere } = repository()
  const first = await running({ home })
  await agent(first)('SessionStart', { session_id: 's1', cwd: repo, source: 'startup' })
  await first.end()
  let faulty: FaultyStore<Store> | undefined
  const second = await running({
    home,
    aroundStore(store) {
      faulty = faultyStore(store)
      return faulty.store
    },
  })
  faulty?.plan(failMethods(['keepSessionFolder'], 'before'))
  const answer = await agent(second)('PreToolUse', bash({ cwd: elsewhere }))
  expect(answer).toMatchObject({ error: { code: 'store.unavailable' } })
  expect(answer.reply).toBeUndefined()
  faulty?.plan()
  expect(await says(agent(second)('PreToolUse', bash({ cwd: elsewhere })))).toContain(NO)
})
