import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { GatewayOptions } from '../../src/app/gateway/open-gateway.ts'
import { createClient } from '../../src/client/client.ts'
import { trustStore } from '../../src/hook-files/trust.ts'
import { freshDatabase } from '../postgres/database.ts'
import { as, tokenFor, withoutTables } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { type Running, running } from './running.fixture.ts'
import { openLines } from './socket.fixture.ts'

const quiet = { exit: 0, stdout: '', stderr: '' }
const functions = { no: () => ({ kind: 'block', reason: 'go on' }), pass: () => undefined }
const goOn = { event: 'stop', handler_type: 'function', config: { name: 'no' } }
const envelope = { session: 's1' }

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-stop-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Asks as Claude Code over the socket does. */
function claude({ socket = '' }: Running, cwd: string) {
  const lines = openLines(socket, { hookhelm: 1, agent: 'claude-code' })
  let id = 0
  return async (event: string, more: object = {}) => {
    lines.send({ id: ++id, event, native: { session_id: 's1', cwd, hook_event_name: event, ...more } })
    return (await lines.next()).reply
  }
}

describe('an agent may stop although its hooks cannot be loaded', () => {
  const bash = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }
  const broken = 'hooks: [ { event: pre_tool_use'
  const levels: [string, (home: string, cwd: string) => Record<string, string>][] = [
    [
      'user',
      (home) => {
        writeFileSync(join(home, 'hooks.yaml'), broken)
        return {}
      },
    ],
    [
      'managed',
      () => {
        const folder = scratch()
        writeFileSync(join(folder, 'hooks.yaml'), broken)
        return { HOOKHELM_MANAGED_DIR: folder }
      },
    ],
    [
      'repository',
      (home, cwd) => {
        const file = join(cwd, '.hookhelm', 'hooks.yaml')
        mkdirSync(join(cwd, '.hookhelm'))
        writeFileSync(file, broken)
        trustStore(join(home, 'trust.json')).trust(file, broken)
        return {}
      },
    ],
  ]

  test.each(levels)('a broken %s file', async (_, breakFile) => {
    const [home, cwd] = [scratch(), scratch()]
    const gateway = await running({ home, env: breakFile(home, cwd) })
    const ask = claude(gateway, cwd)
    for (let i = 0; i < 20; i++) expect(await ask('Stop')).toEqual(quiet)
    expect(await ask('PreCompact', { trigger: 'auto' })).toEqual(quiet)
    expect(JSON.stringify(await ask('PreToolUse', bash))).toContain('deny')
    for (let i = 0; i < 20; i++) {
      expect((await gateway.dispatch('stop', {}, { envelope })).body.decision.kind).toBe('allow')
      const native = { session_id: 's1', cwd, hook_event_name: 'Stop' }
      expect((await gateway.call('POST', '/v1/agents/claude-code/Stop', native)).body).toEqual({})
    }
    const client = createClient({ socket: gateway.socket ?? '' })
    onTestFinished(() => client.close())
    const { decision } = await client.dispatch({ event: 'stop', payload: {}, envelope })
    expect(decision.kind).toBe('allow')
  })

  test('the history says why it was let through', async () => {
    const home = scratch()
    writeFileSync(join(home, 'hooks.yaml'), broken)
    const gateway = await running({ home })
    await claude(gateway, scratch())('Stop')
    await claude(gateway, scratch())('PreToolUse', bash)
    const { body } = await gateway.until(
      () => gateway.call('GET', '/v1/sessions/s1/timeline'),
      (answer) => answer.body.events?.length === 2,
    )
    expect(body.events).toMatchObject([
      { event: 'stop', kind: 'allow', code: 'config.hook_file' },
      { event: 'pre_tool_use', kind: 'block', code: 'config.hook_file' },
    ])
    const explained = await gateway.call('GET', `/v1/events/${body.events[0].event_id}/explain`)
    expect(explained.body.decision.reason).toContain('hooks.yaml')
  })

  test.each([
    ['stop', {}],
    ['pre_compact', { trigger: 'auto' }],
    ['task_completed', { task_id: 't', task_subject: 'x' }],
  ])('%s with a store that is unavailable', async (event, payload) => {
    const gateway = await running({ edition: 'standard', functions })
    await gateway.call('POST', '/v1/tenants', { name: 'fresh' })
    const { token } = await tokenFor(gateway, { role: 'agent' }, 'fresh')
    const send = async (name: string, given: unknown) =>
      (await gateway.call('POST', '/v1/dispatch', { event: name, payload: given }, as(token))).body.decision
    const giveBack = withoutTables(gateway, 'agent_hooks')
    expect(await send(event, payload)).toMatchObject({ kind: 'allow', code: 'store.unavailable' })
    expect(await send('pre_tool_use', exec('ls'))).toMatchObject({ kind: 'block' })
    giveBack()
  })

  test.each([
    ['stop', {}],
    ['pre_compact', { trigger: 'auto' }],
    ['task_completed', { task_id: 't', task_subject: 'x' }],
  ])('%s with audit strict and a record that cannot be written', async (event, payload) => {
    const gateway = await running({ functions, settings: { audit: 'strict' } })
    const hookId = await gateway.hook({ event, handler_type: 'function', config: { name: 'pass' } })
    const decide = async () => (await gateway.dispatch(event, payload, { envelope })).body.decision
    expect(await decide()).toEqual({ kind: 'allow' })
    const giveBack = withoutTables(gateway, 'audit_journal')
    expect(await decide()).toMatchObject({
      kind: 'allow',
      code: 'store.unavailable',
      reason: 'the decision cannot be recorded',
    })
    // The block of a hook is its own, with or without a record.
    await gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates: { config: { name: 'no' } } })
    expect(await decide()).toMatchObject({ kind: 'block', by: hookId })
    giveBack()
  })
})

describe('the cap of stop', () => {
  const times = async (gateway: Running, count: number) => {
    const kinds: string[] = []
    for (let i = 0; i < count; i++)
      kinds.push((await gateway.dispatch('stop', {}, { envelope })).body.decision.kind)
    return kinds
  }
  const databases: [string, () => Promise<GatewayOptions>][] = [
    ['SQLite', async () => ({})],
    [
      'PostgreSQL',
      async () => {
        const database = await freshDatabase()
        onTestFinished(() => database.drop())
        return { database: database.url, env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) } }
      },
    ],
  ]
  test.each(databases)('survives a restart of the gateway on %s', async (_, options) => {
    const home = scratch()
    const given = { home, functions, ...(await options()) }
    const first = await running(given)
    await first.hook(goOn)
    expect(await times(first, 5)).toEqual(Array.from({ length: 5 }, () => 'block'))
    await first.close()
    const second = await running(given)
    expect(await times(second, 4)).toEqual(['block', 'block', 'block', 'allow'])
  })

  test('holds at the door of coding agents, where a question they cannot ask becomes a block', async () => {
    const gateway = await running()
    const source = "function handle() { return { decision: 'ask', reason: 'really?' } }"
    await gateway.hook({ event: 'stop', handler_type: 'script', config: { source } })
    const ask = claude(gateway, scratch())
    const replies: unknown[] = []
    for (let i = 0; i < 9; i++) replies.push(await ask('Stop'))
    expect(JSON.stringify(replies[7])).toContain('block')
    expect(replies[8]).toEqual(quiet)
  })
})
