import { expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { as, tokenFor, withoutTables } from './doors.fixture.ts'
import { decides, exec, judge, modelFor } from './judge.fixture.ts'
import { type Running, running } from './running.fixture.ts'

const inside = { outbound: { allow: ['127.0.0.1'] } }
const functions = { pass: () => undefined, never: () => new Promise(() => {}) }
const hook = { event: 'pre_tool_use', handler_type: 'function', config: { name: 'pass' } }
const names = ({ logged }: Running) => logged.map(({ name }) => name)

test('GC-25 hooks that cannot be loaded close a gate, refuse an observe event, and are told', async () => {
  const gateway = await running({ edition: 'standard', functions })
  await gateway.call('POST', '/v1/tenants', { name: 'fresh' })
  const { token } = await tokenFor(gateway, { role: 'agent' }, 'fresh')
  const send = (event: string, payload: unknown) =>
    gateway.call('POST', '/v1/dispatch', { event, payload }, as(token))
  const giveBack = withoutTables(gateway, 'agent_hooks')
  expect((await send('pre_tool_use', exec('ls'))).body.decision).toMatchObject({
    kind: 'block',
    code: 'store.unavailable',
  })
  expect(names(gateway)).toContain('security.hook.resolve_error')
  expect(await send('session_end', {})).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE', retryable: true } },
  })
  giveBack()
  expect((await send('pre_tool_use', exec('ls'))).body.decision).toEqual({ kind: 'allow' })
})

test('GC-98 4.9 #123 a record that cannot be written changes no decision, is told, and is written later', async () => {
  const gateway = await running({ functions })
  await gateway.hook(hook)
  const giveBack = withoutTables(gateway, 'audit_journal')
  const { body } = await gateway.dispatch('pre_tool_use', exec('ls'))
  expect(body.decision).toEqual({ kind: 'allow' })
  await gateway.until(
    async () => names(gateway),
    (all) => all.includes('security.hook.audit_write_failed'),
  )
  const status = await gateway.call('GET', '/v1/status')
  expect(status.body).toMatchObject({ ready: false })
  expect(status.body.lines).toContainEqual(expect.objectContaining({ name: 'audit', state: 'bad' }))
  giveBack()
  await gateway.until(
    () => gateway.call('GET', `/v1/executions?eventId=${body.event_id}`),
    (answer) => answer.body.executions?.length === 1,
  )
})

test('GC-98 4.9 #123 with audit strict a gate that cannot be recorded is closed', async () => {
  const gateway = await running({ functions, settings: { audit: 'strict' } })
  await gateway.hook(hook)
  const decide = async () => (await gateway.dispatch('pre_tool_use', exec('ls'))).body
  const kept = await decide()
  expect(kept.decision).toEqual({ kind: 'allow' })
  const rows = await gateway.call('GET', `/v1/executions?eventId=${kept.event_id}`)
  expect(rows.body.executions).toHaveLength(1)
  const giveBack = withoutTables(gateway, 'audit_journal')
  expect((await decide()).decision).toMatchObject({ kind: 'block', code: 'store.unavailable' })
  giveBack()
  await gateway.until(decide, ({ decision }) => decision.kind === 'allow')
})

test('GC-77 a budget that nobody can read closes the gate: budget_precheck_failed', async () => {
  const gateway = await running(inside)
  const model = await modelFor(gateway, [decides('allow')])
  await gateway.hook(judge)
  const giveBack = withoutTables(gateway, 'tenant_hook_budget')
  const { body } = await gateway.dispatch('pre_tool_use', exec('ls'))
  expect(body.decision).toMatchObject({ kind: 'block', code: 'prompt.budget' })
  expect(names(gateway)).toContain('security.hook.budget_precheck_failed')
  expect(model.requests).toEqual([])
  giveBack()
})

test('GC-77 tokens that cannot be taken leave the decision as it is and are owed: budget_deduct_failed', async () => {
  const gateway = await running(inside)
  let giveBack = () => {}
  await modelFor(gateway, ({ user }) => {
    // The store fails while the model thinks.
    if (user.includes('first')) giveBack = withoutTables(gateway, 'tenant_hook_budget')
    return decides('allow')
  })
  await gateway.hook(judge)
  const first = await gateway.dispatch('pre_tool_use', exec('first'))
  expect(first.body.decision.kind).toBe('allow')
  expect(gateway.logged).toContainEqual({
    name: 'security.hook.budget_deduct_failed',
    fields: expect.objectContaining({ tenant: gateway.defaultTenant, tokens: 120 }),
  })
  giveBack()
  await gateway.dispatch('pre_tool_use', exec('second'))
  const { body } = await gateway.call('GET', '/v1/budget')
  expect(body.budget.remaining).toBe(1_000_000 - 240)
})

test('GC-30 a chain that used up its ten seconds is closed, even when each hook allows its timeout', async () => {
  const clock = fakeClock()
  const gateway = await running({ clock, functions })
  for (let index = 0; index < 3; index++)
    await gateway.hook({ ...hook, config: { name: 'never' }, on_timeout: 'allow' })
  let decision: unknown
  const asked = gateway.dispatch('pre_tool_use', exec('ls')).then(({ body }) => {
    decision = body.decision
  })
  const began = clock.elapsed()
  await gateway.until(
    async () => {
      await clock.advance(100)
      return decision
    },
    (found) => found !== undefined,
  )
  await asked
  expect(decision).toMatchObject({ kind: 'block', code: 'engine.budget' })
  expect(clock.elapsed() - began).toBeGreaterThanOrEqual(10_000)
})

test('4.8 #116 four failures and a good answer do not trip, nor do five within 61 s', async () => {
  const clock = fakeClock()
  let isBroken = true
  const gateway = await running({
    clock,
    functions: {
      shaky: () => {
        if (isBroken) throw new Error('down')
      },
    },
  })
  const hookId = await gateway.hook({ ...hook, config: { name: 'shaky' } })
  const fail = async (times: number) => {
    for (let index = 0; index < times; index++) await gateway.dispatch('pre_tool_use', exec('ls'))
  }
  const isOn = async () => (await gateway.call('GET', `/v1/hooks/${hookId}`)).body.hook.enabled
  await fail(4)
  isBroken = false
  await fail(1)
  isBroken = true
  await fail(4)
  expect(await isOn()).toBe(true)
  clock.stall(61_000)
  await fail(4)
  expect(await isOn()).toBe(true)
  await fail(1)
  await gateway.until(isOn, (on) => on === false)
  expect(names(gateway)).toContain('security.hook.circuit_breaker')
})
