import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../../src/hook-files/trust.ts'
import { type Running, running } from '../../gateway/running.fixture.ts'
import { openLines } from '../../gateway/socket.fixture.ts'

const left = { agent: 'claude-code', at: 1_700_000_000_000, why: 'nobody answered' }
const native = { session_id: 's1', cwd: '/nowhere' }

function spoolOf({ home }: Pick<Running, 'home'>) {
  const folder = join(home, 'spool')
  mkdirSync(folder, { recursive: true })
  return {
    folder,
    names: () => readdirSync(folder).toSorted(),
    put: (name: string, value: unknown) =>
      writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value)),
  }
}

const emptied = (gateway: Running, spool: { names(): string[] }) =>
  gateway.until(
    async () => spool.names().filter((name) => !name.startsWith('bad-')),
    (names) => names.length === 0,
  )

const timeline = async (gateway: Running, session = 's1') =>
  (await gateway.call('GET', `/v1/sessions/${session}/timeline`)).body.events

test('a file that was recorded and not yet removed is recorded once, although its session is told differently', async () => {
  const gateway = await running()
  const spool = spoolOf(gateway)
  const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'gemini-cli' })
  lines.send({ id: 1, event: 'BeforeAgent', native: { ...native, prompt: 'go' } })
  await lines.next()
  const event = { ...left, agent: 'gemini-cli', event: 'SessionEnd', native: { ...native, reason: 'exit' } }
  spool.put('1700000000000-12.json', event)
  await emptied(gateway, spool)
  lines.send({ id: 2, event: 'BeforeAgent', native: { ...native, prompt: 'another turn' } })
  await lines.next()
  // As if the process had been killed between both.
  spool.put('1700000000000-12.json', event)
  spool.put('1700000000001-12.json', { ...event, event: 'Notification', native: { ...native, message: 'x' } })
  await emptied(gateway, spool)
  expect((await timeline(gateway)).map(({ event: name }: { event: string }) => name).toSorted()).toEqual([
    'notification',
    'session_end',
    'user_prompt_submit',
    'user_prompt_submit',
  ])
})

test('observers in the hook file of its folder are told of an event that comes late', async () => {
  const gateway = await running({ functions: { noop: () => undefined } })
  const folder = join(gateway.home, 'project')
  const file = join(folder, '.hookhelm', 'hooks.yaml')
  const text =
    'hooks:\n  - event: session_end\n    name: told\n    handler_type: script\n    config: { source: "function handle() { return {} }" }\n'
  mkdirSync(join(folder, '.hookhelm'), { recursive: true })
  writeFileSync(file, text)
  trustStore(join(gateway.home, 'trust.json')).trust(file, text)
  const spool = spoolOf(gateway)
  spool.put('1700000000000-12.json', { ...left, event: 'SessionEnd', native: { ...native, cwd: folder } })
  await emptied(gateway, spool)
  const { body } = await gateway.until(
    () => gateway.call('GET', '/v1/executions?event=session_end'),
    ({ body: found }) => found.executions.length > 0,
  )
  expect(body.executions).toMatchObject([{ metadata: { hook: 'repository/told' } }])
})

test('what stands in the way of one file does not keep the others', async () => {
  const gateway = await running()
  const broken = join(gateway.home, 'broken')
  const file = join(broken, '.hookhelm', 'hooks.yaml')
  mkdirSync(join(broken, '.hookhelm'), { recursive: true })
  writeFileSync(file, 'hooks: 7\n')
  trustStore(join(gateway.home, 'trust.json')).trust(file, 'hooks: 7\n')
  const spool = spoolOf(gateway)
  const end = (more: object) => ({ ...left, event: 'SessionEnd', native: { ...native, ...more } })
  spool.put('1700000000000-1.json', end({ cwd: broken, session_id: 's2' }))
  mkdirSync(join(spool.folder, '1700000000001-1.json', 'x'), { recursive: true })
  mkdirSync(join(spool.folder, 'bad-1700000000001-1.json', 'x'), { recursive: true })
  symlinkSync('/etc/passwd', join(spool.folder, '1700000000002-1.json'))
  spool.put('1700000000003-1.json', '')
  spool.put('1700000000004-1.json', 'null')
  spool.put('1700000000005-1.json', { ...left, event: 'SessionEnd', native: [1] })
  spool.put('1700000000006-1.json', { ...left, event: 'PostToolUse', native: { tool_name: { a: 1 } } })
  spool.put('1700000000007-1.json', { ...end({}), at: -5 })
  spool.put('1700000000008-1.json', { ...end({}), at: 9e15 })
  spool.put('1700000000009-1.json', {
    ...left,
    event: 'PostToolUse',
    native: { ...native, tool_name: 'x'.repeat(5000), tool_input: {} },
  })
  await gateway.until(
    async () => spool.names(),
    (found) => !found.some((name) => /^170000000000[2-9]/.test(name)),
  )
  // One waits for its hook file, and one is a folder that has no other place to go.
  expect(spool.names().filter((name) => !name.startsWith('bad-'))).toEqual([
    '1700000000000-1.json',
    '1700000000001-1.json',
  ])
  expect(await timeline(gateway)).toHaveLength(2)
  writeFileSync(file, 'hooks: []\n')
  trustStore(join(gateway.home, 'trust.json')).trust(file, 'hooks: []\n')
  await gateway.until(
    async () => spool.names(),
    (found) => !found.includes('1700000000000-1.json'),
  )
  expect(await timeline(gateway, 's2')).toHaveLength(1)
})
