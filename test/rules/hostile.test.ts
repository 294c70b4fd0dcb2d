import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../src/hook-files/trust.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { scratch, write } from '../trust/repository.fixture.ts'
import { failedTool, rulesOf } from './recovery.fixture.ts'

const HANG = 120_000
/** A rule file is looked at so often. */
const CHECK_MS = 1_000

test(
  'a coding agent that a rule started, and that fails like the first, does not start the next for ever',
  async () => {
    const gateway = await running({ edition: 'standard' })
    const { ok, rule, switchOn, settled, firings, audited } = rulesOf(gateway)
    await switchOn()
    await ok('POST', '/agents', {
      ...{ name: 'coder', type: 'autonomous' },
      executor: { profile: 'coders' },
    })
    await rule({
      id: 'loop',
      trigger: { event: 'PostToolUseFailure' },
      ...{ cooldownMs: 0, dedupWindowMs: 0 },
      actions: [{ type: 'spawn_fallback_agent', agentType: 'coder' }],
    })
    const { runner_id } = await ok('POST', '/runner/register', {
      ...{ hostname: 'h', project_dir: '/srv', executor_profile: 'coders' },
    })
    const fail = (session_id: string) =>
      ok('POST', '/v1/agents/claude-code/PostToolUseFailure', {
        ...{ session_id, cwd: '/srv', hook_event_name: 'PostToolUseFailure', tool_name: 'Edit' },
        ...{ tool_input: { file_path: '/a' }, error: `failed in ${session_id}` },
      })
    /** The agent of the next run begins a session of its own. */
    const begin = async (executor_session_id: string) => {
      const { run } = await ok('GET', `/runner/runs?runner_id=${runner_id}`)
      await ok('POST', `/runner/runs/${run.run_id}/started`, { runner_id, executor_session_id })
      return run.run_id
    }
    await fail('of a person')
    await settled(1)
    const first = await begin('own-1')
    await fail('own-1')
    await settled(2)
    const second = await begin('own-2')
    await fail('own-2')
    // The same from a program of the run that names it and forgets its depth.
    await gateway.dispatch('post_tool_use_failure', failedTool, { envelope: { run: second } })
    const skipped = await gateway.until(
      async () => {
        const { events } = await ok('GET', '/v1/events?event=post_tool_use_failure&limit=50')
        const rows = await Promise.all(events.map(({ event_id }: { event_id: string }) => audited(event_id)))
        return rows.flat().filter(({ decision }) => decision === 'skipped')
      },
      (rows) => rows.length === 2,
    )
    for (const { metadata } of skipped) expect(metadata.reason).toBe('max chain depth reached (2/2)')
    expect(await firings()).toMatchObject([
      { depth: 1, run_id: first, session_id: 'own-1' },
      { depth: 0, run_id: null },
    ])
  },
  HANG,
)

const notifying = (id: string) =>
  JSON.stringify({
    ...{ defaultCooldownMs: 0, defaultDedupWindowMs: 0 },
    rules: [{ id, trigger: { event: 'PostToolUseFailure' }, actions: [{ type: 'notify_team' }] }],
  })

/** The file of rules that a gateway lists, with its state and the rules of it that are in force. */
async function listedFile(gateway: Running, path: string, folder = '/') {
  const { body } = await gateway.call('GET', `/v1/rules?folder=${encodeURIComponent(folder)}`)
  const file = body.files.find((each: { file: string }) => each.file === path)
  const rules = body.rules.filter(({ source }: { source: string }) => source === path)
  return { state: file?.state, problem: file?.problem, ids: rules.map(({ id }: { id: string }) => id) }
}

async function isWarned(gateway: Running, path: string): Promise<boolean> {
  const { body } = await gateway.call('GET', '/v1/status')
  const part = body.lines.find(({ name }: { name: string }) => name === 'recovery rules')
  return part.state === 'warn' && JSON.stringify(part).includes(path)
}

const inPlace = (path: string, create: () => unknown) => {
  rmSync(path)
  create()
}
const good = notifying('first')
const unusable: readonly (readonly [string, (path: string) => void])[] = [
  ['half-written', (path) => writeFileSync(path, good.slice(0, 60))],
  ['empty', (path) => writeFileSync(path, '')],
  ['deleted', (path) => rmSync(path)],
  ['a folder', (path) => inPlace(path, () => mkdirSync(path))],
  ['a link to itself', (path) => inPlace(path, () => symlinkSync(path, path))],
  ['a link to nothing', (path) => inPlace(path, () => symlinkSync(`${path}-none`, path))],
  ['a named pipe', (path) => inPlace(path, () => execFileSync('mkfifo', [path]))],
  ['5 MB', (path) => writeFileSync(path, good.padEnd(5_000_000))],
  ['UTF-16', (path) => writeFileSync(path, good, 'utf16le')],
  ['null', (path) => writeFileSync(path, 'null')],
  ['a list', (path) => writeFileSync(path, `[${good}]`)],
  ['one with a key twice', (path) => writeFileSync(path, good.replace('{', '{"rules":[],'))],
  ['one with __proto__', (path) => writeFileSync(path, good.replace('{', '{"__proto__":{"rules":[]},'))],
  ['one with an unknown event', (path) => writeFileSync(path, good.replace('PostTool', 'PostTol'))],
  ['writable by others', (path) => chmodSync(path, 0o666)],
]

test(
  'a file of the user that becomes unusable is shown, and its rules stay until it is good again',
  async () => {
    const clock = fakeClock()
    const gateway = await running({ clock, socket: false })
    await rulesOf(gateway).switchOn()
    const path = join(gateway.home, 'hook-chains.json')
    const listed = () => {
      clock.stall(CHECK_MS)
      return listedFile(gateway, path)
    }
    const replace = async (id: string) => {
      rmSync(path, { recursive: true, force: true })
      writeFileSync(`${path}.new`, notifying(id))
      renameSync(`${path}.new`, path)
      expect(await listed()).toEqual({ state: 'good', ids: [id] })
    }
    for (const [name, spoil] of unusable) {
      await replace('first')
      spoil(path)
      const problem = expect.any(String)
      expect([name, await listed()]).toEqual([name, { state: 'red', problem, ids: ['first'] }])
      expect([name, await isWarned(gateway, path)]).toEqual([name, true])
    }
    await replace('second')
    expect(await isWarned(gateway, path)).toBe(false)
    // A byte order mark is no part of the content.
    writeFileSync(path, `\uFEFF${notifying('third')}`)
    expect(await listed()).toEqual({ state: 'good', ids: ['third'] })
  },
  HANG,
)

test(
  'trusted rules apply after a restart although their file cannot be read, and not after the trust is revoked',
  async () => {
    const home = scratch()
    const repository = scratch()
    mkdirSync(join(repository, '.git'))
    const path = write(join(repository, '.hookhelm/hook-chains.json'), good)
    const trust = trustStore(join(home, 'trust.json'))
    trust.trust(path, good)
    const causes = ['half-written', 'deleted', 'a folder', 'a link to itself']
    for (const [name, spoil] of unusable.filter(([each]) => causes.includes(each))) {
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, good)
      spoil(path)
      const gateway = await running({ home, socket: false })
      await rulesOf(gateway).switchOn()
      expect([name, await isWarned(gateway, path)]).toEqual([name, true])
      const { state, ids } = await listedFile(gateway, path, repository)
      expect([name, state, ids]).toEqual([name, expect.stringMatching(/changed|gone/), ['first']])
      await gateway.end()
    }
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path)
    const clock = fakeClock()
    const gateway = await running({ home, clock, socket: false })
    expect((await listedFile(gateway, path, repository)).ids).toEqual(['first'])
    trust.revoke(path)
    clock.stall(CHECK_MS)
    expect(await listedFile(gateway, path, repository)).toMatchObject({ state: 'red', ids: [] })
  },
  HANG,
)

test(
  'rules of a folder that was unsafe apply when the folder is safe, although their file did not change',
  async () => {
    const clock = fakeClock()
    const gateway = await running({ clock, socket: false })
    const path = join(gateway.home, 'hook-chains.json')
    chmodSync(gateway.home, 0o777)
    writeFileSync(path, good)
    expect(await listedFile(gateway, path)).toMatchObject({ state: 'red', ids: [] })
    chmodSync(gateway.home, 0o700)
    clock.stall(CHECK_MS)
    expect(await listedFile(gateway, path)).toEqual({ state: 'good', ids: ['first'] })
  },
  HANG,
)

test(
  'a trust store that becomes unusable is shown, and every rule that was in force stays',
  async () => {
    const clock = fakeClock()
    const gateway = await running({ clock, socket: false })
    const { switchOn, rule, audited } = rulesOf(gateway)
    await switchOn()
    const repository = scratch()
    mkdirSync(join(repository, '.git'))
    const path = write(join(repository, '.hookhelm/hook-chains.json'), notifying('trusted'))
    const trusted = join(gateway.home, 'trust.json')
    trustStore(trusted).trust(path, notifying('trusted'))
    writeFileSync(join(gateway.home, 'hook-chains.json'), notifying('own'))
    await rule({ ...JSON.parse(notifying('stored')).rules[0], cooldownMs: 0, dedupWindowMs: 0 })
    const fired = async () => {
      const envelope = { cwd: repository }
      const { body } = await gateway.dispatch('post_tool_use_failure', failedTool, { envelope })
      const rows = await gateway.until(
        () => audited(body.event_id),
        (found) => found.length === 3,
      )
      return rows.map(({ metadata }) => metadata.rule_id).toSorted()
    }
    expect(await fired()).toEqual(['own', 'stored', 'trusted'])
    const text = readFileSync(trusted, 'utf8')
    writeFileSync(trusted, '{ "version": 1, "fil')
    clock.stall(CHECK_MS)
    expect(await fired()).toEqual(['own', 'stored', 'trusted'])
    expect(await isWarned(gateway, trusted)).toBe(true)
    expect(await listedFile(gateway, trusted)).toMatchObject({ state: 'red' })
    writeFileSync(trusted, text)
    clock.stall(CHECK_MS)
    expect(await fired()).toEqual(['own', 'stored', 'trusted'])
    expect(await isWarned(gateway, trusted)).toBe(false)
  },
  HANG,
)

test('a rule fires for an event with a number beyond 2⁵³', async () => {
  const gateway = await running()
  const { switchOn, rule, settled } = rulesOf(gateway)
  await switchOn()
  await rule(JSON.parse(notifying('exact')).rules[0])
  const payload = JSON.stringify(failedTool).replace('"a"', '9007199254740993')
  await gateway.call('POST', '/v1/dispatch', `{"event":"post_tool_use_failure","payload":${payload}}`)
  expect(await settled(1)).toMatchObject([{ rule_id: 'exact' }])
})
