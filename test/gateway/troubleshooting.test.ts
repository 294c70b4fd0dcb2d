import { expect, onTestFinished, test } from 'vitest'
import { badReceiver, fakeClock, startFakeDns } from '../../src/testing/index.ts'
import { socketOf } from './doors.fixture.ts'
import { decides, exec, judge, modelFor } from './judge.fixture.ts'
import { type Running, running } from './running.fixture.ts'

// The table of the same name in the seed: each symptom is made to happen, and mended as its line says.

const inside = { outbound: { allow: ['127.0.0.1'] } }

const decide = async (gateway: Running, cmd = 'ls', envelope: object = {}) =>
  (await gateway.dispatch('pre_tool_use', exec(cmd), { envelope })).body.decision

test('GC-52 "HTTP hook always returns error": an address of the gateway process is refused, an allowed inner one works', async () => {
  const receiver = await badReceiver()
  const dns = await startFakeDns({ 'safety.internal': [['127.0.0.1']] })
  onTestFinished(async () => {
    await receiver.close()
    await dns.close()
  })
  const gateway = await running({ outbound: { allow: ['safety.internal'], dns: [dns.server] } })
  const webhook = { event: 'pre_tool_use', handler_type: 'http', config: { url: `${receiver.origin}/allow` } }
  const hookId = await gateway.hook(webhook)
  for (const cmd of ['ls', 'cat'])
    expect(await decide(gateway, cmd)).toMatchObject({ kind: 'block', code: 'outbound.private_address' })
  expect(receiver.connections()).toBe(0)
  expect(gateway.logged).toContainEqual({
    name: 'security.hook.ssrf_block',
    fields: { url: `${receiver.origin}/allow`, reason: 'blocked_ip' },
  })
  const url = `http://safety.internal:${receiver.port}/allow`
  const { status } = await gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates: { config: { url } } })
  expect(status).toBe(200)
  expect(await decide(gateway)).toEqual({ kind: 'allow' })
  expect(receiver.received).toHaveLength(1)
})

test('GC-71 "Prompt hook blocks everything": free text is no decision, a short imperative template gets one', async () => {
  const gateway = await running(inside)
  const model = await modelFor(gateway, ({ system }) =>
    system.includes('Call decide.') ? decides('allow') : { text: 'This looks quite safe to me.' },
  )
  const wordy = {
    prompt_template: 'Please tell me what you think about the safety of it all.',
    model: 'haiku',
  }
  const hookId = await gateway.hook({ ...judge, config: wordy })
  expect(await decide(gateway)).toMatchObject({ kind: 'block', code: 'prompt.parse' })
  expect(gateway.logged).toContainEqual({
    name: 'security.hook.prompt_parse_error',
    fields: expect.objectContaining({ hook: hookId, event: 'pre_tool_use' }),
  })
  const config = { prompt_template: 'Refuse deletions. Call decide.', model: 'haiku' }
  await gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates: { config } })
  expect(await decide(gateway)).toMatchObject({ kind: 'allow' })
  expect(model.requests).toHaveLength(2)
})

test('GC-40 GC-42 4.8 #115 "Hook stopped firing": five blocks trip it where blocks count, hooks.toggle re-enables it', async () => {
  const receiver = await badReceiver()
  onTestFinished(() => receiver.close())
  const gateway = await running({ ...inside, settings: { breaker: { counts: ['block', 'timeout'] } } })
  const hookId = await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'http',
    config: { url: `${receiver.origin}/block` },
  })
  for (let index = 0; index < 5; index++) expect((await decide(gateway)).by).toBe(hookId)
  await gateway.until(
    () => gateway.call('GET', `/v1/hooks/${hookId}`),
    ({ body }) => body.hook.disabled_reason === 'breaker',
  )
  expect(await decide(gateway)).toMatchObject({ kind: 'block', code: 'guard.breaker' })
  expect(receiver.received).toHaveLength(5)
  await gateway.call('PATCH', `/v1/hooks/${hookId}`, {
    updates: { config: { url: `${receiver.origin}/allow` } },
  })
  expect(await decide(gateway)).toMatchObject({ kind: 'block', code: 'guard.breaker' })
  const socket = await socketOf(gateway)
  const toggled = await socket.call('hooks.toggle', { hookId, enabled: true })
  expect(toggled).toMatchObject({ ok: true, payload: { hookId, enabled: true } })
  expect(await decide(gateway)).toEqual({ kind: 'allow' })
  expect(receiver.received).toHaveLength(6)
})

test('GC-17 "UI command radio greyed out": Standard refuses commands, http and prompt are there, Lite has them', async () => {
  const standard = await running({ ...inside, edition: 'standard' })
  const command = {
    event: 'pre_tool_use',
    handler_type: 'command',
    scope: 'tenant',
    config: { command: 'cat' },
  }
  const refused = await standard.call('POST', '/v1/hooks', command)
  expect(refused).toMatchObject({
    status: 400,
    body: {
      error: {
        message: 'command-type hooks are only available on Lite edition',
        details: { code: 'handler.not_in_edition', at: 'handler_type' },
      },
    },
  })
  expect((await standard.call('GET', '/v1/status')).body.edition).toBe('standard')
  await standard.hook({ ...command, handler_type: 'http', config: { url: 'https://example.com/hook' } })
  await standard.hook(judge)
  const lite = await running()
  await lite.hook(command)
  expect(await decide(lite)).toEqual({ kind: 'allow' })
})

test('GC-65 "Per-turn cap hit": a higher max_invocations_per_turn or a tighter matcher lets the turn go on', async () => {
  const gateway = await running(inside)
  const model = await modelFor(gateway, [decides('allow')])
  const config = { ...judge.config, max_invocations_per_turn: 2 }
  const hookId = await gateway.hook({ ...judge, matcher: '.', config })
  const at = (cmd: string, turn: string) => decide(gateway, cmd, { session: 's', turn })
  expect((await at('1', 't1')).kind).toBe('allow')
  expect((await at('2', 't1')).kind).toBe('allow')
  expect(await at('3', 't1')).toMatchObject({ kind: 'block', code: 'guard.quota' })
  expect((await at('3', 't2')).kind).toBe('allow')
  const update = (updates: object) => gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates })
  await update({ config: { ...config, max_invocations_per_turn: 3 } })
  expect((await at('3', 't1')).kind).toBe('allow')
  expect(await at('4', 't1')).toMatchObject({ kind: 'block', code: 'guard.quota' })
  await update({ matcher: '^write_file$' })
  expect(await at('4', 't1')).toEqual({ kind: 'allow' })
  expect(model.requests).toHaveLength(4)
})

test('GC-75 GC-76 "Budget exceeded": a higher budget_total or the next month lets it judge again', async () => {
  const clock = fakeClock(Date.UTC(2026, 0, 30))
  const gateway = await running({ ...inside, clock, settings: { monthly_tokens: 100 } })
  const model = await modelFor(gateway, [decides('allow')])
  await gateway.hook(judge)
  const budget = async () => (await gateway.call('GET', '/v1/budget')).body.budget
  expect(await budget()).toMatchObject({ budget_total: 100, remaining: 100, month_start: Date.UTC(2026, 0) })
  expect((await decide(gateway, '1')).kind).toBe('allow')
  expect(await budget()).toMatchObject({ remaining: -20 })
  expect(await decide(gateway, '2')).toMatchObject({ kind: 'block', code: 'prompt.budget' })
  const raised = await gateway.call('PUT', '/v1/budget', { total: 200 })
  expect(raised.body.budget).toMatchObject({ budget_total: 200, remaining: 80 })
  expect((await decide(gateway, '2')).kind).toBe('allow')
  expect(await decide(gateway, '3')).toMatchObject({ kind: 'block', code: 'prompt.budget' })
  clock.stall(3 * 86_400_000)
  expect((await decide(gateway, '3')).kind).toBe('allow')
  expect(await budget()).toMatchObject({
    budget_total: 200,
    remaining: 80,
    month_start: Date.UTC(2026, 1),
  })
  expect(model.requests).toHaveLength(3)
})

test('GC-111 "handler_type, event, and scope are required": without one of them it is refused, with all three it is made', async () => {
  const gateway = await running()
  const socket = await socketOf(gateway)
  const config = { url: 'https://example.com/hook' }
  const all = { event: 'pre_tool_use', handler_type: 'http', scope: 'tenant' }
  for (const missing of Object.keys(all)) {
    const given = Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing))
    expect(await socket.call('hooks.create', { ...given, config })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_REQUEST', message: 'handler_type, event, and scope are required' },
    })
  }
  expect(await socket.call('hooks.create', { ...all, config })).toMatchObject({ ok: true })
})
