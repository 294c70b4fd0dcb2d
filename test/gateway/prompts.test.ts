import { expect, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { as, tokenFor } from './doors.fixture.ts'
import { decides, exec, judge, modelFor } from './judge.fixture.ts'
import { running } from './running.fixture.ts'

const inside = { outbound: { allow: ['127.0.0.1'] } }

test('GC-66 a decision is kept for 60 s, and a new version of the hook forgets it', async () => {
  const clock = fakeClock()
  const gateway = await running({ ...inside, clock })
  const model = await modelFor(gateway, [decides('allow'), decides('block'), decides('allow')])
  const hookId = await gateway.hook(judge)
  const kind = async () => (await gateway.dispatch('pre_tool_use', exec('ls'))).body.decision.kind
  expect([await kind(), await kind()]).toEqual(['allow', 'allow'])
  expect(model.requests).toHaveLength(1)
  await gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates: { name: 'another version' } })
  expect([await kind(), await kind()]).toEqual(['block', 'block'])
  expect(model.requests).toHaveLength(2)
  clock.stall(59_000)
  expect(await kind()).toBe('block')
  clock.stall(1_001)
  expect(await kind()).toBe('allow')
  expect(model.requests).toHaveLength(3)
})

test('GC-75 what the model used is taken from the tenant, once for what comes from the cache', async () => {
  const gateway = await running(inside)
  await modelFor(gateway, [{ ...decides('allow'), usage: { input: 1_000, output: 234 } }])
  await gateway.hook(judge)
  for (let index = 0; index < 3; index++) await gateway.dispatch('pre_tool_use', exec('ls'))
  const { body } = await gateway.call('GET', '/v1/budget')
  expect(body.budget).toMatchObject({ budget_total: 1_000_000, remaining: 1_000_000 - 1_234 })
  const status = await gateway.call('GET', '/v1/status')
  expect(status.body.budget).toEqual(body.budget)
})

test('GC-14 GC-68 GC-69 the evaluator gets the template as its instruction and only the tool input', async () => {
  const gateway = await running(inside)
  const model = await modelFor(gateway, [decides('block', 'it deletes')])
  const refused = await gateway.call('POST', '/v1/hooks', { ...judge, matcher: '' })
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { details: { code: 'config.prompt_needs_matcher' } } },
  })
  await gateway.hook(judge)
  const raw = { message: 'words of the user' }
  const { body } = await gateway.dispatch('pre_tool_use', exec('rm -rf /'), { envelope: { raw } })
  expect(body.decision).toMatchObject({ kind: 'block', reason: 'it deletes' })
  const [request] = model.requests
  expect(request?.system).toContain('Evaluate safety of this tool call.')
  expect(request?.user).toContain('rm -rf /')
  expect(request?.text).not.toContain('words of the user')
  expect(request?.headers['x-api-key']).toBe('key-of-the-tenant')
  expect(
    (await gateway.dispatch('pre_tool_use', { tool_name: 'read', tool_input: {} })).body.decision,
  ).toEqual({
    kind: 'allow',
  })
  expect(model.requests).toHaveLength(1)
})

test('GC-73 a provider that fails closes the gate, and one that is slow is a timeout', async () => {
  const gateway = await running(inside)
  await modelFor(gateway, ({ user }) => (user.includes('hang') ? { hang: true } : { status: 500 }))
  await gateway.hook({ ...judge, timeout_ms: 3_000 })
  const decide = async (cmd: string) => (await gateway.dispatch('pre_tool_use', exec(cmd))).body.decision
  expect(await decide('ls')).toMatchObject({ kind: 'block', code: 'prompt.provider' })
  const { body } = await gateway.call('GET', '/v1/hooks?scope=tenant')
  await gateway.call('PATCH', `/v1/hooks/${body.hooks[0].id}`, { updates: { timeout_ms: 100 } })
  expect(await decide('hang')).toMatchObject({ kind: 'block', code: 'prompt.timeout' })
})

test('tenants have a budget and a provider of their own', async () => {
  const gateway = await running({ ...inside, edition: 'standard' })
  await gateway.call('POST', '/v1/tenants', { name: 'other' })
  const { token } = await tokenFor(gateway, { role: 'admin' }, 'other')
  const [mine, theirs] = [
    await modelFor(gateway, [decides('allow')]),
    await modelFor(gateway, [decides('block')], as(token)),
  ]
  await gateway.hook({ ...judge, scope: 'global' })
  const event = { event: 'pre_tool_use', payload: exec('ls') }
  const own = await gateway.call('POST', '/v1/dispatch', event)
  const other = await gateway.call('POST', '/v1/dispatch', event, as(token))
  expect([own.body.decision.kind, other.body.decision.kind]).toEqual(['allow', 'block'])
  expect([mine.requests.length, theirs.requests.length]).toEqual([1, 1])
  const left = async (headers = {}) =>
    (await gateway.call('GET', '/v1/budget', undefined, headers)).body.budget.remaining
  expect([await left(), await left(as(token))]).toEqual([999_880, 999_880])
})

test('a provider that is changed is asked from the next event on', async () => {
  const gateway = await running(inside)
  const first = await modelFor(gateway, [decides('allow')])
  await gateway.hook(judge)
  await gateway.dispatch('pre_tool_use', exec('1'))
  const second = await modelFor(gateway, [decides('block')])
  const { body } = await gateway.dispatch('pre_tool_use', exec('2'))
  expect(body.decision.kind).toBe('block')
  expect([first.requests.length, second.requests.length]).toEqual([1, 1])
})
