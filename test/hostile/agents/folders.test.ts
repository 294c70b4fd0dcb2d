import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../../src/hook-files/trust.ts'
import { running } from '../../gateway/running.fixture.ts'
import { agent, bash, hookFile, refusing } from './agent.fixture.ts'

test('a link into a repository leads past none of its hooks', async () => {
  const gateway = await running()
  const repository = join(gateway.home, 'repository')
  mkdirSync(join(repository, '.git'), { recursive: true })
  mkdirSync(join(repository, 'a', 'b'), { recursive: true })
  hookFile(gateway.home, repository, refusing('not in here'))
  const link = join(gateway.home, 'link')
  symlinkSync(join(repository, 'a', 'b'), link)
  const ask = agent(gateway)
  for (const cwd of [join(repository, 'a', 'b'), link, `${link}/`, `${link}/../b`])
    expect(JSON.stringify(await ask('PreToolUse', bash(cwd)))).toContain('not in here')
})

test('an agent that moves on leaves no hooks of its folder behind', async () => {
  const gateway = await running()
  const folder = join(gateway.home, 'project')
  hookFile(gateway.home, folder, refusing('of the start'))
  hookFile(gateway.home, join(folder, 'a'), refusing('of a').replace('pre_tool_use', 'user_prompt_submit'))
  const other = join(gateway.home, 'other')
  hookFile(gateway.home, other, refusing('of the other').replace('pre_tool_use', 'user_prompt_submit'))
  const below = join(folder, 'a', 'b')
  mkdirSync(below, { recursive: true })
  const ask = agent(gateway)
  for (const cwd of [folder, join(folder, 'a'), below, '/tmp', '/', undefined, 'relative', folder])
    expect(JSON.stringify(await ask('PreToolUse', { ...bash(folder), cwd }))).toContain('of the start')
  // What it comes to counts as well.
  for (const [cwd, reason] of [
    [join(folder, 'a'), 'of a'],
    [other, 'of the other'],
  ])
    expect(
      JSON.stringify(
        await ask('UserPromptSubmit', { session_id: 's1', cwd, prompt: 'x', prompt_id: reason }),
      ),
    ).toContain(reason)
  expect(await ask('PreToolUse', { ...bash('/tmp'), session_id: 's2' })).toMatchObject({
    reply: { exit: 0, stdout: '' },
  })
})

test('a hook file that can no longer be used keeps no change of other hooks from being taken over', async () => {
  const gateway = await running()
  const folder = join(gateway.home, 'project')
  const file = hookFile(gateway.home, folder, refusing('of the file'))
  const ask = agent(gateway)
  expect(JSON.stringify(await ask('PreToolUse', bash(folder)))).toContain('of the file')
  hookFile(gateway.home, folder, 'hooks: 7\n')
  const changed = { settings: { breaker: { counts: ['timeout'] } } }
  expect(await gateway.call('PATCH', '/v1/settings', changed)).toMatchObject({ status: 200 })
  const stored = {
    event: 'user_prompt_submit',
    handler_type: 'script',
    config: { source: 'function handle() { return { decision: "block", reason: "of the store" } }' },
  }
  await gateway.hook(stored)
  const prompt = { session_id: 's1', cwd: folder, prompt: 'x' }
  const closed = JSON.stringify(await ask('UserPromptSubmit', prompt))
  expect(closed).toContain('config.')
  expect((await gateway.call('GET', '/v1/status')).body.lines).toContainEqual(
    expect.objectContaining({ name: 'definitions', state: 'ok' }),
  )
  rmSync(file)
  // Ruling 42: what was trusted stays, until it is revoked.
  expect(JSON.stringify(await ask('UserPromptSubmit', prompt))).toContain('config.')
  trustStore(join(gateway.home, 'trust.json')).revoke(file)
  expect(JSON.stringify(await ask('UserPromptSubmit', prompt))).toContain('of the store')
})

test('a stored hook and one of a file with the same id close the gates of that folder only', async () => {
  const gateway = await running()
  const folder = join(gateway.home, 'project')
  const ask = agent(gateway)
  const id = await gateway.hook({
    event: 'pre_tool_use',
    matcher: 'Read',
    handler_type: 'script',
    config: { source: 'function handle() { return {} }' },
  })
  hookFile(gateway.home, folder, refusing('of the file', `    id: ${id}\n`))
  expect(JSON.stringify(await ask('PreToolUse', bash(folder)))).toContain('config.duplicate_id')
  expect(await ask('PreToolUse', { ...bash(gateway.home), session_id: 's2' })).toMatchObject({
    reply: { exit: 0, stdout: '' },
  })
})

test('what is queued for a stored hook does not ask for the files of a folder, and what is for one of a file does', async () => {
  const queued: string[] = []
  const gateway = await running({
    functions: { noop: () => undefined },
    aroundStore: (store) => ({
      ...store,
      recordEvents(events, deliveries, answers) {
        queued.push(...deliveries.map(({ payload }) => payload))
        return store.recordEvents(events, deliveries, answers)
      },
    }),
  })
  const folder = join(gateway.home, 'project')
  const stored = await gateway.hook({
    event: 'session_end',
    handler_type: 'function',
    config: { name: 'noop' },
  })
  hookFile(gateway.home, folder, refusing('x').replace('pre_tool_use', 'session_end'))
  await agent(gateway)('SessionEnd', { session_id: 's1', cwd: folder, reason: 'other' })
  const placed = queued.map((payload) => JSON.parse(payload)).map(({ hook, folder: at }) => [hook, at])
  expect(placed.toSorted()).toEqual(
    [
      [stored, undefined],
      ['repository/guard', { cwd: folder, start: folder }],
    ].toSorted(),
  )
})

test('folders count only where the gateway and the agent have one user', async () => {
  const gateway = await running({ edition: 'standard' })
  writeFileSync(join(gateway.home, 'hooks.yaml'), refusing('of the user'))
  const folder = join(gateway.home, 'project')
  hookFile(gateway.home, folder, refusing('of the file'))
  expect(await agent(gateway)('PreToolUse', bash(folder))).toMatchObject({ reply: { exit: 0, stdout: '' } })
  const { body } = await gateway.call('POST', '/v1/agents/claude-code/PreToolUse', bash(folder))
  expect(body).toEqual({})
})

test('hooks of the same name in two repositories cool down each for itself', async () => {
  const gateway = await running()
  const rested = refusing('still awake').replace('name: guard', 'name: guard\n    cooldown_ms: 600000')
  const folders = ['a', 'b'].map((name) => join(gateway.home, name))
  for (const folder of folders) hookFile(gateway.home, folder, rested)
  const ask = agent(gateway)
  const asked = async (cwd = '', session_id = '') =>
    JSON.stringify(await ask('PreToolUse', { ...bash(cwd), session_id }))
  expect(await asked(folders[0], 'one')).toContain('still awake')
  expect(await asked(folders[1], 'two')).toContain('still awake')
  expect(await asked(folders[0], 'one')).not.toContain('still awake')
})
